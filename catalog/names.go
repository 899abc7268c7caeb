package catalog

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"sync"
	"unicode"

	"github.com/agnivade/levenshtein"
)

// Shown is a name as it is shown: underscores as hyphens.
func Shown(name string) string { return strings.ReplaceAll(name, "_", "-") }

// Sentence is the first sentence of a description, on one line.
func Sentence(desc string) string {
	desc = strings.TrimSpace(desc)
	if first, _, more := strings.Cut(strings.ReplaceAll(desc, "\r\n", "\n"), "\n\n"); more {
		desc = first
	}
	s := printable(OneLine(desc))
	for i := 0; i+1 < len(s); i++ {
		if (s[i] == '.' || s[i] == '!' || s[i] == '?') && s[i+1] == ' ' && !strings.HasSuffix(s[:i+1], "e.g.") && !strings.HasSuffix(s[:i+1], "i.e.") {
			s = s[:i+1]
			break
		}
	}
	return cut(s, 200)
}

// normal is the spelling under which names are compared: lower case, hyphens.
func normal(name string) string { return strings.ToLower(Shown(name)) }

// kebab is the hyphenated form of a camelCase name: getIssue is get-issue.
func kebab(name string) string {
	var b strings.Builder
	runes := []rune(name)
	for i, r := range runes {
		if unicode.IsUpper(r) && i > 0 && runes[i-1] != '_' && runes[i-1] != '-' &&
			(!unicode.IsUpper(runes[i-1]) || i+1 < len(runes) && unicode.IsLower(runes[i+1])) {
			b.WriteByte('-')
		}
		b.WriteRune(unicode.ToLower(r))
	}
	return normal(b.String())
}

// bare is a name without case and without anything between its words.
func bare(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return unicode.ToLower(r)
		}
		return -1
	}, s)
}

// index finds things by the spellings of their names. It is safe for
// concurrent use once nothing is added any more.
type index[T comparable] struct {
	exact  map[string]T
	normal map[string]T   // the first of each normal spelling
	also   map[string][]T // the others, where there are any
	kebab  func() map[string][]T
	names  []string // as they were added
}

func newIndex[T comparable](n int) *index[T] {
	x := &index[T]{exact: make(map[string]T, n), normal: make(map[string]T, n)}
	x.kebab = sync.OnceValue(x.kebabs) // few lines need it
	return x
}

// add reports false for a name that is taken; the first stays.
func (x *index[T]) add(name string, v T) bool {
	if _, taken := x.exact[name]; taken {
		return false
	}
	x.exact[name] = v
	x.names = append(x.names, name)
	n := normal(name)
	if _, taken := x.normal[n]; !taken {
		x.normal[n] = v
		return true
	}
	if x.also == nil {
		x.also = map[string][]T{}
	}
	x.also[n] = append(x.also[n], v)
	return true
}

func (x *index[T]) kebabs() map[string][]T {
	m := map[string][]T{}
	for _, name := range x.names {
		if k := kebab(name); k != normal(name) {
			m[k] = append(m[k], x.exact[name])
		}
	}
	return m
}

// find returns what the word names: one thing, none, or several that the
// spelling cannot tell apart.
func (x *index[T]) find(word string) []T {
	if v, ok := x.exact[word]; ok {
		return []T{v}
	}
	n := normal(word)
	if v, ok := x.normal[n]; ok {
		return append([]T{v}, x.also[n]...)
	}
	return x.kebab()[n]
}

// spelling is how a name of the index is shown: with hyphens, or as it is when
// the hyphens would name something else.
func (x *index[T]) spelling(name string) string {
	if found := x.find(Shown(name)); len(found) == 1 && found[0] == x.exact[name] {
		return Shown(name)
	}
	return name
}

// near lists up to three of the names that look like word, the nearest first.
func near(word string, names []string) []string {
	type scored struct {
		name string
		d    int
	}
	word = normal(word)
	if len(word) > 100 {
		return nil
	}
	var found []scored
	for _, name := range names {
		if len(name) > 200 {
			continue
		}
		n := normal(name)
		d := levenshtein.ComputeDistance(word, n)
		if k := kebab(name); k != n {
			d = min(d, levenshtein.ComputeDistance(word, k))
		}
		if strings.Contains(n, word) && len(word) > 2 {
			d = min(d, 2)
		}
		if d <= max(1, len(word)/3) || d == 2 && len(word) > 2 {
			found = append(found, scored{name, d})
		}
	}
	slices.SortStableFunc(found, func(a, b scored) int {
		return cmp.Or(cmp.Compare(a.d, b.d), strings.Compare(a.name, b.name))
	})
	var out []string
	for _, f := range found[:min(3, len(found))] {
		out = append(out, f.name)
	}
	return out
}

// didYouMean is up to three suggestions in parentheses, or nothing.
func didYouMean(names []string) string {
	if len(names) == 0 {
		return ""
	}
	return fmt.Sprintf(" (did you mean %s?)", strings.Join(names[:min(3, len(names))], ", "))
}
