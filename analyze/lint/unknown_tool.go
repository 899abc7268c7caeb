package lint

import (
	"fmt"
	"strings"
)

var ruleUnknown = &Rule{
	Code: "TIS101", Name: "unknown-tool", Severity: Error,
	Title:      "A server or tool that is not in the catalog",
	Why:        "The command fails with `unknown_command`, and what depends on its output goes wrong after it.",
	Exceptions: "The catalog that the script is checked against is not the one that it runs with. `tis snapshot` writes the one that it runs with.",
	Bad:        "tools github list-pull repo=acme/api\n",
	Good:       "tools github list-pulls repo=acme/api\n",
	check: func(p *pass) {
		for _, c := range p.calls {
			if c.unknown == nil || c.unknown.Direct {
				continue
			}
			f := c.onWord(c.unknown.Word, "%s", c.unknown.Error.Message)
			if len(c.unknown.Near) == 1 && c.unknown.Word < len(c.words) && c.words[c.unknown.Word].node != nil && !strings.Contains(c.unknown.Near[0], " ") {
				f.Fixes = append(f.Fixes, c.replace(c.unknown.Word, c.unknown.Near[0], "write "+c.unknown.Near[0]))
			}
		}
	},
}

var ruleDirect = &Rule{
	Code: "TIS105", Name: "direct-only", Severity: Error,
	Title: "A tool that only the model can call",
	Why:   "Some tools shape the turn itself: they ask the user, show the model an image, or edit files. They stay direct calls and are no commands of the shell.",
	Bad:   "tools ask-user question='Which branch?'\n",
	Good:  "tools github list-pulls repo=acme/api\n",
	check: func(p *pass) {
		for _, c := range p.calls {
			if c.unknown != nil && c.unknown.Direct {
				c.onWord(c.unknown.Word, "%s", c.unknown.Error.Message)
			}
		}
	},
}

// said is how a call is named in messages.
func (c *call) said() string {
	if c.tool != nil {
		return c.tool.Command()
	}
	return strings.TrimSpace(fmt.Sprint("tools ", strings.Join(c.Args, " ")))
}
