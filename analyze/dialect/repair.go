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
	r := repairer{functions: map[string]bool{}}
	syntax.Walk(file, func(node syntax.Node) bool {
		if f, ok := node.(*syntax.FuncDecl); ok && f.Name != nil {
			r.functions[f.Name.Value] = true
		}
		return true
	})
	syntax.Walk(file, func(node syntax.Node) bool {
		switch n := node.(type) {
		case *syntax.Stmt:
			r.stmt(n)
		case *syntax.BinaryCmd:
			r.pipe(n)
		case *syntax.CallExpr:
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
		return true
	})
	return r.changed
}

type repairer struct {
	functions map[string]bool // that the file defines
	changed   bool
}

func (r *repairer) stmt(n *syntax.Stmt) {
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
	if n.Op != syntax.Pipe && n.Op != syntax.PipeAll || r.changesNothing(n.Y) {
		return
	}
	n.Y = &syntax.Stmt{Position: n.Y.Pos(), Cmd: &syntax.Subshell{Lparen: n.Y.Pos(), Rparen: n.Y.End(), Stmts: []*syntax.Stmt{n.Y}}}
	r.changed = true
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
