package lint

import (
	"strconv"

	"mvdan.cc/sh/v3/syntax"

	"github.com/tools-in-shell/tis/analyze"
)

var ruleTooMany = &Rule{
	Code: "TIS301", Name: "too-many-calls", Severity: Error,
	Title:      "More calls than a run may make",
	Why:        "A run may make 50 calls unless the host allows more. The next one stops it, with what came before done. Loops whose turns are known are multiplied out; branches count with the smaller side.",
	Exceptions: "The host's limit is higher (`limits.calls`).",
	Bad:        "for n in {1..60}; do\n  tools github get-pull repo=acme/api \"number=$n\"\ndone\n",
	Good:       "tools github get-pulls '{\"repo\":\"acme/api\",\"numbers\":[1,2,3]}'\n",
	check: func(p *pass) {
		k := counter{p: p, calls: map[*syntax.CallExpr]*call{}, funcs: map[string]*syntax.Stmt{}}
		for _, c := range p.calls {
			if c.Exact && c.Node != nil && !c.help() {
				k.calls[c.Node] = c
			}
		}
		syntax.Walk(p.script.File, func(n syntax.Node) bool {
			if f, ok := n.(*syntax.FuncDecl); ok && f.Name != nil {
				k.funcs[f.Name.Value] = f.Body
			}
			return true
		})
		n := k.stmts(p.script.File.Stmts)
		if n <= p.o.MaxCalls || k.over == nil {
			return
		}
		start, end := k.over.name()
		p.report(start, end, "the script makes at least %d calls, and a run may make %d; it stops in %s", n, p.o.MaxCalls, k.over.said())
	},
}

// help reports whether the command only prints something.
func (c *call) help() bool {
	if c.tool != nil {
		return false
	}
	if c.pass.o.Catalog == nil {
		for _, a := range c.Args {
			if a == "--help" || a == "-h" {
				return true
			}
		}
		return len(c.Args) == 0 && c.Known
	}
	return c.Known && c.unknown == nil
}

// counter counts the calls that a script makes for certain.
type counter struct {
	p     *pass
	calls map[*syntax.CallExpr]*call
	funcs map[string]*syntax.Stmt
	depth int
	total int   // so far, each loop's first turn alone
	over  *call // the call that is one too many, or stands in the loop that is
}

// most bounds what is counted.
const most = 1 << 20

func (k *counter) stmts(list []*syntax.Stmt) int {
	n := 0
	for _, s := range list {
		n = min(n+k.stmt(s), most)
		if ends(s) {
			break
		}
	}
	return n
}

// ends reports whether nothing behind a statement is certain to run.
func ends(s *syntax.Stmt) bool {
	c, ok := s.Cmd.(*syntax.CallExpr)
	if !ok || len(c.Args) == 0 {
		return false
	}
	switch c.Args[0].Lit() {
	case "exit", "return", "break", "continue", "exec":
		return true
	}
	return false
}

func (k *counter) stmt(s *syntax.Stmt) int {
	if s == nil || s.Cmd == nil {
		return 0
	}
	switch c := s.Cmd.(type) {
	case *syntax.CallExpr:
		n := 0
		if found := k.calls[c]; found != nil {
			n = 1
			k.note(found, 1)
		} else if len(c.Args) > 0 {
			if body := k.funcs[c.Args[0].Lit()]; body != nil && k.depth < 20 {
				k.depth++
				n = k.stmt(body)
				k.depth--
			}
		}
		return min(n+k.inside(c), most)
	case *syntax.BinaryCmd:
		n := k.stmt(c.X)
		if c.Op == syntax.Pipe || c.Op == syntax.PipeAll {
			n += k.stmt(c.Y)
		}
		return min(n, most)
	case *syntax.Block:
		return k.stmts(c.Stmts)
	case *syntax.Subshell:
		return k.stmts(c.Stmts)
	case *syntax.TimeClause:
		return k.stmt(c.Stmt)
	case *syntax.IfClause:
		return k.ifs(c)
	case *syntax.WhileClause:
		return k.stmts(c.Cond)
	case *syntax.ForClause:
		if leaves(c.Do) {
			return 0
		}
		turns := k.turns(c)
		before := k.total
		one := k.stmts(c.Do)
		if turns > 1 && one > 0 {
			k.total = before
			if first := k.first(c.Do); first != nil {
				k.note(first, min(one*turns, most))
			}
		}
		return min(one*turns, most)
	}
	return 0
}

// leaves reports whether a loop's body may leave it early.
func leaves(body []*syntax.Stmt) bool {
	found := false
	for _, s := range body {
		syntax.Walk(s, func(n syntax.Node) bool {
			if c, ok := n.(*syntax.CallExpr); ok && len(c.Args) > 0 {
				switch c.Args[0].Lit() {
				case "break", "exit", "return", "exec":
					found = true
				}
			}
			return !found
		})
	}
	return found
}

func (k *counter) ifs(c *syntax.IfClause) int {
	n := k.stmts(c.Cond)
	quiet := *k // branches are not certain, so no call in them is the one too many
	then := quiet.stmts(c.Then)
	if c.Else == nil {
		return n
	}
	return min(n+min(then, quiet.ifs(c.Else)), most)
}

// inside counts the calls in substitutions.
func (k *counter) inside(c *syntax.CallExpr) int {
	n := 0
	for _, w := range c.Args {
		syntax.Walk(w, func(x syntax.Node) bool {
			if sub, ok := x.(*syntax.CmdSubst); ok {
				n += k.stmts(sub.Stmts)
				return false
			}
			return true
		})
	}
	return n
}

