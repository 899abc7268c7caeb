package dialect

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// Repair rewrites what the interpreter would do differently from bash and that
// can be written so that both agree, and reports whether there was anything. It
// comes after Find, and after everything that looks at a command's place: a
// command on the right of a pipe may stand in a subshell afterwards.
func Repair(file *syntax.File) (changed bool) {
	r := repairer{functions: map[string]bool{}, tested: map[syntax.Node]bool{}}
	syntax.Walk(file, func(node syntax.Node) bool {
		if f, ok := node.(*syntax.FuncDecl); ok && f.Name != nil {
			r.functions[f.Name.Value] = true
		}
		return true
	})
	r.errexit = usesErrexit(file)
	// Walk leaves nodes in the order in which it came to them.
	var stack []syntax.Node
	syntax.Walk(file, func(node syntax.Node) bool {
		if node == nil {
			if r.tested[stack[len(stack)-1]] {
				r.testing--
			}
			stack = stack[:len(stack)-1]
			return false
		}
		stack = append(stack, node)
		if r.tested[node] {
			r.testing++
		}
		r.node(node)
		return true
	})
	return r.changed
}

type repairer struct {
	functions map[string]bool      // that the file defines
	errexit   bool                 // set -e may be on
	tested    map[syntax.Node]bool // statements whose failure is looked at
	testing   int                  // how many of them are around the node
	changed   bool
}

func (r *repairer) node(node syntax.Node) {
	switch n := node.(type) {
	case *syntax.Stmt:
		r.stmt(n)
	case *syntax.IfClause:
		r.test(n.Cond...)
	case *syntax.WhileClause:
		r.test(n.Cond...)
	case *syntax.BinaryCmd:
		if n.Op == syntax.AndStmt || n.Op == syntax.OrStmt {
			r.test(n.X)
		} else {
			r.pipe(n)
		}
	case *syntax.Subshell:
		if r.testing > 0 {
			n.Stmts = r.relaxed(n.Stmts)
		}
	case *syntax.CmdSubst:
		n.Stmts = r.relaxed(n.Stmts)
	case *syntax.CallExpr:
		if len(n.Args) == 1 && n.Args[0].Lit() == "return" && len(n.Assigns) == 0 {
			// The interpreter returns 0 and not the status of what came before.
			at := n.Args[0].End()
			n.Args = append(n.Args, &syntax.Word{Parts: []syntax.WordPart{&syntax.ParamExp{Dollar: at, Rbrace: at, Short: true, Param: &syntax.Lit{ValuePos: at, ValueEnd: at, Value: "?"}}}})
			r.changed = true
		}
		for _, w := range n.Args[min(1, len(n.Args)):] {
			r.argument(w)
		}
	case *syntax.Assign:
		r.tildes(n.Value, 0)
	case *syntax.DeclClause:
		if n.Variant.Value == "local" {
			r.emptyLocals(n)
		}
	}
}

// test notes statements whose failure is looked at: set -e does not end the
// shell in them, nor in the subshells that they start. The interpreter forgets
// that in subshells.
func (r *repairer) test(stmts ...*syntax.Stmt) {
	for _, s := range stmts {
		r.tested[s] = true
	}
}

// relaxed is a subshell's statements with set -e turned off first, as bash has
// it for a subshell whose failure is looked at and for every substitution.
func (r *repairer) relaxed(stmts []*syntax.Stmt) []*syntax.Stmt {
	if !r.errexit || len(stmts) == 0 || len(stmts) == 1 && r.simple(stmts[0]) || readsStatus(stmts[0]) {
		return stmts
	}
	r.changed = true
	return append([]*syntax.Stmt{relax(stmts[0].Pos())}, stmts...)
}

// relax is the statement set +e.
func relax(at syntax.Pos) *syntax.Stmt {
	word := func(s string) *syntax.Word {
		return &syntax.Word{Parts: []syntax.WordPart{&syntax.Lit{ValuePos: at, ValueEnd: at, Value: s}}}
	}
	return &syntax.Stmt{Position: at, Semicolon: at, Cmd: &syntax.CallExpr{Args: []*syntax.Word{word("set"), word("+e")}}}
}

