package catalog

import (
	"cmp"
	"slices"
	"strings"
	"unicode"

	"github.com/agnivade/levenshtein"
)

// Shown is a name as it is shown: underscores as hyphens.
func Shown(name string) string { return strings.ReplaceAll(name, "_", "-") }

// Sentence is the first sentence of a description, on one line.
func Sentence(desc string) string {
	s := OneLine(desc)
	for i := 0; i+1 < len(s); i++ {
		if (s[i] == '.' || s[i] == '!' || s[i] == '?') && s[i+1] == ' ' && !strings.HasSuffix(s[:i+1], "e.g.") && !strings.HasSuffix(s[:i+1], "i.e.") {
			s = s[:i+1]
			break
		}
	}
	if r := []rune(s); len(r) > 200 {
		s = string(r[:199]) + "…"
	}
	return s
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

// index finds things by the spellings of their names.
type index[T any] struct {
	exact  map[string]T
	normal map[string][]T
	kebab  map[string][]T
	names  []string
}

func newIndex[T any](n int) *index[T] {
	return &index[T]{exact: make(map[string]T, n), normal: make(map[string][]T, n), kebab: map[string][]T{}}
}

func (x *index[T]) add(name string, v T) {
	if _, taken := x.exact[name]; taken {
		return
	}
	x.exact[name] = v
	n := normal(name)
	x.normal[n] = append(x.normal[n], v)
	if k := kebab(name); k != n {
		x.kebab[k] = append(x.kebab[k], v)
	}
	x.names = append(x.names, name)
}

// find returns what the word names: one thing, none, or several that the
// spelling cannot tell apart.
func (x *index[T]) find(word string) []T {
	if v, ok := x.exact[word]; ok {
		return []T{v}
	}
	n := normal(word)
	if vs := x.normal[n]; len(vs) > 0 {
		return vs
	}
	return x.kebab[n]
}

// near lists up to three names that look like word.
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
		n := normal(name)
		d := levenshtein.ComputeDistance(word, n)
		if k := kebab(name); k != n {
			d = min(d, levenshtein.ComputeDistance(word, k))
		}
		if strings.Contains(n, word) && len(word) > 2 {
			d = min(d, 2)
		}
		if d <= max(2, len(word)/3) {
			found = append(found, scored{Shown(name), d})
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
