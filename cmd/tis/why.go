package main

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/tools-in-shell/tis/approvals"
)

// whyCommand is `tis approvals why`.
type whyCommand struct {
	configFlag
	storeFlags
	JSON    bool     `name:"json" help:"Print JSON."`
	Catalog []string `placeholder:"FILE" help:"Catalog file to use in place of the config's servers; no answer counts then."`
	Tool    string   `arg:"" placeholder:"TOOL" help:"The tool as it is typed in a script, in one argument: 'tools github delete-branch'."`
	Input   []string `arg:"" optional:"" placeholder:"INPUT" passthrough:"" help:"The input: JSON, key=value, --key value."`
}

func (c *whyCommand) Run(ctx context.Context, p *program) error {
	words := strings.Fields(c.Tool)
	if len(words) > 0 && words[0] == "tools" {
		words = words[1:]
	}
	cat, gate, done, err := (&planCommand{configFlag: c.configFlag, storeFlags: c.storeFlags, Catalog: c.Catalog}).open(ctx, p)
	if err != nil {
		return err
	}
	defer done()
	if t := cat.Tool(c.Tool); t != nil { // its registry name
		words = strings.Fields(t.Command())[1:]
	}
	req, fault := cat.Resolve(ctx, append(words, c.Input...), nil, nil)
	switch {
	case fault != nil:
		return usagef("%s: %s", c.Tool, fault.Message)
	case req.Call == nil:
		return usagef("%s: this is no call of a tool; want a tool and its input, as in tis approvals why 'tools github delete-branch' '{\"branch\":\"x\"}'", c.Tool)
	}
	if fault := req.Call.Tool.Check(req.Call.Input); fault != nil {
		return usagef("nobody is asked about this call, it fails first: %s", fault.Message)
	}
	e, err := gate.Explain(ctx, c.Session, *req.Call)
	if err != nil {
		return err
	}
	if c.JSON {
		return writeJSON(p.stdout, e)
	}
	explain(p.stdout, e)
	return nil
}

// explain prints an explanation for a person.
func explain(w io.Writer, e approvals.Explanation) {
	fmt.Fprintf(w, "%s %s\n", visible(e.Tool), clip(visible(string(e.Input)), 500))
	line := func(name, format string, args ...any) {
		fmt.Fprintf(w, "  %-12s"+format+"\n", append([]any{name}, args...)...)
	}
	line("outcome", "%s", map[string]string{"run": "it runs, nobody is asked", "ask": "a person is asked", "deny": "it is denied"}[e.Outcome])
	because := e.Why
	if e.Message != "" {
		because += ": " + e.Message
	}
	line("because", "%s", visible(because))
	if e.Why != e.Judged.Why {
		line("else", "%s, because: %s", e.Judged.Outcome, visible(e.Judged.Why))
	}
	line("mode", "%s", e.Mode)
	if e.Rule == nil {
		line("rule", "none matches")
	} else {
		when := ""
		if e.Rule.When != "" {
			when = " when " + e.Rule.When
		}
		line("rule", "%s%s: %s", visible(e.Rule.Tool), clip(visible(when), 200), e.Rule.Decision)
	}
	line("hints", "%s", hints(e))
	line("answers", "%s", answers(e))
	for _, r := range e.Open {
		line("waits", "request %s, until %s", r.ID, r.ExpiresAt.Local().Format(time.DateTime))
	}
	if len(e.Changed) > 0 {
		line("changed", "the tool is not the one that was allowed in this session before")
		for _, l := range e.Changed {
			fmt.Fprintf(w, "    %s\n", l)
		}
	}
}

// hints names what the tool and its owner declare.
func hints(e approvals.Explanation) string {
	var out []string
	declared := func(name string, b *bool) {
		if b != nil {
			out = append(out, fmt.Sprintf("%s %v", name, *b))
		}
	}
	declared("read-only", e.Hints.ReadOnly)
	declared("destructive", e.Hints.Destructive)
	declared("open-world", e.Hints.OpenWorld)
	declared("idempotent", e.Hints.Idempotent)
	if e.RequiresApproval {
		out = append(out, "its owner requires approval")
	}
	if len(out) == 0 {
		return "none declared"
	}
	return strings.Join(out, ", ")
}

// answers names the answers that bear on the call.
func answers(e approvals.Explanation) string {
	var out []string
	if e.Answers.Always != "" {
		out = append(out, fmt.Sprintf("%s by %s", e.Answers.Always, visible(e.Answers.Who)))
	}
	for _, d := range e.Answers.OneOff {
		out = append(out, "an unused "+string(d))
	}
	if len(out) == 0 {
		out = append(out, "none")
	}
	return strings.Join(out, ", ") + " in session " + visible(e.Session)
}
