package config

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/agnivade/levenshtein"

	"github.com/tools-in-shell/tis/approvals"
	"github.com/tools-in-shell/tis/capability"
	"github.com/tools-in-shell/tis/catalog"
)

// Config is a config file, read and checked.
type Config struct {
	Servers     []Server
	Tools       []LocalTool
	KeepVisible []string
	Approval    Approval
	Rules       []approvals.Rule
	Store       string // DSN; empty for the default
	Limits      Limits
	Sandbox     string // required, best_effort or off
	Lint        Lint
	Superseded  []capability.Suggestion
	Warnings    []string
}

// Lint is what the linter is told. Its codes are the linter's to check.
type Lint struct {
	// Disable lists the codes of rules that are off.
	Disable []string `json:"disable"`
	// Severity gives rules another severity than their own: info, warning, error.
	Severity map[string]string `json:"severity"`
}

// Approval is the config of tool_approval.
type Approval struct {
	Mode    approvals.Mode
	Timeout time.Duration
}

// Server is one MCP server. Err is why it cannot be used, such as a missing
// environment variable; the other servers can.
type Server struct {
	Name         string
	Command      string
	Args         []string
	Env          map[string]string
	Dir          string
	URL          string
	Headers      map[string]string
	OAuth        OAuth
	Roots        []string // folders that the server may ask for; nil: none
	OnDemand     bool
	Description  string
	StartTimeout time.Duration
	CallTimeout  time.Duration
	Err          string
}

// OAuth is how to sign in to a remote server. Without a client ID, tis registers
// itself.
type OAuth struct {
	ClientID     string
	ClientSecret string
	Scopes       []string // nil: those that the server names
	CallbackPort int
}

// LocalTool is a tool that is a program of this machine.
type LocalTool struct {
	Tool    *catalog.Tool
	Command []string
}

// Limits of a run; zero is the default.
type Limits struct {
	Calls          int   `json:"calls"`
	OutputBytes    int   `json:"output_bytes"`
	ResultBytes    int64 `json:"result_bytes"`
	TimeoutSeconds int   `json:"timeout_seconds"`
}

// maxSeconds is the longest time limit.
const maxSeconds = 7 * 24 * 60 * 60

// Load reads the file at path. getenv gives the values of ${VAR} references.
func Load(path string, getenv func(string) (string, bool)) (*Config, error) {
	raw, err := os.ReadFile(path)
	if err != nil {
		var pe *fs.PathError
		if errors.As(err, &pe) {
			err = pe.Err
		}
		return nil, fmt.Errorf("config %s: %w", path, err)
	}
	return Parse(path, raw, getenv)
}

// Parse is Load for a text that has been read. Paths in it are relative to the
// folder of the file that it came from.
func Parse(path string, raw []byte, getenv func(string) (string, bool)) (*Config, error) {
	r := &reader{file: path, raw: raw, dir: filepath.Dir(path), getenv: getenv, cfg: &Config{}}
	if err := r.read(); err != nil {
		return nil, err
	}
	return r.cfg, nil
}

// reader carries one file through the steps.
type reader struct {
	file, dir string
	raw       []byte
	getenv    func(string) (string, bool)
	cfg       *Config
}

