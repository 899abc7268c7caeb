package analyze

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/tools-in-shell/tis/approvals"
	"github.com/tools-in-shell/tis/catalog"
)

// CheckedAtRunTime is the risk of a call that cannot be judged before it runs.
const CheckedAtRunTime approvals.Risk = "checked_at_run_time"

// Plan is what a script would call.
type Plan struct {
	Calls []PlanCall `json:"calls"`
	// Complete is false when the script may call more: it has command words,
	// texts or files that are not known, or commands that hide others.
	Complete bool `json:"complete"`
}

// PlanCall is one place in the script that calls a tool; a loop around it
// multiplies nothing.
type PlanCall struct {
	// Tool is the tool as it is typed: "tools github delete-branch".
	Tool string `json:"tool"`
	// Input is null when it is not known before the run.
	Input json.RawMessage `json:"input"`
	// Risk is one of read_only, changes, needs_approval, blocked and
	// checked_at_run_time.
	Risk  approvals.Risk `json:"risk"`
	Where Where          `json:"where"`
	Line  int            `json:"line"`
}

// Plan lists what the script would call. preview judges the visible calls, all
// at once and in source order; it asks nobody. Its error is returned as it is.
func (s *Script) Plan(c *catalog.Catalog, preview func([]catalog.Call) ([]approvals.Verdict, error)) (Plan, error) {
	found := s.findings()
	plan := Plan{Calls: []PlanCall{}, Complete: found.complete && !found.tools}
	var calls []catalog.Call
	var judged []int // places in plan.Calls of calls
	for _, cmd := range found.commands {
		entry := PlanCall{Risk: CheckedAtRunTime, Where: cmd.where, Line: cmd.line}
		if cmd.literal {
			v, ok := resolve(c, cmd)
			if !ok {
				continue
			}
			if v.Call != nil {
				entry.Tool, entry.Input = v.Call.Tool.Command(), v.Call.Input
				calls, judged = append(calls, *v.Call), append(judged, len(plan.Calls))
				plan.Calls = append(plan.Calls, entry)
				continue
			}
		}
		name, ok := toolName(c, cmd)
		if !ok {
			plan.Complete = false
			continue
		}
		if name != "" {
			entry.Tool = name
			plan.Calls = append(plan.Calls, entry)
		}
	}
	if len(calls) == 0 {
		return plan, nil
	}
	verdicts, err := preview(calls)
	if err != nil {
		return Plan{}, err
	}
	if len(verdicts) != len(calls) {
		return Plan{}, fmt.Errorf("the preview of %d calls gave %d verdicts", len(calls), len(verdicts))
	}
	for i, v := range verdicts {
		plan.Calls[judged[i]].Risk = v.Risk
	}
	return plan, nil
}

// toolName is the tool that a command names whose input is not known. It is
// empty for what is no call. ok is false when not even the tool is known.
func toolName(c *catalog.Catalog, cmd command) (name string, ok bool) {
	args := slices.DeleteFunc(slices.Clone(cmd.args), func(a string) bool { return a == "--" }) // skipped anywhere
	if len(args) == 0 {
		return "", cmd.known // tools alone prints help
	}
	// The first two words decide: "server tool", or "tool" and a part of its input.
	first := args[:min(2, len(args))]
	for n := len(first); n > 0; n-- {
		req, needs, err := c.ResolveLiteral(first[:n])
		switch {
		case needs != "" && len(first) < 2:
			return "", cmd.known
		case needs != "":
			return "tools " + catalog.Shown(needs) + " " + strings.ToLower(catalog.Shown(first[1])), true
		case err == nil && req.Call != nil:
			return req.Call.Tool.Command(), true
		case err == nil && n == len(first) && (cmd.known || n == 2 || req.Plan):
			return "", true
		}
	}
	if len(first) < 2 && !cmd.known {
		return "", slices.Contains([]string{"search", "plan", "help", "--help", "-h"}, first[0])
	}
	return "tools " + strings.Join(first, " "), true
}
