package analyze

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// openers nest as deep as they are repeated; around is what a complete text
// of them needs.
var openers = []struct{ name, open, middle, close string }{
	{"subshells", "( ", "a", " )"},
	{"groups", "{ ", "a;", " };"},
	{"substitutions", "$(", "a", ")"},
	{"quoted substitutions", `"$(`, "a", `)"`},
	{"arithmetic", "$(( ", "1", " ))"},
	{"arithmetic parentheses", "(", "1", ")"},
	{"old arithmetic", "$[", "1", "]"},
	{"parameters", "${x:-", "a", "}"},
	{"quoted parameters", `"${x:-`, "a", `}"`},
	{"process substitutions", "<(a ", "a", ")"},
	{"double brackets", "( ", "a", " )"},
	{"if", "if ", "a", "; then a; fi"},
	{"else", "if a; then a; else ", "a", "; fi"},
	{"elif", "if a; then a; el", "if a; then a; fi", ""},
	{"while", "while a; do ", "a", "; done"},
	{"for", "for x in a; do ", "a", "; done"},
	{"case", "case a in a) ", "a", ";; esac"},
	{"functions", "f() { ", "a", "; }"},
	{"negation in brackets", "! ", "a", ""},
	{"minus", "- ", "1", ""},
	{"assignments", "x=", "1", ""},
	{"conditions", "1?2:", "3", ""},
	{"and", "a && ", "a", ""},
	{"pipes", "a | ", "a", ""},
	{"additions", "1+", "1", ""},
	{"brackets with and", "a && ", "a", ""},
	{"indices", "x[", "1", "]"},
	{"coproc", "coproc ", "a", ""},
	{"time", "time ", "a", ""},
	{"here-docs", "cat <<E\n$(", "a", ")\nE\n"},
	{"arrays", "a=($(", "a", "))"},
	{"backquotes", "`", "a", "`"},
	{"double parentheses", "((", "a", "))"},
	{"braces in a word", "{a,", "b", "}"},
	{"extended patterns", "@(", "a", ")"},
}

func nest(i, n int) string {
	o := openers[i]
	text := strings.Repeat(o.open, n) + o.middle + strings.Repeat(o.close, n)
	switch o.name {
	case "arithmetic parentheses", "minus", "assignments", "conditions", "additions", "indices":
		return "echo $((" + text + "))"
	case "double brackets", "negation in brackets", "brackets with and":
		return "[[ " + text + " ]]"
	case "elif":
		return strings.Repeat("if a; then a; el", 1) + strings.Repeat("if a; then a; el", n) + "se a; fi"
	case "quoted substitutions", "substitutions", "arithmetic", "parameters", "quoted parameters", "process substitutions", "braces in a word", "extended patterns":
		return "echo " + text
	}
	return text
}

func TestNestingCannotExhaustTheStack(t *testing.T) {
	for i, o := range openers {
		t.Run(o.name, func(t *testing.T) {
			start := time.Now()
			for _, text := range []string{nest(i, 200_000), strings.Repeat(o.open, 200_000), "echo \"" + strings.Repeat(o.open, 200_000)} {
				if len(text) > MaxSize {
					text = text[:MaxSize]
				}
				if s, err := Parse(text, ""); err == nil {
					s.findings()
				}
				_ = CheckNesting(text)
			}
			t.Log(time.Since(start))
		})
	}
}

func TestNestingThatPeopleWriteIsAllowed(t *testing.T) {
	for i, o := range openers {
		t.Run(o.name, func(t *testing.T) {
			text := nest(i, 200)
			require.NoError(t, CheckNesting(text))
			s, err := Parse(text, "")
			if err == nil {
				s.findings()
				return
			}
			require.NotContains(t, err.Error(), "nested")
		})
	}
}
