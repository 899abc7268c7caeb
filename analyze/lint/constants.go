package lint

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/tools-in-shell/tis/analyze"
)

// constant is a variable that has one known value from an offset on.
type constant struct {
	value string
	from  int
}

// constants finds the variables that are assigned once in the whole script, a
// literal value, by a statement of its own that nothing skips. A script that
// runs texts or files that are not known has none.
func constants(file *syntax.File) map[string]constant {
	out := map[string]constant{}
	for _, s := range file.Stmts {
		c, ok := s.Cmd.(*syntax.CallExpr)
		if !ok || len(c.Args) > 0 || s.Background || s.Negated {
			continue
		}
		for _, a := range c.Assigns {
			if a.Append || a.Index != nil || a.Array != nil || a.Name == nil {
				continue
			}
			value, ok := "", a.Value == nil
			if !ok {
				value, ok = analyze.Literal(a.Value)
			}
			if ok {
				out[a.Name.Value] = constant{value, int(a.End().Offset())}
			}
		}
	}
	if len(out) == 0 {
		return out
	}
	count := map[string]int{}
	syntax.Walk(file, func(n syntax.Node) bool {
		changed, all := changes(n)
		if all {
			clear(out)
		}
		for _, name := range changed {
			count[name]++
		}
		return true
	})
	for name, n := range count {
		if n > 1 {
			delete(out, name)
		}
	}
	return out
}

// assigned reports whether a piece of code may give a variable another value.
func assigned(stmts []*syntax.Stmt, name string) bool {
	found := false
	for _, s := range stmts {
		syntax.Walk(s, func(n syntax.Node) bool {
			changed, all := changes(n)
			found = found || all || slices.Contains(changed, name)
			return !found
		})
	}
	return found
}

// changes lists the variables that a node itself may change; all says that it
// may change any.
func changes(n syntax.Node) (names []string, all bool) {
	switch n := n.(type) {
	case *syntax.Assign:
		if n.Name != nil {
			names = append(names, n.Name.Value)
		}
	case *syntax.ForClause:
		if iter, ok := n.Loop.(*syntax.WordIter); ok {
			names = append(names, iter.Name.Value)
		}
	case *syntax.ParamExp:
		if n.Param != nil && n.Exp != nil && (n.Exp.Op == syntax.AssignUnset || n.Exp.Op == syntax.AssignUnsetOrNull) {
			names = append(names, n.Param.Value)
		}
		if n.Excl {
			return nil, false
		}
	case *syntax.ArithmExp, *syntax.ArithmCmd, *syntax.LetClause, *syntax.CStyleLoop:
		syntax.Walk(n, func(x syntax.Node) bool {
			switch x := x.(type) {
			case *syntax.BinaryArithm:
				if strings.HasSuffix(x.Op.String(), "=") && x.Op != syntax.Eql && x.Op != syntax.Neq && x.Op != syntax.Leq && x.Op != syntax.Geq {
					names = append(names, wordsIn(x.X)...)
				}
			case *syntax.UnaryArithm:
				if x.Op == syntax.Inc || x.Op == syntax.Dec {
					names = append(names, wordsIn(x.X)...)
				}
			}
			return true
		})
	case *syntax.CallExpr:
		if len(n.Args) == 0 {
			return nil, false
		}
		cmd, ok := analyze.Literal(n.Args[0])
		if !ok {
			return nil, true // it may be any builtin
		}
		switch cmd {
		case "eval", "source", ".", "trap":
			return nil, true
		case "read", "mapfile", "readarray", "unset", "getopts", "printf", "wait", "local", "declare", "export", "readonly", "typeset", "command", "builtin":
			for _, w := range n.Args[1:] {
				name, ok := analyze.Literal(w)
				if !ok && cmd != "printf" {
					return nil, true
				}
				name, _, _ = strings.Cut(name, "[")
				names = append(names, name)
			}
		}
	}
	return names, false
}

func wordsIn(x syntax.Node) (names []string) {
	syntax.Walk(x, func(n syntax.Node) bool {
		if lit, ok := n.(*syntax.Lit); ok {
			names = append(names, lit.Value)
		}
		return true
	})
	return names
}

// uses reports whether a word expands a variable as it is.
func uses(w *syntax.Word, name string) bool {
	found := false
	syntax.Walk(w, func(n syntax.Node) bool {
		if x, ok := n.(*syntax.ParamExp); ok && plain(x) == name {
			found = true
		}
		return !found
	})
	return found
}

// plain is the name of a variable that is expanded as it is, else "".
func plain(x *syntax.ParamExp) string {
	if x.Param == nil || x.Flags != nil || x.Excl || x.Length || x.Width || x.Index != nil || x.Slice != nil || x.Repl != nil || x.Names != 0 || x.Exp != nil || x.NestedParam != nil || len(x.Modifiers) > 0 {
		return ""
	}
	return x.Param.Value
}

// value is what a word is with constants, and one loop variable, put in. at is
// where it stands.
func (p *pass) value(w *syntax.Word, loop, item string, at int) (string, bool) {
	out := &syntax.Word{}
	put := func(x *syntax.ParamExp, quoted bool) bool {
		name := plain(x)
		value := item
		if name == "" || name != loop {
			c, ok := p.consts[name]
			if !ok || at < c.from {
				return false
			}
			value = c.value
		}
		if !quoted && (value == "" || strings.ContainsAny(value, " \t\n*?[\\~")) {
			return false
		}
		out.Parts = append(out.Parts, &syntax.SglQuoted{Value: value})
		return true
	}
	for _, part := range w.Parts {
		switch part := part.(type) {
		case *syntax.ParamExp:
			if !put(part, false) {
				return "", false
			}
		case *syntax.DblQuoted:
			if part.Dollar {
				return "", false
			}
			out.Parts = append(out.Parts, &syntax.DblQuoted{})
			for _, inner := range part.Parts {
				if x, ok := inner.(*syntax.ParamExp); ok {
					if !put(x, true) {
						return "", false
					}
					continue
				}
				out.Parts = append(out.Parts, &syntax.DblQuoted{Parts: []syntax.WordPart{inner}})
			}
		default:
			out.Parts = append(out.Parts, part)
		}
	}
	return analyze.Literal(out)
}
