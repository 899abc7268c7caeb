package lint

import (
	"slices"
	"strings"
)

// ApplyFixes makes the first fix of every finding that has one and gives the new
// text. A fix that overlaps one that stands before it is left for the next time.
// fixed is how many were made.
func ApplyFixes(text string, findings []Finding) (out string, fixed int) {
	var edits []Edit
	for _, f := range findings {
		if len(f.Fixes) == 0 || len(f.Fixes[0].Edits) == 0 {
			continue
		}
		mine := f.Fixes[0].Edits
		if slices.ContainsFunc(mine, func(e Edit) bool { return slices.ContainsFunc(edits, func(o Edit) bool { return overlap(e, o) }) }) {
			continue
		}
		edits = append(edits, mine...)
		fixed++
	}
	slices.SortFunc(edits, func(a, b Edit) int { return a.Start.Offset - b.Start.Offset })
	var b strings.Builder
	last := 0
	for _, e := range edits {
		b.WriteString(text[last:e.Start.Offset])
		b.WriteString(e.Text)
		last = e.End.Offset
	}
	b.WriteString(text[last:])
	return b.String(), fixed
}

func overlap(a, b Edit) bool { return a.Start.Offset < b.End.Offset && b.Start.Offset < a.End.Offset }
