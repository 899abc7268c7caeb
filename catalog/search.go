package catalog

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"sync"
	"unicode"
)

// maxHits is how many matches a search prints.
const maxHits = 10

// hit is a tool that a search found.
type hit struct {
	on      *server // nil for a top-level tool
	tool    *Tool
	matched int // how many words it answers to
	score   int
}

// search ranks the tools that the words describe. On-demand servers that the
// words match are loaded first; one that fails to load is left out.
func (r *resolver) search(query string) string {
	words := wanted(query)
	if !r.literal {
		r.loadMatching(words)
	}
	var hits []hit
	try := func(on *server, t *Tool, about []string) {
		if matched, score := rank(t, about, words); matched > 0 && 2*matched >= len(words) {
			hits = append(hits, hit{on, t, matched, score})
		}
	}
	r.each(func(s *server) {
		about := terms(s.Description)
		for _, t := range s.shelf().reachable() {
			try(s, t, about)
		}
	})
	for _, t := range r.Top() {
		try(nil, t, nil)
	}
	if len(hits) == 0 {
		return fmt.Sprintf("no tool matches %s; tools --help lists all of them\n", printable(clip(query)))
	}
	slices.SortStableFunc(hits, func(a, b hit) int {
		return cmp.Or(-cmp.Compare(a.matched, b.matched), -cmp.Compare(a.score, b.score), strings.Compare(a.tool.Command(), b.tool.Command()))
	})
	var b strings.Builder
	for _, h := range hits[:min(maxHits, len(hits))] {
		b.WriteString(r.command(h.on, h.tool) + " " + h.tool.example())
		if s := Sentence(h.tool.Description); s != "" {
			b.WriteString("  # " + s) // a comment: the whole line runs
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// loadMatching loads, side by side, the servers whose name or description
// match; it ends when all have.
func (r *resolver) loadMatching(words []string) {
	var wg sync.WaitGroup
	r.each(func(s *server) {
		if !s.loadable() {
			return
		}
		about := terms(s.Name + " " + s.Description)
		if slices.ContainsFunc(words, func(w string) bool { return best(w, about) > 0 }) {
			wg.Go(func() { s.load(r.ctx) }) // a failed load leaves the server out
		}
	})
	wg.Wait()
}

// wanted are the words of a query that count.
func wanted(query string) []string {
	all := terms(query)
	words := slices.DeleteFunc(slices.Clone(all), func(w string) bool { return filler[w] })
	if len(words) == 0 {
		return all
	}
	return words[:min(len(words), 32)]
}

// filler are words that need not match.
var filler = set("a", "an", "the", "of", "for", "to", "in", "on", "and", "or", "with", "my", "all", "from", "by")

// terms are the words of a text: lower case, camelCase taken apart.
func terms(s string) []string {
	return strings.FieldsFunc(kebab(s), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
}

// rank counts the words that a tool answers to, and weighs name hits over
// server hits over description hits, and what the server says about itself least.
func rank(t *Tool, about, words []string) (matched, score int) {
	name, server, text := terms(t.Name), terms(t.Server), terms(t.Description)
	for _, w := range words {
		if s := max(10*best(w, name), 6*best(w, server), 2*best(w, text), best(w, about)); s > 0 {
			matched++
			score += s
		}
	}
	if matched > 0 && len(name) == len(words) {
		score += 5
	}
	return matched, score
}

// best is how well a word matches the best of several: 4 the same, 3 a plural,
// 2 a prefix, 1 one letter off.
func best(word string, in []string) int {
	top := 0
	for _, w := range in {
		switch {
		case w == word:
			return 4
		case stem(w) == stem(word):
			top = max(top, 3)
		case len(word) >= 3 && strings.HasPrefix(w, word), len(w) >= 4 && strings.HasPrefix(word, w):
			top = max(top, 2)
		case len(word) >= 3 && max(len(word), len(w)) >= 4 && oneOff([]rune(word), []rune(w)):
			top = max(top, 1)
		}
	}
	return top
}

// stem takes off a plural.
func stem(w string) string {
	switch {
	case len(w) > 4 && strings.HasSuffix(w, "ies"):
		return w[:len(w)-3] + "y"
	case len(w) > 4 && strings.HasSuffix(w, "es") && strings.ContainsAny(w[len(w)-3:len(w)-2], "sxzh"):
		return w[:len(w)-2]
	case len(w) > 2 && strings.HasSuffix(w, "s") && !strings.HasSuffix(w, "ss"):
		return w[:len(w)-1]
	}
	return w
}

// oneOff reports whether two words differ in one letter, or in two that are
// swapped.
func oneOff(a, b []rune) bool {
	if len(a) > len(b) {
		a, b = b, a
	}
	if len(b)-len(a) > 1 {
		return false
	}
	i := 0
	for i < len(a) && a[i] == b[i] {
		i++
	}
	if len(a) < len(b) {
		return slices.Equal(a[i:], b[i+1:])
	}
	return i < len(a) && (slices.Equal(a[i+1:], b[i+1:]) ||
		i+1 < len(a) && a[i] == b[i+1] && a[i+1] == b[i] && slices.Equal(a[i+2:], b[i+2:]))
}
