package analyze

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// Where says in what kind of code a call stands.
type Where string

// The kinds of code; the innermost counts.
const (
	InScript       Where = "script"
	InFunction     Where = "function"
	InSubstitution Where = "substitution"
)

// command is one reachable tools command.
type command struct {
	args []string // after "tools", as far as they are known
	// known says that args are all.
	known bool
	// literal says that they are, and that the command reads no stdin.
	literal   bool
	where     Where
	line, col int
	offset    int

	node     *syntax.CallExpr
	words    []*syntax.Word // after "tools"; nil when braces make more of them
	attached bool           // stdin belongs to the command
	exact    bool           // the node's positions are the script's
}

// findings are the reachable tools commands of a script in source order.
type findings struct {
	commands []command
	// complete says that nothing else can be called: no command word, text or
	// file is unknown.
	complete bool
	// hidden are the commands that may call what is not known.
	hidden []Hidden
	// tools says that the script gives the name tools another meaning.
	tools bool
}

func (s *Script) findings() *findings {
	s.once.Do(func() { s.found = find(s.File, s.Text) })
	return s.found
}

func find(file *syntax.File, src string) *findings {
	w := &walker{defs: define(file), found: &findings{complete: true}}
	w.found.tools = w.defs.tools
	root := place{where: InScript, at: &origin{src: src}, shell: newShell(nil)}
	w.stmts(file.Stmts, root)
	for len(w.queue) > 0 {
		next := w.queue[0]
		w.queue = w.queue[1:]
		w.stmt(next.body, next.place)
	}
	slices.SortStableFunc(w.found.commands, func(a, b command) int { return a.offset - b.offset })
	return w.found
}

// walker goes through the code that a script can reach.
type walker struct {
	defs  *definitions
	found *findings
	queue []body // of functions that were called
}

// place is where a piece of code stands.
type place struct {
	where     Where
	at        *origin
	shell     *shell
	loop      bool // break leaves something
	function  bool // return leaves something
	backquote bool
}

func (p place) inside(w Where) place {
	p.where, p.loop = w, false
	return p
}

// origin maps positions in a text to positions in the script.
type origin struct {
	src string
	// base is where the text begins; all of its positions are base unless exact.
	line, col, offset int
	nested, exact     bool
}

func (o *origin) position(p syntax.Pos) (line, col, offset int) {
	line, col, offset = int(p.Line()), int(p.Col()), int(p.Offset())
	switch {
	case !o.nested:
		return line, col, offset
	case !o.exact:
		return o.line, o.col, o.offset
	case line == 1:
		col += o.col - 1
	}
	return line + o.line - 1, col, offset + o.offset
}

// shell is what one shell knows: its functions.
type shell struct {
	parent *shell
	funcs  map[string]*function
}

type function struct {
	bodies []body
	called bool
}

type body struct {
	body  *syntax.Stmt
	place place
}

func newShell(parent *shell) *shell { return &shell{parent, map[string]*function{}} }

func (s *shell) function(name string) *function {
	f := s.funcs[name]
	if f == nil {
		f = &function{}
		s.funcs[name] = f
	}
	return f
}

// flow says whether the code after a statement is reached.
type flow uint8

const (
	goesOn flow = iota
	leavesLoop
	leavesFunction
	leavesShell
)

// status is a statement's exit status, as far as it is known before it runs.
type status uint8

const (
	unknown status = iota
	succeeds
	fails
)

// outcome is what is known of a statement once it has been walked.
type outcome struct {
	flow   flow
	status status
}

func (w *walker) stmts(list []*syntax.Stmt, p place) outcome {
	var o outcome
	for _, s := range list {
		if o = w.stmt(s, p); o.flow != goesOn {
			break
		}
	}
	return o
}

func (w *walker) stmt(s *syntax.Stmt, p place) outcome {
	certain := true
	for _, r := range s.Redirs {
		w.substitutions(r.Word, p)
		if r.Hdoc != nil {
			w.substitutions(r.Hdoc, p)
		}
		certain = certain && r.Op == syntax.DplOut // others can fail
	}
	var o outcome
	if s.Cmd != nil {
		o = w.command(s.Cmd, p)
	}
	if s.Background || s.Coprocess || !certain {
		return outcome{}
	}
	if s.Negated && o.status != unknown {
		o.status = succeeds + fails - o.status
	}
	return o
}

func (w *walker) command(cmd syntax.Command, p place) outcome {
	switch c := cmd.(type) {
	case *syntax.CallExpr:
		return w.call(c, p)
	case *syntax.BinaryCmd:
		return w.binary(c, p)
	case *syntax.IfClause:
		return w.ifClause(c, p)
	case *syntax.WhileClause:
		inner := p
		inner.loop = true
		o := w.stmts(c.Cond, inner)
		if o.flow != goesOn {
			return outcome{flow: leavesOuter(o.flow)}
		}
		if never := map[bool]status{false: fails, true: succeeds}[c.Until]; o.status != never {
			w.stmts(c.Do, inner)
		}
	case *syntax.ForClause:
		w.forClause(c, p)
	case *syntax.CaseClause:
		w.substitutions(c.Word, p)
		for _, item := range c.Items {
			for _, pattern := range item.Patterns {
				w.substitutions(pattern, p)
			}
			w.stmts(item.Stmts, p)
		}
	case *syntax.Block:
		return w.stmts(c.Stmts, p)
	case *syntax.Subshell:
		p.loop = false
		return outcome{status: w.stmts(c.Stmts, p).status}
	case *syntax.TimeClause:
		if c.Stmt != nil {
			return w.stmt(c.Stmt, p)
		}
	case *syntax.CoprocClause:
		p.loop = false
		w.stmt(c.Stmt, p)
	case *syntax.FuncDecl:
		if c.Name != nil {
			w.define(c.Name.Value, c.Body, p)
		}
	default: // ((...)), let, [[ ]] and declare
		w.substitutions(c, p)
	}
	return outcome{}
}

