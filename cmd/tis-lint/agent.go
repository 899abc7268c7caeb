package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"

	"github.com/tools-in-shell/tis/approvals"
	"github.com/tools-in-shell/tis/capability"
	"github.com/tools-in-shell/tis/catalog"
	"github.com/tools-in-shell/tis/config"
)

// agentCommand checks an agent's JSON.
type agentCommand struct {
	Catalog  []string `placeholder:"FILE" help:"Catalog file that the agent's names are looked up in."`
	OrgAdmin bool     `help:"An admin of the organisation assigns the capabilities."`
	JSON     bool     `name:"json" help:"Print JSON."`
	File     string   `arg:"" placeholder:"FILE" help:"The agent: an object with capabilities, and perhaps rules."`
}

// remark is one thing to say about an agent.
type remark struct {
	Code    string `json:"code"`
	Path    string `json:"path"`
	Message string `json:"message"`
}

func (c *agentCommand) Run(ctx context.Context, p *program) error {
	raw, err := os.ReadFile(c.File)
	if err != nil {
		return usagef("%s: %w", c.File, reason(err))
	}
	var agent map[string]json.RawMessage
	if err := json.Unmarshal(raw, &agent); err != nil {
		if _, perr := config.Parse(c.File, raw, p.getenv); perr != nil { // it says where
			return usageError{perr}
		}
		return usagef("%s: %w", c.File, err)
	}
	// Other keys of an agent are not ours.
	ours := map[string]json.RawMessage{}
	for _, key := range []string{"capabilities", "rules"} {
		if v, ok := agent[key]; ok {
			ours[key] = v
		}
	}
	part, err := json.Marshal(ours)
	if err != nil {
		return usageError{err}
	}
	cfg, err := config.Parse(c.File, part, p.getenv)
	if err != nil {
		return usageError{err}
	}
	remarks, err := c.check(ctx, agent["capabilities"], cfg)
	if err != nil {
		return err
	}
	if c.JSON {
		if remarks == nil {
			remarks = []remark{}
		}
		if err := writeJSON(p.stdout, remarks); err != nil {
			return err
		}
	} else {
		for _, r := range remarks {
			fmt.Fprintf(p.stdout, "%s: %s: %s [%s]\n", c.File, r.Path, catalog.Visible(r.Message), r.Code)
		}
	}
	if len(remarks) > 0 {
		return exitError(exitFindings)
	}
	return nil
}

func (c *agentCommand) check(ctx context.Context, raw json.RawMessage, cfg *config.Config) (out []remark, err error) {
	var refs []string
	var list []struct {
		Ref string `json:"ref"`
	}
	if len(raw) > 0 {
		if err := json.Unmarshal(raw, &list); err != nil {
			return nil, usageError{err}
		}
	}
	at := map[string]int{}
	for i, x := range list {
		refs = append(refs, x.Ref)
		at[x.Ref] = i
	}
	path := func(ref string) string { return fmt.Sprintf("$.capabilities[%d]", at[ref]) }
	if _, has := at[capability.ToolsInShell]; has {
		if err := capability.Assign(refs, c.OrgAdmin); err != nil {
			for line := range strings.SplitSeq(err.Error(), "\n") {
				out = append(out, remark{"capabilities.assignment", path(capability.ToolsInShell), line})
			}
		}
	}
	for _, s := range capability.Superseded(refs) {
		out = append(out, remark{s.Code, path(s.Capability), s.Message})
	}
	if len(c.Catalog) == 0 {
		return out, nil
	}
	var servers []catalog.Source
	var top []*catalog.Tool
	for _, name := range c.Catalog {
		s, t, err := readCatalog(name)
		if err != nil {
			return nil, err
		}
		servers, top = append(servers, s...), append(top, t...)
	}
	cat := catalog.New(servers, top, catalog.Options{KeepVisible: cfg.KeepVisible})
	for _, w := range cat.Warnings() {
		if strings.HasPrefix(w, "keep_visible") {
			out = append(out, remark{"capabilities.keep_visible", path(capability.ToolsInShell) + ".config.keep_visible", w})
		}
	}
	idle, err := idleRules(ctx, cfg.Rules, cat)
	return append(out, idle...), err
}

// idleRules are the rules that can never decide: no tool fits them, or an
// earlier rule without a condition takes every tool that does.
func idleRules(ctx context.Context, rules []approvals.Rule, cat *catalog.Catalog) (out []remark, err error) {
	var tools []*catalog.Tool
	for _, s := range cat.Servers() {
		tools = append(tools, s.Tools...)
	}
	tools = append(append(tools, cat.Top()...), cat.Direct()...)
	taken := map[*catalog.Tool]int{}
	for i, rule := range rules {
		bare := approvals.Rule{Tool: rule.Tool, Decision: "deny"}
		compiled, err := approvals.CompileRules([]approvals.Rule{bare})
		if err != nil {
			return nil, usagef("$.rules[%d]: %w", i, err)
		}
		gate := approvals.NewGate(approvals.NewMemory(), approvals.Config{Mode: approvals.Off, Rules: compiled})
		fits, free, by := 0, 0, 0
		for _, t := range tools {
			v, err := gate.Preview(ctx, "tis-lint", []catalog.Call{{Tool: t, Input: []byte("{}")}})
			if err != nil {
				return nil, err
			}
			if v[0].Outcome != approvals.Deny {
				continue
			}
			fits++
			if n, ok := taken[t]; ok {
				by = n
				continue
			}
			free++
			if rule.When == "" {
				taken[t] = i
			}
		}
		path := fmt.Sprintf("$.rules[%d]", i)
		switch {
		case fits == 0:
			out = append(out, remark{"rules.no_tool", path, fmt.Sprintf("no tool of the catalog is called %q, so the rule never decides", rule.Tool)})
		case free == 0:
			out = append(out, remark{"rules.never_reached", path, fmt.Sprintf("$.rules[%d] has no condition and takes every tool that this one fits, so it never decides", by)})
		}
	}
	return out, nil
}
