package lint

import (
	"errors"

	"github.com/tools-in-shell/tis/analyze"
)

var ruleParse = &Rule{
	Code: "TIS001", Name: "no-script", Severity: Error,
	Title: "The text does not parse as a bash script",
	Why:   "A script that does not parse is not run at all: exit code 2, and nothing is done.",
	Bad:   "for n in 1 2 3; do\n  tools github get-pull repo=acme/api number=\"$n\"\n",
	Good:  "for n in 1 2 3; do\n  tools github get-pull repo=acme/api number=\"$n\"\ndone\n",
	check: func(p *pass) {
		var e *analyze.ParseError
		if !errors.As(p.parseErr, &e) {
			return
		}
		offset := 0
		if e.Line > 0 && e.Line <= len(p.lines) {
			offset = p.lines[e.Line-1] + max(e.Col-1, 0)
		}
		p.report(offset, offset+p.word(offset), "%s", e.Message)
	},
}