// leavesOuter is f seen from outside of the loop that it happened in.
func leavesOuter(f flow) flow {
	if f == leavesLoop {
		return goesOn
	}
	return f
}

func (w *walker) binary(c *syntax.BinaryCmd, p place) outcome {
	if c.Op != syntax.AndStmt && c.Op != syntax.OrStmt {
		p.loop = false
		w.stmt(c.X, p)
		w.stmt(c.Y, p)
		return outcome{}
	}
	x := w.stmt(c.X, p)
	skips := fails // what makes && skip its right side
	if c.Op == syntax.OrStmt {
		skips = succeeds
	}
	if x.flow != goesOn || x.status == skips {
		return x
	}
	y := w.stmt(c.Y, p)
	switch {
	case x.status != unknown:
		return y
	case y.status == skips:
		return outcome{status: skips}
	}
	return outcome{}
}

func (w *walker) ifClause(c *syntax.IfClause, p place) outcome {
	if cond := w.stmts(c.Cond, p); c.ThenPos.IsValid() {
		switch {
		case cond.flow != goesOn:
			return outcome{flow: cond.flow}
		case cond.status == succeeds:
			return w.stmts(c.Then, p)
		case cond.status == fails:
			if c.Else == nil {
				return outcome{status: succeeds}
			}
			return w.ifClause(c.Else, p)
		}
	}
	then := w.stmts(c.Then, p)
	if !c.ThenPos.IsValid() { // a plain else
		return then
	}
	if c.Else != nil {
		if other := w.ifClause(c.Else, p); other.flow == then.flow {
			return outcome{flow: then.flow}
		}
	}
	return outcome{}
}

func (w *walker) forClause(c *syntax.ForClause, p place) {
	switch l := c.Loop.(type) {
	case *syntax.WordIter:
		for _, item := range l.Items {
			w.substitutions(item, p)
		}
		if l.InPos.IsValid() && len(l.Items) == 0 {
			return // never runs
		}
	case *syntax.CStyleLoop:
		for _, x := range []syntax.ArithmExpr{l.Init, l.Cond, l.Post} {
			if x != nil {
				w.substitutions(x, p)
			}
		}
	}
	p.loop = true
	w.stmts(c.Do, p)
}

// substitutions walks the commands inside of a word or expression.
func (w *walker) substitutions(n syntax.Node, p place) {
	inner := p.inside(InSubstitution)
	syntax.Walk(n, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.CmdSubst:
			within := inner
			within.backquote = p.backquote || n.Backquotes
			w.stmts(n.Stmts, within)
			return false
		case *syntax.ProcSubst:
			w.stmts(n.Stmts, inner)
			return false
		}
		return true
	})
}

// define registers a function. Every body of a name counts once the name is
// called, in whatever order.
func (w *walker) define(name string, stmt *syntax.Stmt, p place) {
	f := p.shell.function(name)
	p = p.inside(InFunction)
	p.function = true
	b := body{stmt, p}
	f.bodies = append(f.bodies, b)
	if f.called {
		w.queue = append(w.queue, b)
	}
}

// enter notes that the function is called, also in the shells that handed it
// down to this one.
func (w *walker) enter(name string, p place) {
	for s := p.shell; s != nil; s = s.parent {
		if f := s.function(name); !f.called {
			f.called = true
			w.queue = append(w.queue, f.bodies...)
		}
		if !w.defs.exported[name] {
			return
		}
	}
}

// nested walks a literal text that a command runs.
func (w *walker) nested(c *syntax.CallExpr, t *text, p place) outcome {
	if t == nil || t.file == nil {
		w.hide(c, p)
		return outcome{}
	}
	at := &origin{src: t.src, nested: true}
	at.line, at.col, at.offset = p.at.position(c.Pos())
	if t.word != nil && (!p.at.nested || p.at.exact) {
		at.exact = true
		at.line, at.col, at.offset = p.at.position(t.word.Left)
		at.col, at.offset = at.col+1, at.offset+1
	}
	p.at, p.backquote = at, false
	if t.child {
		p.shell, p.loop, p.function = newShell(p.shell), false, false
	}
	return w.stmts(t.file.Stmts, p)
}

// mentions reports whether words that are only partly known name tools.
func mentions(l line) bool {
	for _, f := range l.fields {
		if strings.Contains(f, "tools") {
			return true
		}
	}
	return strings.Contains(l.tail, "tools")
}
