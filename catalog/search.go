package catalog

import (
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
	var best []hit // the best so far, best first
	try := func(on *server, t *Tool, about prose) {
		matched, score := rank(t, about, words)
		if matched == 0 || 2*matched < len(words) {
			return
		}
		h := hit{on, t, matched, score}
		if len(best) == maxHits && !h.beats(best[maxHits-1]) {
			return
		}
		at, _ := slices.BinarySearchFunc(best, h, func(b, h hit) int {
			if h.beats(b) {
				return 1
			}
			return -1
		})
		best = slices.Insert(best, at, h)
		best = best[:min(maxHits, len(best))]
	}
	r.each(func(s *server) {
		about := terms(s.Description)
		for _, t := range s.shelf().reachable() {
			try(s, t, about)
		}
	})
	for _, t := range r.Top() {
		try(nil, t, prose{})
	}
	if len(best) == 0 {
		return fmt.Sprintf("no tool matches %s; tools --help lists all of them\n", printable(clip(query)))
	}
	var b strings.Builder
	for _, h := range best {
		b.WriteString(r.command(h.on, h.tool) + " " + h.tool.example())
		if s := Sentence(h.tool.Description); s != "" {
			b.WriteString("  # " + s) // a comment: the whole line runs
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// beats reports whether h is listed before o: more words matched, then the
// higher score, then by name.
func (h hit) beats(o hit) bool {
	switch {
	case h.matched != o.matched:
		return h.matched > o.matched
	case h.score != o.score:
		return h.score > o.score
	}
	return h.tool.Command() < o.tool.Command()
}

// loadMatching loads, side by side, the servers whose name or description
// match; it ends when all have.
func (r *resolver) loadMatching(words []term) {
	var wg sync.WaitGroup
	r.each(func(s *server) {
		if !s.loadable() {
			return
		}
		about := terms(s.Name + " " + s.Description)
		if slices.ContainsFunc(words, func(w term) bool { return match(w, about) > 0 }) {
			wg.Go(func() { s.load(r.ctx) }) // a failed load leaves the server out
		}
	})
	wg.Wait()
}

// wanted are the words of a query that count.
func wanted(query string) []term {
	all := terms(query).terms
	words := slices.DeleteFunc(slices.Clone(all), func(w term) bool { return filler[w.word] })
	if len(words) == 0 {
		return all
	}
	return words[:min(len(words), 32)]
}

// filler are words that need not match.
var filler = set("a", "an", "the", "of", "for", "to", "in", "on", "and", "or", "with", "my", "all", "from", "by")

// prose is the words of a text, camelCase taken apart.
type prose struct {
	terms []term
	heads []head // of each term: a search looks at little else
}

// term is one word in lower case, with and without its plural.
type term struct {
	word, stem string
	head       head
}

func terms(s string) prose {
	words := strings.FieldsFunc(kebab(s), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	t := prose{make([]term, len(words)), make([]head, len(words))}
	for i, w := range words {
		t.heads[i] = headOf(w)
		t.terms[i] = term{w, stem(w), t.heads[i]}
	}
	return t
}

// head is the first two bytes of a word and its length, by which most words
// are told from most others.
type head struct{ first, second, size, wide uint8 }

func headOf(w string) head {
	h := head{first: w[0], size: uint8(min(len(w), 255))}
	if len(w) > 1 {
		h.second = w[1]
	}
	for i := range len(w) {
		h.wide |= w[i] & 0x80 // its bytes are not its letters
	}
	return h
}

// mayMatch is false only for words that match in no way: those that are the
// same, or one the beginning of the other, or its plural, share their first
// letter; those that are one letter apart share the first or the second, or
// have one of them in the place of the other, and are about as long.
func (h head) mayMatch(o head) bool {
	return h.first == o.first || h.wide|o.wide != 0 ||
		(h.second == o.second || h.first == o.second || h.second == o.first) && h.size <= o.size+1 && o.size <= h.size+1
}

// spoken is what a search looks at in a tool. It is taken apart once.
type spoken struct {
	once               sync.Once
	name, server, desc prose
}

func (t *Tool) words() *spoken {
	s := &t.derived.spoken
	s.once.Do(func() { s.name, s.server, s.desc = terms(t.Name), terms(t.Server), terms(t.Description) })
	return s
}

// rank counts the words that a tool answers to, and weighs name hits over
// server hits over description hits, and what the server says about itself least.
func rank(t *Tool, about prose, words []term) (matched, score int) {
	tool := t.words()
	for _, w := range words {
		s := 10 * match(w, tool.name)
		// A field is not looked at when its best match would not count.
		for _, f := range []struct {
			weight int
			in     prose
		}{{6, tool.server}, {2, tool.desc}, {1, about}} {
			if s < f.weight*same {
				s = max(s, f.weight*match(w, f.in))
			}
		}
		if s > 0 {
			matched++
			score += s
		}
	}
	if matched > 0 && len(tool.name.terms) == len(words) {
		score += 5
	}
	return matched, score
}

// How well two words match.
const (
	oneLetterOff = iota + 1
	prefix
	plural
	same
)

// match is how well a word matches the best of a text; 0 is not at all.
func match(w term, in prose) int {
	top := 0
	for i, h := range in.heads {
		if !w.head.mayMatch(h) {
			continue
		}
		word, t := w.word, in.terms[i]
		switch {
		case t.word == word:
			return same
		case top < plural && t.stem == w.stem:
			top = plural
		case top < prefix && (len(word) >= 3 && strings.HasPrefix(t.word, word) || len(t.word) >= 4 && strings.HasPrefix(word, t.word)):
			top = prefix
		case top < oneLetterOff && len(word) >= 3 && max(len(word), len(t.word)) >= 4 && oneOff([]rune(word), []rune(t.word)):
			top = oneLetterOff
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
