package lint

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/tools-in-shell/tis/analyze"
)

var ruleShadowed = &Rule{
	Code: "TIS501", Name: "tools-redefined", Severity: Warning,
	Title: "The script gives the name tools a meaning of its own",
	Why: "Then nothing can be seen before the start: every call is judged as it happens, and the first one that needs an answer stops the script part-way. " +
		"A reader is misled as well.",
	Bad:  "tools() {\n  command tools github \"$@\"\n}\ntools list-pulls repo=acme/api\n",
	Good: "github() {\n  tools github \"$@\"\n}\ngithub list-pulls repo=acme/api\n",
	check: func(p *pass) {
		if !p.script.DefinesTools() {
			return
		}
		var at syntax.Node
		syntax.Walk(p.script.File, func(n syntax.Node) bool {
			switch n := n.(type) {
			case *syntax.FuncDecl:
				if n.Name != nil && n.Name.Value == "tools" && at == nil {
					at = n.Name
				}
			case *syntax.CallExpr:
				if len(n.Args) > 0 && at == nil {
					switch n.Args[0].Lit() {
					case "alias", "enable", "hash", "unset":
						if strings.Contains(p.source(int(n.Pos().Offset()), int(n.End().Offset())), "tools") {
							at = n
						}
					}
				}
			}
			return true
		})
		if at == nil {
			p.report(0, 0, "the script may give tools a meaning of its own, so none of its calls can be seen before the start")
			return
		}
		p.report(int(at.Pos().Offset()), int(at.End().Offset()), "this gives tools a meaning of its own, so no call of the script can be seen before the start")
	},
}

var ruleHidden = &Rule{
	Code: "TIS502", Name: "hidden-calls", Severity: Info,
	Title: "A command that may hide calls",
	Why: "A command word, a text for eval or a file that is not known before the run may call any tool. Such calls are judged as they happen, " +
		"and the plan of the script says that it is not complete.",
	Exceptions: "The command is known to call nothing.",
	Bad:        "action=list-pulls\ncommand_line=\"tools github $action repo=acme/api\"\neval \"$command_line\"\n",
	Good:       "action=list-pulls\ntools github \"$action\" repo=acme/api\n",
	check: func(p *pass) {
		for _, h := range p.script.Hidden() {
			end := h.Offset + p.word(h.Offset)
			if h.Exact && len(h.Node.Args) > 0 {
				end = h.Offset + int(h.Node.End().Offset()) - int(h.Node.Pos().Offset())
			}
			what := "this command"
			if len(h.Node.Args) > 0 {
				if name, ok := analyze.Literal(h.Node.Args[0]); ok {
					what = name
				}
			}
			p.report(h.Offset, end, "%s may call tools that cannot be seen before the run", what)
		}
	},
}

var ruleDead = &Rule{
	Code: "TIS503", Name: "never-reached", Severity: Warning,
	Title: "A call that is never reached",
	Why:   "The script has ended before it, on every way. Nobody is asked about it and it is never made.",
	Bad:   "tools github list-pulls repo=acme/api\nexit 0\ntools linear list-issues\n",
	Good:  "tools github list-pulls repo=acme/api\ntools linear list-issues\n",
	check: func(p *pass) {
		lists := func(list []*syntax.Stmt, inFunction bool) {
			for i, s := range list {
				if !leavesFor(s, inFunction) {
					continue
				}
				for _, later := range list[i+1:] {
					if dead := firstTools(later); dead != nil {
						f := p.report(int(dead.Pos().Offset()), int(dead.Args[0].End().Offset()), "this call is never reached")
						f.Notes = append(f.Notes, Note{p.at(int(s.Pos().Offset())), p.at(int(s.End().Offset())), "the script never goes on behind this"})
						return
					}
				}
				return
			}
		}
		depth := 0
		var stack []bool
		syntax.Walk(p.script.File, func(n syntax.Node) bool {
			if n == nil {
				if stack[len(stack)-1] {
					depth--
				}
				stack = stack[:len(stack)-1]
				return false
			}
			_, isFunc := n.(*syntax.FuncDecl)
			if isFunc {
				depth++
			}
			stack = append(stack, isFunc)
			switch n := n.(type) {
			case *syntax.File:
				lists(n.Stmts, false)
			case *syntax.Block:
				lists(n.Stmts, depth > 0)
			case *syntax.Subshell:
				lists(n.Stmts, depth > 0)
			case *syntax.IfClause:
				lists(n.Then, depth > 0)
			case *syntax.ForClause:
				lists(n.Do, depth > 0)
			case *syntax.WhileClause:
				lists(n.Do, depth > 0)
			}
			return true
		})
	},
}

// leavesFor reports whether nothing behind a statement is ever reached.
func leavesFor(s *syntax.Stmt, inFunction bool) bool {
	c, ok := s.Cmd.(*syntax.CallExpr)
	if !ok || s.Background || s.Negated || len(c.Args) == 0 || len(s.Redirs) > 0 {
		return false
	}
	switch c.Args[0].Lit() {
	case "exit":
		return len(c.Args) < 3
	case "return":
		return inFunction && len(c.Args) < 3
	case "exec":
		return len(c.Args) > 1
	}
	return false
}

// firstTools is the first literal tools command of a statement that is run
// where it stands.
func firstTools(s *syntax.Stmt) (found *syntax.CallExpr) {
	syntax.Walk(s, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.FuncDecl:
			return false
		case *syntax.CallExpr:
			if len(n.Args) > 0 && n.Args[0].Lit() == "tools" && found == nil {
				found = n
			}
		}
		return found == nil
	})
	return found
}
