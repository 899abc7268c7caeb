package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/tools-in-shell/tis/analyze"
	"github.com/tools-in-shell/tis/analyze/lint"
	"github.com/tools-in-shell/tis/approvals"
	"github.com/tools-in-shell/tis/catalog"
	"github.com/tools-in-shell/tis/report"
)

// hookCommand is the pre-run hook of agent programs that are not written in Go.
//
// Two events are known. {"script","session"} is answered with the plan, whether
// the script may start, and the held result when it may not. Claude Code's
// PreToolUse event of its Bash tool is answered with a permission decision: ask
// when a call needs an answer or cannot be judged, deny when a rule denies one,
// and nothing at all when there is nothing to say. It never allows: a script has
// other commands beside its tool calls, and these are the host's to judge.
type hookCommand struct {
	policyFlags
	Timeout time.Duration `default:"900ms" help:"How long to take at most; after that the answer is ask."`
}

// event is what either program sends.
type event struct {
	Script  *string `json:"script"`
	Session string  `json:"session"`

	HookEventName string `json:"hook_event_name"`
	ToolName      string `json:"tool_name"`
	ToolInput     struct {
		Command string `json:"command"`
	} `json:"tool_input"`
}

// maxEvent is the size of the largest event, in bytes.
const maxEvent = 8 << 20

// opinion is what the hook thinks of a script.
type opinion struct {
	decision string // allow, ask, deny; empty for none
	why      string
	plan     *analyze.Plan
	held     *catalog.Call
	asks     []string
}

func (c *hookCommand) Run(ctx context.Context, p *program) error {
	ctx, cancel := context.WithTimeout(ctx, c.Timeout)
	defer cancel()
	type answer struct {
		event *event
		opinion
	}
	done := make(chan answer, 1)
	go func() {
		var a answer
		defer func() {
			if r := recover(); r != nil {
				a.opinion = opinion{decision: "ask", why: fmt.Sprintf("tis-lint failed inside: %v", r)}
			}
			done <- a
		}()
		e, err := readEvent(p.stdin)
		if a.event = e; err != nil {
			a.opinion = opinion{decision: "ask", why: err.Error()}
			return
		}
		a.opinion = c.judge(ctx, p, e)
	}()
	select {
	case a := <-done:
		return reply(p.stdout, a.event, a.opinion)
	case <-ctx.Done():
		return reply(p.stdout, nil, opinion{decision: "ask", why: fmt.Sprintf("tis-lint could not judge the script in %v", c.Timeout)})
	}
}

func readEvent(in io.Reader) (*event, error) {
	raw, err := io.ReadAll(io.LimitReader(in, maxEvent+1))
	if err != nil {
		return nil, fmt.Errorf("the event cannot be read: %w", err)
	}
	if len(raw) > maxEvent {
		return nil, fmt.Errorf("the event is larger than %d MiB", maxEvent>>20)
	}
	var e event
	if err := json.Unmarshal(raw, &e); err != nil {
		return nil, fmt.Errorf("the event is no JSON object of a known form: %w", err)
	}
	if e.Script == nil && e.HookEventName == "" {
		return nil, errors.New(`the event is of no known form; want {"script","session"}, or a PreToolUse event`)
	}
	return &e, nil
}