// simple reports whether a statement is one command of a known name that is no
// function: set -e cannot end anything in the middle of it.
func (r *repairer) simple(s *syntax.Stmt) bool {
	c, ok := s.Cmd.(*syntax.CallExpr)
	if !ok {
		return s.Cmd == nil
	}
	if len(c.Args) == 0 {
		return true
	}
	name := c.Args[0].Lit()
	return name != "" && !r.functions[name] && name != "eval" && name != "source" && name != "." && name != "command" && name != "builtin"
}

// readsStatus reports whether a statement looks at $?, which anything put before
// it would change.
func readsStatus(s *syntax.Stmt) bool {
	found, seen := false, 0
	syntax.Walk(s, func(n syntax.Node) bool {
		if seen++; seen > maxLooked {
			found = true
		}
		if x, ok := n.(*syntax.ParamExp); ok && x.Param != nil && x.Param.Value == "?" {
			found = true
		}
		return !found
	})
	return found
}

// maxLooked is how many nodes of a statement are looked at: statements are
// nested, and each is asked about.
const maxLooked = 2000

// usesErrexit reports whether a file may turn set -e on. A text that becomes
// known during the run is asked about in the same way: what it does itself
// counts, and sourced functions bring their own.
func usesErrexit(file *syntax.File) bool {
	found := false
	syntax.Walk(file, func(n syntax.Node) bool {
		c, ok := n.(*syntax.CallExpr)
		if !ok || len(c.Args) == 0 {
			return !found
		}
		switch c.Args[0].Lit() {
		case "set":
			for _, w := range c.Args[1:] {
				word := w.Lit()
				found = found || word == "errexit" || word == "" && len(w.Parts) > 0 || strings.HasPrefix(word, "-") && strings.Contains(word, "e")
			}
		}
		return !found
	})
	return found
}

func (r *repairer) stmt(n *syntax.Stmt) {
	if n.Negated && !r.tested[n] { // the walk has come to it already
		r.tested[n] = true
		r.testing++
	}
	// The interpreter reports times on stdout, where bash uses stderr.
	if t, ok := n.Cmd.(*syntax.TimeClause); ok {
		n.Cmd = &syntax.Block{Lbrace: t.Pos(), Rbrace: t.End()}
		if t.Stmt != nil {
			n.Cmd.(*syntax.Block).Stmts = []*syntax.Stmt{t.Stmt}
		}
		r.changed = true
	}
	before := len(n.Redirs)
	n.Redirs = slices.DeleteFunc(n.Redirs, func(r *syntax.Redirect) bool {
		return r.Op == syntax.DplIn && r.Word.Lit() == "0" // <&0 changes nothing
	})
	r.changed = r.changed || len(n.Redirs) < before
}

// pipe puts the right side of a pipe into a subshell, where bash runs it: what
// it assigns or changes is gone afterwards, and exit ends it alone. The
// interpreter would run it in the shell itself.
func (r *repairer) pipe(n *syntax.BinaryCmd) {
	if n.Op != syntax.Pipe && n.Op != syntax.PipeAll {
		return
	}
	if r.testing > 0 && r.errexit && !r.simple(n.X) && !isPipe(n.X) && !readsStatus(n.X) {
		block := &syntax.Block{Lbrace: n.X.Pos(), Rbrace: n.X.End(), Stmts: []*syntax.Stmt{relax(n.X.Pos()), n.X}}
		n.X = &syntax.Stmt{Position: n.X.Pos(), Cmd: block}
		r.changed = true
	}
	if r.changesNothing(n.Y) {
		return
	}
	n.Y = &syntax.Stmt{Position: n.Y.Pos(), Cmd: &syntax.Subshell{Lparen: n.Y.Pos(), Rparen: n.Y.End(), Stmts: []*syntax.Stmt{n.Y}}}
	r.changed = true
}

func isPipe(s *syntax.Stmt) bool {
	b, ok := s.Cmd.(*syntax.BinaryCmd)
	return ok && (b.Op == syntax.Pipe || b.Op == syntax.PipeAll)
}

// programs are commands of other processes, or as good as that, that often
// stand on the right of a pipe. They need no subshell.
var programs = map[string]bool{"tools": true, "jq": true, "cat": true, "grep": true, "sed": true, "awk": true, "sort": true,
	"uniq": true, "head": true, "tail": true, "wc": true, "cut": true, "tr": true, "tee": true, "xargs": true, "paste": true, "column": true}

