package lint

import "github.com/tools-in-shell/tis/analyze/dialect"

var ruleDialect = &Rule{
	Code: dialect.Code, Name: "unlike-bash", Severity: Error,
	Title: "A construct that this shell would not do as bash does it",
	Why: "The shell is an interpreter of its own. Where it is known to do something else than bash, without saying so, the script is refused before it starts: " +
		"a clear refusal costs one turn, a silent difference costs the result.",
	Exceptions: "A script that only bash runs. Then tis-lint is not the tool for it.",
	Bad:        "tools github list-pulls repo=acme/api | jq length\necho \"${PIPESTATUS[0]}\"\n",
	Good:       "set -o pipefail\ntools github list-pulls repo=acme/api | jq length\necho \"$?\"\n",
	check: func(p *pass) {
		for _, d := range dialect.Find(p.script.File) {
			p.report(int(d.Node.Pos().Offset()), int(d.Node.End().Offset()), "%s", d.What)
		}
	},
}
