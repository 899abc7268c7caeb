package lint

import (
	"fmt"
	"slices"
	"sort"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/tools-in-shell/tis/analyze"
	"github.com/tools-in-shell/tis/approvals"
	"github.com/tools-in-shell/tis/catalog"
)

// pass is one script on its way through the rules.
type pass struct {
	text  string
	lines []int // offset at which each line begins
	o     Options

	script   *analyze.Script // nil when the text does not parse
	parseErr error
	consts   map[string]constant
	parents  map[*syntax.CallExpr][]syntax.Node // of each command, from the file down
	calls    []*call

	rule  *Rule
	found []Finding
}

// call is a reachable tools command and what is known of it.
type call struct {
	analyze.Command
	pass  *pass
	shift int // from the node's offsets to the script's
	words []word
	// parents are the nodes around the command, from the file down; nil inside of
	// a text for eval, trap or bash -c.
	parents []syntax.Node

	tool    *catalog.Tool // nil when it is not known
	named   int           // how many words name it
	unknown *catalog.Unknown
	// variants are the inputs that the command can have, as far as they are
	// known: one, or one for each turn of a loop over known words.
	variants []*variant
	verdict  *approvals.Verdict // of the first variant; nil when nobody can tell
}

// word is one word after "tools".
type word struct {
	node       *syntax.Word // nil when only its text is known
	start, end int          // offsets in the script
	literal    bool         // it is written out in full
}

// variant is a command line with its constants put in.
type variant struct {
	call   *call
	values []string // of the words
	known  []bool
	err    *catalog.Error // why the words are no input
	input  *partial
}

func newPass(text string, o Options) (*pass, error) {
	if o.MaxCalls == 0 {
		o.MaxCalls = 50
	}
	p := &pass{text: text, o: o, lines: []int{0}}
	for i := range len(text) {
		if text[i] == '\n' {
			p.lines = append(p.lines, i+1)
		}
	}
	p.script, p.parseErr = analyze.Parse(text, "")
	if p.parseErr != nil {
		p.script = nil
		return p, nil
	}
	p.consts = constants(p.script.File)
	p.parents = parents(p.script.File)
	for _, c := range p.script.Commands() {
		p.calls = append(p.calls, p.call(c))
	}
	return p, p.judge()
}

// parents lists the nodes around every simple command.
func parents(file *syntax.File) map[*syntax.CallExpr][]syntax.Node {
	out := map[*syntax.CallExpr][]syntax.Node{}
	var stack []syntax.Node
	syntax.Walk(file, func(n syntax.Node) bool {
		if n == nil {
			stack = stack[:len(stack)-1]
			return false
		}
		if c, ok := n.(*syntax.CallExpr); ok {
			out[c] = slices.Clone(stack)
		}
		stack = append(stack, n)
		return true
	})
	return out
}

func (p *pass) call(cmd analyze.Command) *call {
	c := &call{Command: cmd, pass: p, parents: p.parents[cmd.Node]}
	if !cmd.Exact {
		c.parents = nil
	}
	if cmd.Node != nil {
		c.shift = cmd.Offset - int(cmd.Node.Args[0].Pos().Offset())
	}
	if cmd.Exact && cmd.Words != nil {
		for i, w := range cmd.Words {
			c.words = append(c.words, word{w, int(w.Pos().Offset()) + c.shift, int(w.End().Offset()) + c.shift, i < len(cmd.Args)})
		}
	} else {
		for range cmd.Args {
			c.words = append(c.words, word{nil, cmd.Offset, cmd.Offset + len("tools"), true})
		}
	}
	c.variants = c.vary()
	if p.o.Catalog == nil {
		return c
	}
	first := c.variants[0]
	c.tool, c.named, c.unknown = p.o.Catalog.Lookup(first.prefix())
	if c.tool != nil {
		for _, v := range c.variants {
			v.read()
		}
	}
	return c
}

// vary puts constants into the words. A command in a loop over known words has
// a variant for each of them.
func (c *call) vary() []*variant {
	name, items := c.loop()
	if name == "" {
		return []*variant{c.with("", "")}
	}
	var out []*variant
	for _, item := range items[:min(len(items), 32)] {
		out = append(out, c.with(name, item))
	}
	return out
}

// with is the command line with one loop variable at a value.
func (c *call) with(name, value string) *variant {
	v := &variant{call: c}
	for i, w := range c.words {
		text, ok := "", false
		if w.node == nil {
			text, ok = c.Args[i], true
		} else if i < len(c.Args) {
			text, ok = c.Args[i], true
		} else {
			text, ok = c.pass.value(w.node, name, value, int(w.node.Pos().Offset())+c.shift)
		}
		v.values, v.known = append(v.values, text), append(v.known, ok)
	}
	return v
}

// prefix is the words up to the first that is not known.
func (v *variant) prefix() []string {
	n := slices.Index(v.known, false)
	if n < 0 {
		n = len(v.values)
	}
	return v.values[:n]
}

// complete reports whether every word is known.
func (v *variant) complete() bool { return !slices.Contains(v.known, false) }