func (k *counter) note(c *call, n int) {
	if k.total += n; k.total > k.p.o.MaxCalls && k.over == nil {
		k.over = c
	}
}

// first is the first call that a piece of code makes, in the functions that it
// calls too.
func (k *counter) first(stmts []*syntax.Stmt) (found *call) {
	for _, s := range stmts {
		syntax.Walk(s, func(n syntax.Node) bool {
			if c, ok := n.(*syntax.CallExpr); ok && found == nil {
				found = k.calls[c]
				if found == nil && len(c.Args) > 0 && k.depth < 20 {
					if body := k.funcs[c.Args[0].Lit()]; body != nil {
						k.depth++
						found = k.first([]*syntax.Stmt{body})
						k.depth--
					}
				}
			}
			return found == nil
		})
	}
	return found
}

// turns is how often a loop runs for certain.
func (k *counter) turns(c *syntax.ForClause) int {
	switch l := c.Loop.(type) {
	case *syntax.WordIter:
		n := 0
		for _, w := range l.Items {
			n += k.words(w)
		}
		return min(n, most)
	case *syntax.CStyleLoop:
		return counted(l)
	}
	return 0
}

// words is how many words a word becomes, 0 when it is not known.
func (k *counter) words(w *syntax.Word) int {
	if _, ok := analyze.Literal(w); ok {
		return 1
	}
	if len(w.Parts) == 1 {
		if sub, ok := w.Parts[0].(*syntax.CmdSubst); ok && len(sub.Stmts) == 1 {
			if c, ok := sub.Stmts[0].Cmd.(*syntax.CallExpr); ok && len(c.Args) > 1 && c.Args[0].Lit() == "seq" {
				return sequence(c.Args[1:])
			}
			return 0
		}
	}
	return analyze.BraceWords(w)
}

// sequence is how many numbers seq prints.
func sequence(args []*syntax.Word) int {
	var n []int
	for _, a := range args {
		v, err := strconv.Atoi(a.Lit())
		if err != nil {
			return 0
		}
		n = append(n, v)
	}
	from, step, to := 1, 1, 0
	switch len(n) {
	case 1:
		to = n[0]
	case 2:
		from, to = n[0], n[1]
	case 3:
		from, step, to = n[0], n[1], n[2]
	default:
		return 0
	}
	if step <= 0 || to < from {
		return 0
	}
	return min((to-from)/step+1, most)
}

// counted is how often ((i=0; i<60; i++)) runs.
func counted(l *syntax.CStyleLoop) int {
	init, ok1 := l.Init.(*syntax.BinaryArithm)
	cond, ok2 := l.Cond.(*syntax.BinaryArithm)
	post, ok3 := l.Post.(*syntax.UnaryArithm)
	if !ok1 || !ok2 || !ok3 || init.Op != syntax.Assgn || post.Op != syntax.Inc {
		return 0
	}
	from, ok1 := integer(init.Y)
	to, ok2 := integer(cond.Y)
	name := literal(init.X)
	if !ok1 || !ok2 || name == "" || literal(cond.X) != name || literal(post.X) != name {
		return 0
	}
	switch cond.Op {
	case syntax.Lss:
	case syntax.Leq:
		to++
	default:
		return 0
	}
	return min(max(to-from, 0), most)
}

func literal(x syntax.ArithmExpr) string {
	w, ok := x.(*syntax.Word)
	if !ok {
		return ""
	}
	return w.Lit()
}

func integer(x syntax.ArithmExpr) (int, bool) {
	n, err := strconv.Atoi(literal(x))
	return n, err == nil
}

var ruleUnbounded = &Rule{
	Code: "TIS302", Name: "no-bound", Severity: Warning,
	Title:      "Calls in a loop that nothing in it ends",
	Why:        "The loop goes on until the run's call limit or time limit stops the script, which loses what comes after it.",
	Exceptions: "A function that the loop calls ends the script.",
	Bad:        "while true; do\n  tools github list-pulls repo=acme/api | jq length\n  sleep 5\ndone\n",
	Good:       "for i in 1 2 3 4 5; do\n  n=$(tools github list-pulls repo=acme/api | jq length)\n  if [ \"$n\" -eq 0 ]; then break; fi\n  sleep 5\ndone\n",
	check: func(p *pass) {
		told := map[syntax.Node]bool{}
		for _, c := range p.calls {
			for _, n := range c.parents {
				var body []*syntax.Stmt
				switch l := n.(type) {
				case *syntax.WhileClause:
					if endless(l) {
						body = l.Do
					}
				case *syntax.ForClause:
					if s, ok := l.Loop.(*syntax.CStyleLoop); ok && s.Cond == nil {
						body = l.Do
					}
				}
				if body == nil || leaves(body) || told[n] || c.help() {
					continue
				}
				told[n] = true
				f := p.report(int(n.Pos().Offset()), int(n.Pos().Offset())+p.word(int(n.Pos().Offset())), "nothing in this loop ends it, and it calls %s", c.said())
				start, end := c.name()
				f.Notes = append(f.Notes, Note{p.at(start), p.at(end), "called in every turn"})
			}
		}
	},
}

// endless reports whether the condition of a loop always holds.
func endless(l *syntax.WhileClause) bool {
	if len(l.Cond) != 1 || l.Cond[0].Negated {
		return false
	}
	switch c := l.Cond[0].Cmd.(type) {
	case *syntax.CallExpr:
		if len(c.Args) != 1 {
			return false
		}
		name := c.Args[0].Lit()
		return !l.Until && (name == "true" || name == ":") || l.Until && name == "false"
	case *syntax.ArithmCmd:
		n, ok := integer(c.X)
		return ok && (n != 0) != l.Until
	}
	return false
}
