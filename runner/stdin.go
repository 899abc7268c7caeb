package runner

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/tools-in-shell/tis/analyze"
	"github.com/tools-in-shell/tis/analyze/dialect"
)

// attachedBit marks, in the offset of a command's first word, that its stdin
// is attached to that very command. Texts are at most 4 MiB, so no offset
// reaches it.
const attachedBit = 1 << 31

// isAttached reports whether a handler's position carries the mark.
func isAttached(pos syntax.Pos) bool { return pos.Offset()&attachedBit != 0 }

// markTree sets the mark on every attached command of file.
func markTree(file *syntax.File) {
	analyze.StdinAttached(file, func(call *syntax.CallExpr) {
		if len(call.Args) > 0 && len(call.Args[0].Parts) > 0 {
			markPart(call.Args[0].Parts[0])
		}
	})
}

func markPart(part syntax.WordPart) {
	mark := func(p *syntax.Pos) { *p = syntax.NewPos(p.Offset()|attachedBit, p.Line(), p.Col()) }
	switch p := part.(type) {
	case *syntax.Lit:
		mark(&p.ValuePos)
	case *syntax.SglQuoted:
		mark(&p.Left)
	case *syntax.DblQuoted:
		mark(&p.Left)
	case *syntax.ParamExp:
		mark(&p.Dollar)
	case *syntax.CmdSubst:
		mark(&p.Left)
	case *syntax.ArithmExp:
		mark(&p.Left)
	case *syntax.ProcSubst:
		mark(&p.OpPos)
	case *syntax.ExtGlob:
		mark(&p.OpPos)
	}
}

// prepareText makes text ready for the interpreter to parse: what bash would do
// differently is rewritten (see dialect.Repair), and word stands behind the
// arguments of every attached command that could turn out to be a tools command.
// Text that does not parse comes back as it is: the interpreter reports it.
func prepareText(text, word string) string {
	if analyze.CheckNesting(text) != nil {
		return text
	}
	file, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(text), "")
	if err != nil {
		return text
	}
	var attached []*syntax.CallExpr
	var ends []int
	analyze.StdinAttached(file, func(call *syntax.CallExpr) {
		if len(call.Args) > 0 && mayBeTools(call.Args[0]) {
			attached = append(attached, call)
			ends = append(ends, int(call.Args[len(call.Args)-1].End().Offset()))
		}
	})
	if dialect.Repair(file) {
		return printed(file, attached, word)
	}
	if len(ends) == 0 {
		return text
	}
	var b strings.Builder
	last := 0
	for _, end := range inOrder(ends) {
		b.WriteString(text[last:end])
		b.WriteString(" " + word)
		last = end
	}
	b.WriteString(text[last:])
	return b.String()
}

// printed is a tree that was rewritten as text, with word behind the attached
// commands.
func printed(file *syntax.File, attached []*syntax.CallExpr, word string) string {
	marked := map[*syntax.CallExpr]bool{}
	for _, call := range attached {
		if end := call.Args[len(call.Args)-1].End(); !marked[call] {
			marked[call] = true
			call.Args = append(call.Args, &syntax.Word{Parts: []syntax.WordPart{&syntax.Lit{ValuePos: end, ValueEnd: end, Value: word}}})
		}
	}
	var b strings.Builder
	if err := syntax.NewPrinter().Print(&b, file); err != nil { // a tree that was parsed prints
		panic(err)
	}
	return b.String()
}

// mayBeTools reports whether a command that begins with this word could reach
// tools: the word is not literal, is tools, or runs another command.
func mayBeTools(word *syntax.Word) bool {
	switch lit := word.Lit(); lit {
	case "", "tools":
		return true
	default:
		return wrappers[lit] || strings.ContainsAny(lit, `\{`)
	}
}

// wrappers run another command with their own stdin.
var wrappers = map[string]bool{"command": true, "builtin": true, "exec": true, "env": true, "timeout": true,
	"nice": true, "nohup": true, "stdbuf": true, "setsid": true, "ionice": true}

func inOrder(ends []int) []int {
	slices.Sort(ends)
	return slices.Compact(ends)
}
