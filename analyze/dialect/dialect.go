// Package dialect knows where this shell is not bash: the constructs that the
// interpreter would silently do differently, and what can be rewritten so that
// both agree.
//
// A script that holds one of the former does not start. The package looks at
// the tree alone and runs nothing. Start reading at Find.
package dialect

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// Code is the code of a difference, in messages and in the linter.
const Code = "TIS002"

// Difference is a construct that this shell would not do as bash does it.
type Difference struct {
	// Node is the construct.
	Node syntax.Node
	// What says what is not supported and what to write instead.
	What string
}

// Error is the difference as the script's writer sees it: place, code, reason.
func (d *Difference) Error() string {
	pos := d.Node.Pos()
	return fmt.Sprintf("%d:%d: %s: %s", pos.Line(), pos.Col(), Code, d.What)
}

// Check returns the first difference of the file, or nil.
func Check(file *syntax.File) error {
	if found := Find(file); len(found) > 0 {
		return found[0]
	}
	return nil
}

// Find lists the differences of the file in source order. It never changes the
// tree; Repair comes after it.
func Find(file *syntax.File) []*Difference {
	c := checker{assoc: map[string]bool{}}
	syntax.Walk(file, c.declared)
	syntax.Walk(file, c.node)
	// The tree has a command's redirects after its words, wherever they stand.
	slices.SortStableFunc(c.found, func(a, b *Difference) int {
		return cmp.Compare(a.Node.Pos().Offset(), b.Node.Pos().Offset())
	})
	return c.found
}

type checker struct {
	assoc map[string]bool // names declared as associative arrays
	found []*Difference
}

func (c *checker) refuse(node syntax.Node, format string, args ...any) {
	c.found = append(c.found, &Difference{node, fmt.Sprintf(format, args...)})
}

func (c *checker) declared(node syntax.Node) bool {
	if d, ok := node.(*syntax.DeclClause); ok && slices.ContainsFunc(d.Args, func(a *syntax.Assign) bool {
		return flags(a) != "" && strings.Contains(flags(a), "A")
	}) {
		for _, a := range d.Args {
			if a.Name != nil {
				c.assoc[a.Name.Value] = true
			}
		}
	}
	return true
}

// flags is a declaration's argument when it is a word of options.
func flags(a *syntax.Assign) string {
	word := ""
	if a.Name == nil && a.Value != nil {
		word = a.Value.Lit()
	}
	if strings.HasPrefix(word, "-") || strings.HasPrefix(word, "+") {
		return word[1:]
	}
	return ""
}

func (c *checker) node(node syntax.Node) bool {
	switch n := node.(type) {
	case *syntax.CoprocClause:
		c.refuse(n, "coproc is not supported; use a background job and files")
	case *syntax.Redirect:
		c.redirect(n)
	case *syntax.ParamExp:
		c.param(n)
	case *syntax.Assign:
		if n.Append && n.Index != nil {
			c.refuse(n, "appending to one array element is not supported; write the element out: a[i]=\"${a[i]}x\"")
		}
		if n.Name != nil {
			c.subscript(n.Name.Value, n.Index)
		}
	case *syntax.DeclClause:
		for _, a := range n.Args {
			if f := flags(a); strings.ContainsAny(f, "ilu") && n.Variant.Value != "export" {
				c.refuse(a, "%s -%s is not supported; use $(( )) or ${x,,} and ${x^^}", n.Variant.Value, f)
			}
		}
	case *syntax.BinaryTest:
		c.matched(n)
	case *syntax.UnaryTest:
		if w, ok := n.X.(*syntax.Word); ok && n.Op == syntax.TsVarSet && strings.Contains(printed(w), "[") {
			c.refuse(n, "[[ -v a[i] ]] is not supported; use [[ -n ${a[i]+set} ]]")
		}
	case *syntax.Subshell:
		c.exitTrap(n.Stmts)
	case *syntax.CmdSubst:
		c.exitTrap(n.Stmts)
	case *syntax.CallExpr:
		c.call(n)
	case *syntax.FuncDecl:
		if n.Name != nil && n.Name.Value == "read" {
			c.refuse(n, "a function named read is not supported; give it another name")
		}
	}
	return true
}

func (c *checker) redirect(r *syntax.Redirect) {
	if r.N != nil && !slices.Contains([]string{"0", "1", "2"}, r.N.Value) {
		c.refuse(r, "file descriptor %s is not supported; only 0, 1 and 2 are", r.N.Value)
	}
	if r.Op == syntax.RdrInOut || r.Op == syntax.RdrClob {
		c.refuse(r, "the redirect %s is not supported; use < or >", r.Op)
	}
	target := ""
	if r.Word != nil {
		target = r.Word.Lit()
	}
	if r.Op == syntax.DplOut && !slices.Contains([]string{"1", "2", "-"}, target) {
		c.refuse(r, "the redirect >&%s is not supported; only >&1, >&2 and >&- are", printed(r.Word))
	}
	if r.Op == syntax.DplIn && !slices.Contains([]string{"0", "-"}, target) {
		c.refuse(r, "the redirect <&%s is not supported; use < FILE", printed(r.Word))
	}
}

