package mcpsource

import (
	"cmp"
	"slices"
	"strings"
)

// Redactor is a function that takes the values that the config of servers holds
// (environment, headers, arguments, passwords of URLs) and further secrets out
// of a text. It is safe for concurrent use.
func Redactor(servers []ServerConfig, more ...string) func(string) string {
	var values []string
	for _, cfg := range servers {
		values = append(values, secretsOf(cfg)...)
	}
	for _, v := range more {
		if v != "" {
			values = append(values, v)
		}
	}
	return newReplacer(values).Replace
}

// newReplacer takes values out of texts. A value that holds another goes first,
// so that nothing of it is left.
func newReplacer(values []string) *strings.Replacer {
	slices.SortFunc(values, func(a, b string) int { return cmp.Or(len(b)-len(a), strings.Compare(a, b)) })
	var pairs []string
	for _, v := range slices.Compact(values) {
		pairs = append(pairs, v, "***")
	}
	return strings.NewReplacer(pairs...)
}
