package mcpsource

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"
)

// Redactor is a function that takes the values that the config of servers holds
// (environment, headers, arguments, passwords of URLs) and further secrets out
// of a text, as they are and as they stand in a JSON string. It is safe for
// concurrent use.
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
	for _, v := range values {
		if b, err := json.Marshal(v); err == nil {
			values = append(values, string(b[1:len(b)-1]))
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
