package approvals

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/tools-in-shell/tis/catalog"
)

// How much of an input a question shows, in bytes: of a longer one the beginning
// and the end, so that neither can hide what the other does.
const (
	maxShown = 4000
	tailOf   = 1000
)

// Question is a request as a person is asked about it: the tool, what it says
// of itself, why it asks, and the exact input, a line each. Nothing in it can
// pretend to be something else: every control or invisible character is spelled
// out. t is the tool, nil when it is not known any more.
func (g *Gate) Question(ctx context.Context, r Request, t *catalog.Tool) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n", catalog.Visible(r.Command))
	if t != nil {
		fmt.Fprintf(&b, "  what it does  %s\n", clipped(catalog.Visible(catalog.Sentence(t.Description)), 300))
	}
	fmt.Fprintf(&b, "  why it asks   %s\n", catalog.Visible(g.reason(ctx, r, t)))
	switch changed, err := g.Changed(ctx, r); {
	case err != nil:
		fmt.Fprintf(&b, "  what changed  it cannot be told: %s\n", catalog.Visible(err.Error()))
	case len(changed) > 0:
		fmt.Fprintln(&b, "  what changed  the tool is not the one that was allowed in this session before")
		for _, line := range changed {
			fmt.Fprintf(&b, "    %s\n", line)
		}
	}
	if r.Line > 0 {
		fmt.Fprintf(&b, "  in the script line %d: %s\n", r.Line, clipped(catalog.Visible(strings.TrimSpace(r.Source)), 200))
	}
	fmt.Fprintln(&b, "  exact input")
	var pretty bytes.Buffer
	if json.Indent(&pretty, r.Arguments, "", "  ") != nil {
		pretty.Reset()
		pretty.Write(r.Arguments)
	}
	text := strings.TrimSpace(pretty.String())
	show := func(text string) {
		for line := range strings.SplitSeq(text, "\n") {
			fmt.Fprintf(&b, "    %s\n", catalog.Visible(line))
		}
	}
	if len(text) <= maxShown {
		show(text)
		return b.String()
	}
	head, tail := text[:maxShown-tailOf], text[len(text)-tailOf:]
	show(strings.ToValidUTF8(head, ""))
	fmt.Fprintf(&b, "    ... %d bytes left out here; see all of it with: tis approvals list --session %s --json\n", len(text)-maxShown, catalog.Visible(r.Session))
	show(strings.ToValidUTF8(tail, ""))
	return b.String()
}

// reason is the rule, hint or mode that makes the call ask, with the rule's own
// message.
func (g *Gate) reason(ctx context.Context, r Request, t *catalog.Tool) string {
	why := fmt.Sprintf("%s (mode %s)", r.Risk, r.Mode)
	if t == nil {
		return why + "; the tool is not there any more"
	}
	v, err := g.judge(ctx, catalog.Call{Tool: t, Input: r.Arguments})
	switch {
	case err != nil || v.Outcome != Ask:
		return why
	case v.Message != "":
		return fmt.Sprintf("%s (mode %s): %s", v.Why, r.Mode, v.Message)
	}
	return fmt.Sprintf("%s (mode %s)", v.Why, r.Mode)
}

// clipped cuts a one-line text to n characters and says so with an ellipsis.
func clipped(s string, n int) string {
	if r := []rune(s); len(r) > n {
		return string(r[:n-1]) + "…"
	}
	return s
}