func (c *checker) param(p *syntax.ParamExp) {
	if p.Param == nil {
		return
	}
	name := p.Param.Value
	switch name {
	case "PIPESTATUS":
		c.refuse(p, "PIPESTATUS is not supported; use set -o pipefail, or run the stages one by one")
	case "SECONDS":
		c.refuse(p, "SECONDS is not supported; take the difference of two $(date +%%s)")
	case "BASH_SOURCE", "FUNCNAME", "BASH_LINENO", "BASH_REMATCH_":
		c.refuse(p, "%s is not supported", name)
	}
	if p.Length && c.assoc[name] && p.Index != nil {
		c.refuse(p, "${#%s[@]} of an associative array is not supported; count its keys: set -- \"${!%s[@]}\"; echo $#", name, name)
	}
	if p.Repl != nil && p.Repl.Orig != nil {
		if o := printed(p.Repl.Orig); strings.HasPrefix(o, "#") || strings.HasPrefix(o, "%") {
			c.refuse(p, "anchored replacement ${%s/%s...} is not supported; use ${%s#pattern} or ${%s%%pattern}", name, o[:1], name, name)
		}
	}
	if p.Exp != nil && p.Exp.Word != nil && len(p.Exp.Word.Parts) > 0 && allOf(p.Index) && (p.Exp.Op == syntax.DefaultUnset || p.Exp.Op == syntax.DefaultUnsetOrNull) {
		c.refuse(p, "a default for a whole array is not supported; test its length first: if ((${#%s[@]}))", name)
	}
	c.subscript(name, p.Index)
}

// allOf reports whether an index means every element.
func allOf(index syntax.ArithmExpr) bool {
	w, ok := index.(*syntax.Word)
	return ok && (w.Lit() == "@" || w.Lit() == "*")
}

// matched refuses a pattern of =~ whose quoted part would have to be taken as
// it is: the interpreter takes it for a pattern all the same.
func (c *checker) matched(b *syntax.BinaryTest) {
	w, ok := b.Y.(*syntax.Word)
	if !ok || b.Op != syntax.TsReMatch {
		return
	}
	for _, part := range w.Parts {
		text := ""
		switch part := part.(type) {
		case *syntax.SglQuoted:
			text = part.Value
		case *syntax.DblQuoted:
			for _, inner := range part.Parts {
				if lit, ok := inner.(*syntax.Lit); ok {
					text += lit.Value
				}
			}
		}
		if strings.ContainsAny(text, `.*+?()[]{}|^$`) {
			c.refuse(w, "a quoted part of a pattern of =~ is not supported; write its special characters with a backslash, or use [[ x == *text* ]]")
			return
		}
	}
}

// subscript refuses keys of associative arrays that parse as arithmetic, such
// as m[a-b]: the interpreter cannot read them.
func (c *checker) subscript(name string, index syntax.ArithmExpr) {
	if index == nil || !c.assoc[name] {
		return
	}
	if _, ok := index.(*syntax.Word); !ok {
		c.refuse(index, "the key of %s has to be quoted: %s[\"...\"]", name, name)
	}
}

// exitTrap refuses an EXIT trap of a subshell, which the interpreter would
// never run.
func (c *checker) exitTrap(stmts []*syntax.Stmt) {
	for _, stmt := range stmts {
		call, ok := stmt.Cmd.(*syntax.CallExpr)
		if !ok || len(call.Args) < 3 || call.Args[0].Lit() != "trap" {
			continue
		}
		for _, w := range call.Args[2:] {
			if l := w.Lit(); l == "EXIT" || l == "0" {
				c.refuse(call, "an EXIT trap in a subshell is not supported; set it in the script itself")
			}
		}
	}
}

func (c *checker) call(call *syntax.CallExpr) {
	if len(call.Args) < 2 {
		return
	}
	options := func(letters string) string {
		for _, w := range call.Args[1:] {
			l := w.Lit()
			if len(l) < 2 || l[0] != '-' {
				return ""
			}
			if i := strings.IndexAny(l[1:], letters); i >= 0 {
				return l[1+i : 2+i]
			}
		}
		return ""
	}
	switch call.Args[0].Lit() {
	case "read":
		if o := options("u"); o != "" {
			c.refuse(call, "read -u is not supported; redirect the file to the command")
		}
	case "printf":
		if call.Args[1].Lit() == "-v" {
			c.refuse(call, "printf -v is not supported; use x=$(printf ...)")
		} else if strings.Contains(printed(call.Args[1]), "%q") {
			c.refuse(call, "printf %%q is not supported; use ${x@Q}")
		}
	case "wait":
		if o := options("np"); o != "" {
			c.refuse(call, "wait -%s is not supported; wait for each job by its number", o)
		}
	case "mapfile", "readarray":
		if o := options("nOsuCc"); o != "" {
			c.refuse(call, "%s -%s is not supported", call.Args[0].Lit(), o)
		}
	}
}

// printed is a word roughly as it was written.
func printed(w *syntax.Word) string {
	var b strings.Builder
	if w != nil {
		syntax.NewPrinter().Print(&b, w)
	}
	return b.String()
}