// judge never asks anybody and waits for nothing.
func (c *hookCommand) judge(ctx context.Context, p *program, e *event) opinion {
	text := e.ToolInput.Command
	if e.Script != nil {
		text = *e.Script
	} else if e.HookEventName != "PreToolUse" || e.ToolName != "Bash" {
		return opinion{}
	}
	unsure := func(format string, args ...any) opinion {
		return opinion{decision: "ask", why: catalog.OneLine(fmt.Sprintf(format, args...))}
	}
	script, err := analyze.Parse(text, "script")
	if err != nil {
		if e.Script == nil && !strings.Contains(text, "tools") {
			return opinion{}
		}
		return unsure("the script does not parse: %v", err)
	}
	commands := script.Commands()
	hidden := script.Hidden()
	mention := strings.Contains(text, "tools")
	if e.Script == nil && len(commands) == 0 && !(mention && len(hidden) > 0) && !script.DefinesTools() {
		return opinion{} // a script without tools is not ours to judge
	}
	policy, err := c.load(p)
	if err != nil {
		return unsure("%v", err)
	}
	plan, err := policy.plan(ctx, script)
	if err != nil {
		return unsure("%v", err)
	}
	out := opinion{decision: "allow", plan: &plan}
	if policy.catalog == nil && len(commands) > 0 {
		out.decision, out.why = "ask", "there is no catalog to judge its calls by"
		return out
	}
	findings, err := lint.Check(text, lint.Options{Catalog: policy.catalog, Preview: policy.options(ctx).Preview})
	if err != nil {
		return unsure("%v", err)
	}
	var denied, doubts []string
	for _, v := range script.Visible(policyCatalog(policy)) {
		if v.Call == nil {
			continue
		}
		verdicts, err := policy.gate.Preview(ctx, "tis-lint", []catalog.Call{*v.Call})
		if err != nil {
			return unsure("%v", err)
		}
		switch said := fmt.Sprintf("line %d: %s %s (%s)", v.Line, v.Call.Tool.Command(), cut(string(v.Call.Input)), verdicts[0].Why); verdicts[0].Outcome {
		case approvals.Deny:
			denied = append(denied, said)
		case approvals.Ask:
			if out.held == nil {
				out.held = v.Call
			}
			out.asks = append(out.asks, said)
		}
	}
	for _, f := range findings {
		if f.Rule.Code == "TIS202" {
			doubts = append(doubts, fmt.Sprintf("line %d: %s", f.Start.Line, f.Message))
		}
	}
	for _, call := range plan.Calls {
		if call.Risk == analyze.CheckedAtRunTime {
			doubts = append(doubts, fmt.Sprintf("line %d: %s has an input that is not known before the run", call.Line, call.Tool))
		}
	}
	if !plan.Complete {
		doubts = append(doubts, "the script has commands that may call tools unseen")
	}
	switch {
	case len(denied) > 0:
		out.decision, out.why = "deny", "refused by a rule: "+strings.Join(denied, "; ")
	case len(out.asks) > 0:
		out.decision, out.why = "ask", "needs an answer: "+strings.Join(out.asks, "; ")
	case len(doubts) > 0 && e.Script == nil:
		out.decision, out.why = "ask", "cannot be judged before it runs: "+strings.Join(doubts, "; ")
	}
	return out
}

func policyCatalog(l *policy) *catalog.Catalog {
	if l.catalog != nil {
		return l.catalog
	}
	return catalog.New(nil, nil, catalog.Options{})
}

func cut(s string) string {
	if r := []rune(catalog.Visible(s)); len(r) > 200 {
		return string(r[:199]) + "…"
	}
	return catalog.Visible(s)
}

// reply answers in the form of the event. An event that could not be read is
// answered in Claude Code's, with exit code 0: the host asks its user.
func reply(w io.Writer, e *event, o opinion) error {
	if e != nil && e.Script != nil {
		out := struct {
			Start bool           `json:"start"`
			Why   string         `json:"why,omitempty"`
			Plan  *analyze.Plan  `json:"plan"`
			Held  *report.Result `json:"held,omitempty"`
		}{Start: o.decision == "allow", Why: o.why, Plan: o.plan}
		if o.held != nil {
			run := report.New(report.Limits{})
			run.Stop(report.Stop{Reason: report.NeedsApproval, Call: o.held, BeforeStart: true})
			line := (&catalog.Error{Code: catalog.NeedsApproval, Message: o.held.Tool.Command() + " needs a person's approval, so the script was not started"}).Line()
			held := run.Result(report.Output{}, report.Output{Text: line + "\n", Lines: 1}, 1)
			out.Held = &held
		}
		return writeJSON(w, out)
	}
	if o.decision == "" || o.decision == "allow" {
		return nil // no opinion
	}
	return writeJSON(w, map[string]any{"hookSpecificOutput": map[string]any{
		"hookEventName": "PreToolUse", "permissionDecision": o.decision, "permissionDecisionReason": "tis-lint: " + catalog.OneLine(o.why),
	}})
}
