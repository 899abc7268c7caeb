package lint

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

var ruleDirective = &Rule{
	Code: "TIS003", Name: "directive", Severity: Warning,
	Title: "A directive that names no rule, gives no reason or disables nothing",
	Why: "A directive takes a finding out of everybody's sight. It has to say why, and it has to go when what it was for has gone.\n\n" +
		"`# tis-lint disable=TIS402 reason` behind a command is for its line, on a line of its own for the next one, and in the comments at the head of a file, with a blank line before the first command, for the whole file.",
	Exceptions: "A code that there is not is an error whatever the severity of the rule is set to.",
	Bad:        "# tis-lint disable=TIS101\ntools github list-pulls repo=acme/api\n",
	Good:       "# tis-lint disable=TIS402 the title never holds a quotation mark\ntools linear create-issue \"{\\\"title\\\":\\\"$TITLE\\\"}\"\n",
	check:      func(*pass) {},
}

const directiveWord = "tis-lint"

// directive is one comment that disables rules.
type directive struct {
	start, end int
	codes      []string
	reason     string
	first      int // lines that it is for
	last       int
	used       map[string]bool
}

// direct takes out the findings that directives disable, and reports what is
// wrong with the directives themselves.
func (p *pass) direct() {
	if p.script == nil {
		return
	}
	list := p.directives()
	if len(list) == 0 {
		return
	}
	p.found = slices.DeleteFunc(p.found, func(f Finding) bool {
		gone := false
		for i := range list {
			d := &list[i]
			if f.Start.Line >= d.first && f.Start.Line <= d.last && slices.Contains(d.codes, f.Rule.Code) {
				d.used[f.Rule.Code], gone = true, true
			}
		}
		return gone
	})
	p.rule = ruleDirective
	if slices.Contains(p.o.Disabled, ruleDirective.Code) {
		return
	}
	for _, d := range list {
		if len(d.codes) == 0 {
			p.report(d.start, d.end, "the directive names no rule; want disable=TIS402 and a reason")
			continue
		}
		for _, code := range d.codes {
			switch {
			case Find(code) == nil:
				p.report(d.start, d.end, "there is no rule %q%s", code, nearCode(code)).Severity = Error
			case slices.Contains(p.o.Disabled, code):
			case !d.used[code] && code != ruleDirective.Code:
				p.report(d.start, d.end, "the directive disables %s, which finds nothing there; remove it", code)
			}
		}
		if d.reason == "" {
			p.report(d.start, d.end, "the directive gives no reason; write it behind the codes")
		}
	}
}

// directives reads the comments of the script.
func (p *pass) directives() (list []directive) {
	head := len(p.text)
	if len(p.script.File.Stmts) > 0 {
		head = int(p.script.File.Stmts[0].Pos().Offset())
	}
	p.comments(func(c *syntax.Comment) {
		text, ok := strings.CutPrefix(strings.TrimSpace(c.Text), directiveWord)
		if !ok || text != "" && text[0] != ' ' && text[0] != '\t' {
			return
		}
		start := int(c.Pos().Offset())
		d := directive{start: start, end: int(c.End().Offset()), used: map[string]bool{}}
		fields := strings.Fields(text)
		if len(fields) > 0 {
			if codes, ok := strings.CutPrefix(fields[0], "disable="); ok {
				for code := range strings.SplitSeq(codes, ",") {
					if code != "" {
						d.codes = append(d.codes, code)
					}
				}
				d.reason = strings.Join(fields[1:], " ")
			}
		}
		at := p.at(start)
		alone := strings.TrimSpace(p.text[p.lines[at.Line-1]:start]) == ""
		switch {
		case !alone:
			d.first, d.last = at.Line, at.Line
		case start < head && p.headed(at.Line, head):
			d.first, d.last = 1, len(p.lines)
		default:
			d.first, d.last = at.Line+1, at.Line+1
		}
		list = append(list, d)
	})
	return list
}

// headed reports whether a comment line at the head of the file belongs to the
// file and not to the first command: a blank line stands between them.
func (p *pass) headed(line, head int) bool {
	from := p.lines[line-1]
	return strings.Contains(strings.ReplaceAll(p.text[from:head], "\r", ""), "\n\n")
}

// comments calls do for every comment of the file, in order.
func (p *pass) comments(do func(*syntax.Comment)) {
	var all []*syntax.Comment
	syntax.Walk(p.script.File, func(n syntax.Node) bool {
		if c, ok := n.(*syntax.Comment); ok {
			all = append(all, c)
		}
		return true
	})
	slices.SortFunc(all, func(a, b *syntax.Comment) int { return int(a.Pos().Offset()) - int(b.Pos().Offset()) })
	for _, c := range slices.Compact(all) {
		do(c)
	}
}
