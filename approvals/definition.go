package approvals

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/tools-in-shell/tis/catalog"
)

// Bounds on definitions and on how a change of one is shown.
const (
	maxDefinition = 64 << 10 // bytes that a request keeps of a tool's definition
	maxChanges    = 40       // lines
	maxCompared   = 2000     // lines of one part
)

// definition is what a tool says of itself, the things that its identity
// covers. It is kept with a request, so that a later one can tell what changed.
type definition struct {
	Description string          `json:"description,omitempty"`
	Schema      json.RawMessage `json:"schema,omitempty"`
	Hints       catalog.Hints   `json:"hints"`
}

// define is a tool's definition as JSON; empty when it is too long to keep.
func define(t *catalog.Tool) json.RawMessage {
	d := definition{Description: t.Description, Hints: t.Hints}
	if json.Valid(t.InputSchema) {
		d.Schema = t.InputSchema
	}
	b, err := json.Marshal(d)
	if err != nil || len(b) > maxDefinition {
		return nil
	}
	return b
}

// Changed tells what has changed about the tool since a call of it was last
// allowed in the session: a heading for each part of its definition, and the
// lines that went ("- ") and came ("+ "). It is empty when nothing did, and when
// nobody has allowed the tool yet. The lines are safe to print.
func (g *Gate) Changed(ctx context.Context, r Request) ([]string, error) {
	last, ok, err := g.store.Allowed(ctx, r.Session, r.Tool)
	switch {
	case err != nil:
		return nil, fmt.Errorf("look up the last answer: %w", err)
	case !ok || last.Identity == r.Identity:
		return nil, nil
	case len(last.Definition) == 0 || len(r.Definition) == 0:
		return []string{"its definition is not the one that was allowed, and too long to show how"}, nil
	}
	var was, is definition
	if err := json.Unmarshal(last.Definition, &was); err != nil {
		return nil, fmt.Errorf("the definition kept with request %s: %w", last.ID, err)
	}
	if err := json.Unmarshal(r.Definition, &is); err != nil {
		return nil, fmt.Errorf("the definition kept with request %s: %w", r.ID, err)
	}
	var out []string
	for _, part := range []struct{ name, was, is string }{
		{"description", was.Description, is.Description},
		{"input schema", laidOut(was.Schema), laidOut(is.Schema)},
		{"hints", hintLines(was.Hints), hintLines(is.Hints)},
	} {
		if part.was != part.is {
			out = append(out, part.name)
			out = append(out, difference(strings.Split(part.was, "\n"), strings.Split(part.is, "\n"))...)
		}
	}
	if len(out) > maxChanges {
		out = append(out[:maxChanges], fmt.Sprintf("... and %d more lines", len(out)-maxChanges))
	}
	return out, nil
}

// laidOut is a schema a line for each of its values, keys in one order.
func laidOut(schema json.RawMessage) string {
	if len(schema) == 0 {
		return ""
	}
	canonical, err := catalog.Canonical(schema)
	if err != nil {
		canonical = schema
	}
	var b bytes.Buffer
	if json.Indent(&b, canonical, "", "  ") != nil {
		return string(canonical)
	}
	return b.String()
}

func hintLines(h catalog.Hints) string {
	b, err := json.MarshalIndent(h, "", "  ")
	if err != nil { // pointers to bools always encode
		panic(err)
	}
	return string(b)
}

// difference lists the lines that went and came, by the longest common
// subsequence.
func difference(was, is []string) (out []string) {
	if len(was) > maxCompared || len(is) > maxCompared {
		return []string{fmt.Sprintf("- %d lines", len(was)), fmt.Sprintf("+ %d lines", len(is))}
	}
	// common[i][j] is how many lines was[i:] and is[j:] share in order.
	common := make([][]int, len(was)+1)
	for i := range common {
		common[i] = make([]int, len(is)+1)
	}
	for i := len(was) - 1; i >= 0; i-- {
		for j := len(is) - 1; j >= 0; j-- {
			if was[i] == is[j] {
				common[i][j] = common[i+1][j+1] + 1
			} else {
				common[i][j] = max(common[i+1][j], common[i][j+1])
			}
		}
	}
	show := func(sign, line string) { out = append(out, sign+clipped(catalog.Visible(line), 200)) }
	i, j := 0, 0
	for i < len(was) || j < len(is) {
		switch {
		case i < len(was) && j < len(is) && was[i] == is[j]:
			i, j = i+1, j+1
		case j == len(is) || i < len(was) && common[i+1][j] >= common[i][j+1]:
			show("- ", was[i])
			i++
		default:
			show("+ ", is[j])
			j++
		}
	}
	return out
}
