package lint

import "mvdan.cc/sh/v3/syntax"

var ruleInherited = &Rule{
	Code: "TIS401", Name: "inherited-stdin", Severity: Warning,
	Title: "A call that seems to want an input that it does not read",
	Why: "A call reads stdin only when a pipe or a redirect belongs to that very command. What it inherits from a loop or a function stays for them, " +
		"so that a call in `while read` never eats the lines of the loop. `-` reads it all the same.",
	Exceptions: "The tool needs no input after all.",
	Bad:        "add() {\n  tools linear create-issue\n}\necho '{\"title\":\"Flaky test\"}' | add\n",
	Good:       "add() {\n  tools linear create-issue -\n}\necho '{\"title\":\"Flaky test\"}' | add\n",
	check: func(p *pass) {
		for _, c := range p.calls {
			if c.tool == nil || c.Attached || !c.Known || len(c.words) > c.named || c.Where == "" {
				continue
			}
			in := ""
			for _, n := range c.parents {
				switch n := n.(type) {
				case *syntax.FuncDecl:
					in = "function"
				case *syntax.WhileClause:
					if reads(n) {
						in = "loop"
					}
				}
			}
			if in == "" || len(c.tool.Faults([]byte("{}"))) == 0 {
				continue
			}
			start, end := c.name()
			p.report(start, end, "%s gets no input: the stdin of the %s is not read unless - says so", c.said(), in)
		}
	},
}

// reads reports whether a loop takes its turns from read.
func reads(l *syntax.WhileClause) bool {
	for _, s := range l.Cond {
		if c, ok := s.Cmd.(*syntax.CallExpr); ok && len(c.Args) > 0 && c.Args[0].Lit() == "read" {
			return true
		}
	}
	return false
}