func (r *repairer) changesNothing(s *syntax.Stmt) bool {
	if _, ok := s.Cmd.(*syntax.Subshell); ok {
		return !slices.ContainsFunc(s.Redirs, func(r *syntax.Redirect) bool { return assigns(r.Word) })
	}
	call, ok := s.Cmd.(*syntax.CallExpr)
	if !ok || len(call.Assigns) > 0 || len(call.Args) == 0 {
		return false
	}
	name := call.Args[0].Lit()
	return programs[name] && !r.functions[name] && !slices.ContainsFunc(call.Args, assigns) &&
		!slices.ContainsFunc(s.Redirs, func(r *syntax.Redirect) bool { return assigns(r.Word) })
}

// assigns reports whether the expansion of a word may change a variable of the
// shell: ${x:=y}, $((x++)).
func assigns(w *syntax.Word) bool {
	found := false
	if w == nil {
		return false
	}
	syntax.Walk(w, func(node syntax.Node) bool {
		switch n := node.(type) {
		case *syntax.CmdSubst, *syntax.ProcSubst:
			return false // they are subshells themselves
		case *syntax.ArithmExp:
			found = true
		case *syntax.ParamExp:
			found = found || n.Index != nil || n.Slice != nil || n.Exp != nil && (n.Exp.Op == syntax.AssignUnset || n.Exp.Op == syntax.AssignUnsetOrNull)
		}
		return !found
	})
	return found
}

// argument expands the home directory behind the = of an argument that looks
// like an assignment, and behind each : of it, as bash does: branch=~/x.
func (r *repairer) argument(w *syntax.Word) {
	if len(w.Parts) == 0 {
		return
	}
	if first, ok := w.Parts[0].(*syntax.Lit); ok {
		name, _, ok := strings.Cut(first.Value, "=")
		if ok && syntax.ValidName(strings.TrimSuffix(name, "+")) {
			r.tildes(w, len(name)+1)
		}
	}
}

// tildes expands the home directory behind each unquoted : of a word, and at
// start, where its value begins.
func (r *repairer) tildes(w *syntax.Word, start int) {
	if w == nil {
		return
	}
	var parts []syntax.WordPart
	changed := false
	for i, part := range w.Parts {
		lit, ok := part.(*syntax.Lit)
		if !ok {
			parts = append(parts, part)
			continue
		}
		text, done := lit.Value, 0
		for at := 0; at < len(text); at++ {
			if text[at] == '\\' {
				at++
				continue
			}
			begins := i == 0 && at == start || at > 0 && text[at-1] == ':' && (i > 0 || at > start)
			if text[at] != '~' || !begins {
				continue
			}
			last := at+1 == len(text)
			if last && i+1 < len(w.Parts) || !last && text[at+1] != '/' && text[at+1] != ':' {
				continue // ~name, which there is none of here
			}
			parts = append(parts, literal(lit, text[done:at]), home(lit.Pos()))
			done, changed = at+1, true
		}
		if done < len(text) || done == 0 {
			parts = append(parts, literal(lit, text[done:]))
		}
	}
	if changed {
		w.Parts, r.changed = parts, true
	}
}

func literal(like *syntax.Lit, text string) *syntax.Lit {
	return &syntax.Lit{ValuePos: like.ValuePos, ValueEnd: like.ValueEnd, Value: text}
}

// home is "$HOME".
func home(at syntax.Pos) syntax.WordPart {
	return &syntax.DblQuoted{Left: at, Right: at, Parts: []syntax.WordPart{
		&syntax.ParamExp{Dollar: at, Short: true, Rbrace: at, Param: &syntax.Lit{ValuePos: at, ValueEnd: at, Value: "HOME"}}}}
}

// emptyLocals gives `local x` an empty value: the interpreter would let it keep
// the value of the caller's x.
func (r *repairer) emptyLocals(d *syntax.DeclClause) {
	array := false
	for _, a := range d.Args {
		array = array || strings.ContainsAny(flags(a), "aA")
		if strings.Contains(flags(a), "n") || strings.Contains(flags(a), "p") {
			return
		}
	}
	for _, a := range d.Args {
		if a.Name == nil || !a.Naked {
			continue
		}
		a.Naked, r.changed = false, true
		if array {
			a.Array = &syntax.ArrayExpr{}
		} else {
			a.Value = &syntax.Word{}
		}
	}
}
