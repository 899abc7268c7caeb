package lint

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

var ruleSwallowed = &Rule{
	Code: "TIS404", Name: "swallowed-failure", Severity: Warning,
	Title: "A pipe that hides the failure of a call",
	Why: "The status of a pipe is that of its last command: when the call fails, jq gets nothing, succeeds, and the script goes on as if all were well. " +
		"`set -o pipefail` makes the pipe fail.",
	Exceptions: "The failure shows in what comes out, and the script looks at that.",
	Bad:        "if tools github get-pull repo=acme/api number=7 | jq -e .merged; then\n  echo merged\nfi\n",
	Good:       "set -o pipefail\nif tools github get-pull repo=acme/api number=7 | jq -e .merged; then\n  echo merged\nfi\n",
	check: func(p *pass) {
		on, errexit := p.options()
		for _, c := range p.calls {
			if len(c.parents) < 2 || c.help() {
				continue
			}
			// The outermost pipe of which the call is not the last command.
			swallowed := false
			at := len(c.parents) - 1
			for ; at >= 0; at-- {
				switch n := c.parents[at].(type) {
				case *syntax.Stmt:
					if n.Negated || n.Background {
						swallowed = swallowed && n.Negated
					}
					continue
				case *syntax.BinaryCmd:
					if n.Op == syntax.Pipe || n.Op == syntax.PipeAll {
						if at+1 < len(c.parents) && c.parents[at+1] == syntax.Node(n.X) {
							swallowed = true
						}
						continue
					}
				case *syntax.TimeClause:
					continue
				}
				break
			}
			if !swallowed || on {
				continue
			}
			used := ""
			if at >= 0 {
				var stmt syntax.Node
				if at+1 < len(c.parents) {
					stmt = c.parents[at+1]
				}
				switch n := c.parents[at].(type) {
				case *syntax.IfClause:
					if last(n.Cond) == stmt {
						used = "if"
					}
				case *syntax.WhileClause:
					if last(n.Cond) == stmt {
						used = "while"
					}
				case *syntax.BinaryCmd:
					if n.X == stmt {
						used = n.Op.String()
					}
				}
			}
			if used == "" && errexit && p.plainStatement(c, at) {
				used = "set -e"
			}
			if used != "" {
				start, end := c.name()
				p.report(start, end, "when %s fails, the pipe hides it from %s; set -o pipefail first", c.said(), used)
			}
		}
	},
}

func last(list []*syntax.Stmt) syntax.Node {
	if len(list) == 0 {
		return nil
	}
	return list[len(list)-1]
}

// plainStatement reports whether the pipe stands where set -e looks at it.
func (p *pass) plainStatement(c *call, at int) bool {
	for _, n := range c.parents[:max(at+1, 0)] {
		switch n.(type) {
		case *syntax.CmdSubst, *syntax.ProcSubst, *syntax.FuncDecl:
			return false // their status is looked at elsewhere, or not
		}
	}
	if at < 0 {
		return false
	}
	switch c.parents[at].(type) {
	case *syntax.File, *syntax.Block, *syntax.Subshell, *syntax.ForClause:
		return true
	}
	return false
}

// options says whether the script sets pipefail and errexit anywhere.
func (p *pass) options() (pipefail, errexit bool) {
	syntax.Walk(p.script.File, func(n syntax.Node) bool {
		c, ok := n.(*syntax.CallExpr)
		if !ok || len(c.Args) < 2 || c.Args[0].Lit() != "set" {
			return true
		}
		for i, w := range c.Args[1:] {
			switch word := w.Lit(); {
			case word == "pipefail" && i > 0:
				pipefail = true
			case word == "errexit" && i > 0:
				errexit = true
			case strings.HasPrefix(word, "-") && !strings.HasPrefix(word, "--"):
				errexit = errexit || strings.Contains(word, "e")
			}
		}
		return true
	})
	return pipefail, errexit
}