// loop is the variable of the nearest loop over known words that the command
// uses, and these words.
func (c *call) loop() (name string, items []string) {
	for _, n := range slices.Backward(c.parents) {
		f, ok := n.(*syntax.ForClause)
		if !ok {
			if _, inside := n.(*syntax.FuncDecl); inside {
				return "", nil
			}
			continue
		}
		iter, ok := f.Loop.(*syntax.WordIter)
		if !ok || len(iter.Items) == 0 || !slices.ContainsFunc(c.words, func(w word) bool { return w.node != nil && uses(w.node, iter.Name.Value) }) {
			continue
		}
		if assigned(f.Do, iter.Name.Value) {
			return "", nil
		}
		for _, w := range iter.Items {
			text, ok := analyze.Literal(w)
			if !ok {
				return "", nil
			}
			items = append(items, text)
		}
		return iter.Name.Value, items
	}
	return "", nil
}

// judge asks the gate what it would do. The calls that the pre-flight sees are
// judged at once, as it does, since one-off answers are counted.
func (p *pass) judge() error {
	if p.o.Preview == nil || p.o.Catalog == nil {
		return nil
	}
	var calls []catalog.Call
	var of []*call
	for _, c := range p.calls {
		if request, ok := c.request(); ok && c.Literal {
			calls, of = append(calls, request), append(of, c)
		}
	}
	if len(calls) > 0 {
		verdicts, err := p.o.Preview(calls)
		if err != nil {
			return err
		}
		if len(verdicts) != len(calls) {
			return fmt.Errorf("the preview of %d calls gave %d verdicts", len(calls), len(verdicts))
		}
		for i, c := range of {
			c.verdict = &verdicts[i]
		}
	}
	for _, c := range p.calls {
		request, ok := c.request()
		if !ok || c.Literal {
			continue
		}
		verdicts, err := p.o.Preview([]catalog.Call{request})
		if err != nil {
			return err
		}
		if len(verdicts) == 1 {
			c.verdict = &verdicts[0]
		}
	}
	return nil
}

// request is the call as far as it is known: with its input when that is known
// and right, and with an empty one when only the tool is. ok is false for what
// cannot become a call.
func (c *call) request() (request catalog.Call, ok bool) {
	if c.tool == nil {
		return request, false
	}
	v := c.variants[0]
	switch {
	case v.err != nil:
		return request, false
	case v.input == nil:
		return request, false
	case !v.input.whole:
		return catalog.Call{Tool: c.tool, Input: []byte("{}")}, true
	case c.tool.Check(v.input.object) != nil:
		return request, false
	}
	return catalog.Call{Tool: c.tool, Input: v.input.object}, true
}

// at is the position of an offset.
func (p *pass) at(offset int) Position {
	offset = min(max(offset, 0), len(p.text))
	line := sort.SearchInts(p.lines, offset+1) - 1
	return Position{offset, line + 1, offset - p.lines[line] + 1}
}

// report notes a finding of the current rule between two offsets.
func (p *pass) report(start, end int, format string, args ...any) *Finding {
	severity := p.rule.Severity
	if s, ok := p.o.Severities[p.rule.Code]; ok {
		severity = s
	}
	p.found = append(p.found, Finding{
		Rule: p.rule, Severity: severity, Message: catalog.OneLine(fmt.Sprintf(format, args...)), Start: p.at(start), End: p.at(max(end, start)),
	})
	return &p.found[len(p.found)-1]
}

// onWord reports a word of a call; -1 is the command itself.
func (c *call) onWord(i int, format string, args ...any) *Finding {
	if i < 0 || i >= len(c.words) {
		start, end := c.span()
		return c.pass.report(start, end, format, args...)
	}
	return c.pass.report(c.words[i].start, c.words[i].end, format, args...)
}

// span is where the command stands.
func (c *call) span() (start, end int) {
	if !c.Exact || c.Node == nil {
		return c.Offset, c.Offset + c.pass.word(c.Offset)
	}
	return c.Offset, int(c.Node.End().Offset()) + c.shift
}

// name is the span of the words that name the tool.
func (c *call) name() (start, end int) {
	start, end = c.span()
	if n := min(c.named, len(c.words)); n > 0 && c.words[n-1].end > start {
		end = c.words[n-1].end
	}
	return start, end
}

// word is the length of the word that begins at an offset.
func (p *pass) word(offset int) int {
	rest := p.text[min(offset, len(p.text)):]
	if n := strings.IndexAny(rest, " \t\r\n;|&()"); n >= 0 {
		return n
	}
	return len(rest)
}

// source is the text between two nodes' ends as it is written.
func (p *pass) source(start, end int) string {
	return p.text[min(max(start, 0), len(p.text)):min(max(end, 0), len(p.text))]
}

// replace is a fix that writes text in the place of a word.
func (c *call) replace(i int, text, message string) Fix {
	return Fix{message, []Edit{{c.pass.at(c.words[i].start), c.pass.at(c.words[i].end), text}}}
}

// gated reports whether the call needs an answer.
func (c *call) gated() bool { return c.verdict != nil && c.verdict.Outcome == approvals.Ask }
