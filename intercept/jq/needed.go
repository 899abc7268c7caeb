package jq

import (
	"slices"
	"strings"
	"sync"

	"github.com/itchyny/gojq"
)

// definition is a function of the prelude and the names that its text has.
type definition struct {
	def   *gojq.FuncDef
	names map[string]bool
}

// definitions are the prelude's, parsed once.
var definitions = sync.OnceValues(func() ([]definition, error) {
	q, err := gojq.Parse(prelude)
	if err != nil {
		return nil, err
	}
	var list []definition
	for _, fd := range q.FuncDefs {
		names := map[string]bool{}
		namesIn(fd.Body.String(), names)
		list = append(list, definition{fd, names})
	}
	return list, nil
})

// preludeFor is what programs with these texts need of the prelude: every
// function whose name stands in one of them, or in a function that is needed.
// To compile the rest would take longer than most programs run.
func preludeFor(texts []string) (*gojq.Query, error) {
	all, err := definitions()
	if err != nil {
		return nil, err
	}
	wanted := map[string]bool{}
	for _, text := range texts {
		namesIn(text, wanted)
	}
	needed := make([]bool, len(all))
	for again := true; again; {
		again = false
		for i, d := range slices.Backward(all) {
			if !needed[i] && wanted[d.def.Name] {
				needed[i], again = true, true
				for name := range d.names {
					wanted[name] = true
				}
			}
		}
	}
	q := &gojq.Query{Term: &gojq.Term{Type: gojq.TermTypeIdentity}}
	for i, d := range all {
		if needed[i] {
			q.FuncDefs = append(q.FuncDefs, d.def)
		}
	}
	return q, nil
}

// namesIn adds every name in a text to names, those in strings too, and that of
// the function that .. stands for.
func namesIn(text string, names map[string]bool) {
	if strings.Contains(text, "..") {
		names["recurse"] = true
	}
	letter := func(c byte) bool {
		return c == '_' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9'
	}
	for i := 0; i < len(text); i++ {
		from := i
		for i < len(text) && letter(text[i]) {
			i++
		}
		if i > from {
			names[text[from:i]] = true
		}
	}
}