func (r *reader) read() error {
	root, err := r.object(r.raw, "$", "mcpServers", "servers", "tools", "capabilities", "rules", "store", "limits", "sandbox", "lint", "inputs", "$schema")
	if err != nil {
		return err
	}
	for _, key := range []string{"mcpServers", "servers"} {
		if err := r.servers(root[key], "$."+key); err != nil {
			return err
		}
	}
	if err := r.tools(root["tools"]); err != nil {
		return err
	}
	if err := r.capabilities(root["capabilities"]); err != nil {
		return err
	}
	if err := r.rules(root["rules"]); err != nil {
		return err
	}
	if v := root["lint"]; v != nil {
		if _, err := r.object(v, "$.lint", "disable", "severity"); err != nil {
			return err
		}
		if err := r.decode(v, "$.lint", &r.cfg.Lint); err != nil {
			return err
		}
	}
	if v := root["limits"]; v != nil {
		if _, err := r.object(v, "$.limits", "calls", "output_bytes", "result_bytes", "timeout_seconds"); err != nil {
			return err
		}
		if err := r.decode(v, "$.limits", &r.cfg.Limits); err != nil {
			return err
		}
		switch l := r.cfg.Limits; {
		case l.Calls < 0 || l.OutputBytes < 0 || l.ResultBytes < 0 || l.TimeoutSeconds < 0:
			return r.fault("$.limits", "a limit is below zero; want a positive number, or leave it out for the default")
		case l.TimeoutSeconds > maxSeconds:
			return r.fault("$.limits.timeout_seconds", fmt.Sprintf("it is %d; want at most %d, which is a week", l.TimeoutSeconds, maxSeconds))
		}
	}
	if err := r.decode(root["store"], "$.store", &r.cfg.Store); err != nil {
		return err
	}
	if path, ok := strings.CutPrefix(r.cfg.Store, "sqlite:"); ok && !filepath.IsAbs(path) {
		r.cfg.Store = "sqlite:" + filepath.Join(r.dir, path)
	} else if r.cfg.Store != "" && !ok {
		return r.fault("$.store", fmt.Sprintf("it is %q; want sqlite:PATH", r.cfg.Store))
	}
	if err := r.decode(root["sandbox"], "$.sandbox", &r.cfg.Sandbox); err != nil {
		return err
	}
	if s := r.cfg.Sandbox; !slices.Contains([]string{"", "required", "best_effort", "off"}, s) {
		return r.fault("$.sandbox", fmt.Sprintf("it is %q; want required, best_effort or off", s))
	}
	return nil
}

func (r *reader) tools(raw json.RawMessage) error {
	var list []json.RawMessage
	if err := r.decode(raw, "$.tools", &list); err != nil {
		return err
	}
	for i, item := range list {
		path := fmt.Sprintf("$.tools[%d]", i)
		if _, err := r.object(item, path, "name", "description", "inputSchema", "annotations", "policy", "command"); err != nil {
			return err
		}
		tool, err := catalog.ToolFromMCP("", item)
		if err != nil {
			return r.fault(path, err.Error())
		}
		var extra struct {
			Command []string `json:"command"`
		}
		if err := r.decode(item, path, &extra); err != nil {
			return err
		}
		if len(extra.Command) == 0 || extra.Command[0] == "" {
			return r.fault(path+".command", `it is missing; want a program and its arguments: ["fetcher", "--json"]`)
		}
		for j, word := range extra.Command {
			if extra.Command[j], err = r.expand(word); err != nil {
				return r.fault(fmt.Sprintf("%s.command[%d]", path, j), err.Error())
			}
		}
		r.cfg.Tools = append(r.cfg.Tools, LocalTool{tool, extra.Command})
	}
	return nil
}

