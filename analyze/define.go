package analyze

import (
	"regexp"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// maxTexts is how deep texts for eval, trap and bash -c may be nested.
const maxTexts = 8

// definitions is what one pass over the whole script collects before anything
// is judged: names that functions and aliases take away from commands, wherever
// they stand and whether or not they are reached, and the nested texts.
type definitions struct {
	x        expander
	parser   *syntax.Parser
	funcs    map[string]bool // functions
	aliases  map[string]bool
	exported map[string]bool // functions that child shells inherit
	// tools says that `tools` may be something else than the tools command.
	tools bool
	// lines, attached and texts belong to each simple command.
	lines    map[*syntax.CallExpr]line
	attached map[*syntax.CallExpr]bool
	texts    map[*syntax.CallExpr]*text
}

// text is a literal script inside a script.
type text struct {
	src  string
	file *syntax.File // nil when it does not parse
	// word is the one single-quoted word that src stands in, so that positions
	// can be told; else nil.
	word *syntax.SglQuoted
	// child says that a shell of its own runs it.
	child bool
}

func define(file *syntax.File) *definitions {
	d := &definitions{
		parser: newParser(),
		funcs:  map[string]bool{}, aliases: map[string]bool{}, exported: map[string]bool{},
		lines: map[*syntax.CallExpr]line{}, attached: map[*syntax.CallExpr]bool{}, texts: map[*syntax.CallExpr]*text{},
	}
	d.scan(file, 0, false)
	return d
}

// shadowed reports whether a function or an alias hides the command name.
func (d *definitions) shadowed(name string) bool { return d.funcs[name] || d.aliases[name] }

func notShadowed(string) bool { return false }

func (d *definitions) scan(file *syntax.File, depth int, posix bool) {
	fed := fedStmts{}
	syntax.Walk(file, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.BinaryCmd:
			fed.pipe(n)
		case *syntax.CoprocClause:
			fed.add(n.Stmt)
		case *syntax.ProcSubst:
			if n.Op == syntax.CmdOut { // what it runs inherits the pipe
				for _, s := range n.Stmts {
					fed.add(s)
				}
			}
		case *syntax.Stmt:
			if t, ok := n.Cmd.(*syntax.TimeClause); ok && redirectsStdin(n) {
				fed.add(t.Stmt)
			}
			if call, ok := n.Cmd.(*syntax.CallExpr); ok {
				d.attached[call] = fed[n] || redirectsStdin(n)
			}
		case *syntax.FuncDecl:
			if n.Name != nil {
				d.funcs[n.Name.Value] = true
				d.tools = d.tools || n.Name.Value == "tools"
			}
		case *syntax.Assign:
			if n.Name != nil && (n.Name.Value == "BASH_ALIASES" || n.Name.Value == "BASH_CMDS") {
				d.tools = true
			}
		case *syntax.DeclClause:
			d.export(n)
		case *syntax.CallExpr:
			d.call(n, depth, posix)
		}
		return true
	})
}

// export notes export -f f and declare -fx f.
func (d *definitions) export(n *syntax.DeclClause) {
	flags := ""
	for _, a := range n.Args {
		if a.Name != nil && a.Naked {
			d.exported[a.Name.Value] = d.exported[a.Name.Value] || strings.Contains(flags, "f")
		} else if a.Name == nil && a.Value != nil && strings.HasPrefix(a.Value.Lit(), "-") {
			flags += a.Value.Lit()
		}
	}
}

// call looks for what redefines commands, and parses literal texts.
func (d *definitions) call(n *syntax.CallExpr, depth int, posix bool) {
	l := d.x.line(n.Args, posix)
	d.lines[n] = l
	t := unwrap(l.fields, notShadowed)
	if t.opaque {
		return
	}
	switch t.name {
	case "alias":
		d.alias(t, l)
	case "enable":
		d.tools = d.tools || len(t.args) > 0 || !l.known
	case "unset":
		functions := false
		for _, arg := range t.args {
			functions = functions || strings.HasPrefix(arg, "-") && strings.Contains(arg, "f")
			d.tools = d.tools || functions && arg == "tools"
		}
		d.tools = d.tools || functions && !l.known
	case "hash":
		d.tools = d.tools || len(t.args) > 0 && strings.HasPrefix(t.args[0], "-p")
	case "eval":
		if l.known {
			d.text(n, strings.Join(t.args, " "), depth, text{}, posix)
		} else {
			d.tools = d.tools || redefinesTools.MatchString(strings.Join(t.args, " ")+" "+l.tail)
		}
	case "trap":
		if src, ok := trapText(t.args, !l.known); ok {
			d.text(n, src, depth, text{}, posix)
		} else {
			d.tools = d.tools || redefinesTools.MatchString(l.tail)
		}
	case "bash", "sh":
		if src, ok := shellText(t.args); ok {
			d.text(n, src, depth, text{child: true}, t.name == "sh")
		}
	}
}

// redefinesTools recognises a definition of tools in a text that is not known
// in full.
var redefinesTools = regexp.MustCompile(`(^|[\s;&|{(])(function\s+tools\b|tools\s*\(\s*\)|alias\b[^;\n]*\btools=)`)

func (d *definitions) alias(t target, l line) {
	if l.known && len(t.args) == 0 {
		return
	}
	for _, arg := range t.args {
		if name, _, ok := strings.Cut(arg, "="); ok {
			d.aliases[name] = true
		}
	}
	// Of the words that are not known the name may be: ll="$x".
	for _, w := range l.rest {
		var b strings.Builder
		literalParts(&b, w.Parts)
		name, _, ok := strings.Cut(b.String(), "=")
		if !ok || strings.ContainsAny(name, "\x00{*?[") {
			d.tools = true // any name
			continue
		}
		d.aliases[name] = true
	}
	d.tools = d.tools || d.aliases["tools"]
}

// text parses a nested script once and scans it.
func (d *definitions) text(n *syntax.CallExpr, src string, depth int, t text, posix bool) {
	t.src = src
	d.texts[n] = &t
	if depth >= maxTexts {
		d.tools = d.tools || redefinesTools.MatchString(src)
		return
	}
	file, err := parse(d.parser, src, "")
	if err != nil {
		d.tools = d.tools || redefinesTools.MatchString(src)
		return
	}
	t.file = file
	for _, w := range n.Args {
		if len(w.Parts) != 1 {
			continue
		}
		if q, ok := w.Parts[0].(*syntax.SglQuoted); ok && !q.Dollar && q.Value == src {
			t.word = q
		}
	}
	d.scan(file, depth+1, posix)
}
