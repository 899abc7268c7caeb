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

// search ranks the tools that the words describe. On-demand servers that the
// words match are loaded first; one that fails to load is left out.
func (r *resolver) search(query string) string {
	words := terms(query)
	if !r.literal {
		r.loadMatching(words)
	}
	type hit struct {
		tool  *Tool
		score int
	}
	var hits []hit
	try := func(t *Tool, about []string) {
		if s := score(t, about, words); s > 0 {
			hits = append(hits, hit{t, s})
		}
	}
	for _, s := range r.Servers() {
		about := terms(s.Description)
		for _, t := range s.Tools {
			try(t, about)
		}
	}
	for _, t := range r.topTools {
		try(t, nil)
	}
	if len(hits) == 0 {
		return fmt.Sprintf("no tool matches %s; tools --help lists all of them\n", clip(query))
	}
	slices.SortFunc(hits, func(a, b hit) int {
		return cmp.Or(-cmp.Compare(a.score, b.score), strings.Compare(a.tool.Command(), b.tool.Command()))
	})
	var b strings.Builder
	for _, h := range hits[:min(maxHits, len(hits))] {
		line := h.tool.Command() + h.tool.example()
		if s := Sentence(h.tool.Description); s != "" {
			line += "  # " + s
		}
		b.WriteString(OneLine(line) + "\n")
	}
	return b.String()
}

// loadMatching loads, side by side, the servers whose name or description match.
func (r *resolver) loadMatching(words []string) {
	var wg sync.WaitGroup
	for _, name := range r.servers.names {
		s := r.servers.exact[name]
		if s.isLoaded() || s.Load == nil {
			continue
		}
		about := terms(s.Name + " " + s.Description)
		if slices.ContainsFunc(words, func(w string) bool { return best(w, about) > 0 }) {
			wg.Go(func() { s.load(r.ctx) }) // a failed load leaves the server out
		}
	}
	wg.Wait()
}

// terms are the words of a text: lower case, camelCase taken apart.
func terms(s string) []string {
	return strings.FieldsFunc(kebab(s), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
}

// score weighs name hits over server hits over description hits, and what the
// server says about itself least; every word has to match something.
func score(t *Tool, about, words []string) int {
	name, server, text := terms(t.Name), terms(t.Server), terms(t.Description)
	total := 0
	for _, w := range words {
		s := max(10*best(w, name), 6*best(w, server), 2*best(w, text), best(w, about))
		if s == 0 && !filler[w] {
			return 0
		}
		total += s
	}
	if total > 0 && len(name) == len(words) {
		total += 5
	}
	return total
}

// filler are words that need not match.
var filler = set("a", "an", "the", "of", "for", "to", "in", "on", "and", "or", "with", "my", "all", "from", "by")

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
		case len(word) >= 4 && oneOff(word, w):
			top = max(top, 1)
		}
	}
	return top
}

func stem(w string) string {
	switch {
	case len(w) > 4 && strings.HasSuffix(w, "ies"):
		return w[:len(w)-3] + "y"
	case len(w) > 4 && strings.HasSuffix(w, "es") && strings.ContainsAny(w[len(w)-3:len(w)-2], "sxzh"):
		return w[:len(w)-2]
	case len(w) > 3 && strings.HasSuffix(w, "s") && !strings.HasSuffix(w, "ss"):
		return w[:len(w)-1]
	}
	return w
}

// oneOff reports whether two words differ in one letter, or in two that are
// swapped.
func oneOff(a, b string) bool {
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
		return a[i:] == b[i+1:]
	}
	return i < len(a) && (a[i+1:] == b[i+1:] || i+1 < len(a) && a[i] == b[i+1] && a[i+1] == b[i] && a[i+2:] == b[i+2:])
}