func (r *reader) capabilities(raw json.RawMessage) error {
	var list []json.RawMessage
	if err := r.decode(raw, "$.capabilities", &list); err != nil {
		return err
	}
	approval := capability.ApprovalConfig{}
	var refs []string
	known := []string{capability.ToolsInShell, capability.ToolApproval}
	for i, item := range list {
		path := fmt.Sprintf("$.capabilities[%d]", i)
		entry, err := r.object(item, path, "ref", "config")
		if err != nil {
			return err
		}
		var ref string
		if err := r.decode(entry["ref"], path+".ref", &ref); err != nil {
			return err
		}
		if slices.Contains(refs, ref) && slices.Contains(known, ref) {
			return r.fault(path+".ref", fmt.Sprintf("%s is given twice", ref))
		}
		refs = append(refs, ref)
		refPath := path + ".ref"
		path += ".config"
		switch ref {
		case capability.ToolsInShell:
			var c capability.ToolsConfig
			if err := r.section(entry["config"], path, &c, "keep_visible"); err != nil {
				return err
			}
			r.cfg.KeepVisible = c.KeepVisible
		case capability.ToolApproval:
			if err := r.approval(entry["config"], path, &approval); err != nil {
				return err
			}
		case "":
			return r.fault(refPath, "it is missing; want the name of a capability")
		default:
			// Other capabilities are the agent's. But a slip of the pen must not take
			// the approvals' config away.
			for _, name := range known {
				if levenshtein.ComputeDistance(strings.ToLower(ref), name) <= 2 {
					return r.fault(refPath, fmt.Sprintf("tis has no capability %q (did you mean %s?)", ref, name))
				}
			}
		}
	}
	if err := approval.Check(); err != nil { // the defaults
		return r.fault("$.capabilities", err.Error())
	}
	r.cfg.Approval = Approval{approval.Mode, approval.Timeout()}
	r.cfg.Superseded = capability.Superseded(refs)
	for _, s := range r.cfg.Superseded {
		r.cfg.Warnings = append(r.cfg.Warnings, s.Code+": "+s.Message)
	}
	return nil
}

// approval reads the config of tool_approval. What is given has to be right,
// also where its zero value would be taken for the default.
func (r *reader) approval(raw json.RawMessage, path string, into *capability.ApprovalConfig) error {
	if err := r.section(raw, path, into, "mode", "timeout_seconds"); err != nil || raw == nil {
		return err
	}
	given, err := r.object(raw, path, "mode", "timeout_seconds")
	if err != nil {
		return err
	}
	if _, ok := given["mode"]; ok && into.Mode == "" {
		return r.fault(path+".mode", "it is empty; want off, normal or protective")
	}
	if _, ok := given["timeout_seconds"]; ok && into.TimeoutSeconds == 0 {
		return r.fault(path+".timeout_seconds", fmt.Sprintf("it is 0; want %d to %d", capability.MinTimeout, capability.MaxTimeout))
	}
	if err := into.Check(); err != nil {
		return fmt.Errorf("%s: %s.%w", r.file, path, err)
	}
	return nil
}

// section checks and decodes an optional object.
func (r *reader) section(raw json.RawMessage, path string, into any, keys ...string) error {
	if raw == nil {
		return nil
	}
	if _, err := r.object(raw, path, keys...); err != nil {
		return err
	}
	return r.decode(raw, path, into)
}

func (r *reader) rules(raw json.RawMessage) error {
	var list []json.RawMessage
	if err := r.decode(raw, "$.rules", &list); err != nil {
		return err
	}
	for i, item := range list {
		var rule approvals.Rule
		path := fmt.Sprintf("$.rules[%d]", i)
		if err := r.section(item, path, &rule, "tool", "when", "decision", "message", "examples"); err != nil {
			return err
		}
		if err := r.examples(item, path); err != nil {
			return err
		}
		r.cfg.Rules = append(r.cfg.Rules, rule)
	}
	if _, err := approvals.CompileRules(r.cfg.Rules); err != nil {
		return fmt.Errorf("%s: $.%w", r.file, err)
	}
	return nil
}

// examples checks the keys of a rule's examples: with one that is misspelt an
// example would never be tried.
func (r *reader) examples(rule json.RawMessage, path string) error {
	entry, err := r.object(rule, path, "tool", "when", "decision", "message", "examples")
	if err != nil || entry["examples"] == nil {
		return err
	}
	path += ".examples"
	lists, err := r.object(entry["examples"], path, "match", "no_match")
	if err != nil {
		return err
	}
	for _, name := range []string{"match", "no_match"} {
		var calls []json.RawMessage
		if err := r.decode(lists[name], path+"."+name, &calls); err != nil {
			return err
		}
		for i, call := range calls {
			if _, err := r.object(call, fmt.Sprintf("%s.%s[%d]", path, name, i), "tool", "input"); err != nil {
				return err
			}
		}
	}
	return nil
}
