package lint

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

var ruleUnquoted = &Rule{
	Code: "TIS403", Name: "unquoted", Severity: Warning,
	Title: "An argument that the shell takes apart",
	Why: "Without quotes the shell expands braces and patterns, takes quotation marks away and splits values at white space before the tool sees them: " +
		"`{\"a\":1,\"b\":2}` becomes two words, and a title of three words becomes three arguments.",
	Exceptions: "A value that is a number or one word by its nature is left alone when the schema or the loop shows it.",
	Bad:        "title=$(cat title.txt)\ntools linear create-issue title=$title\n",
	Good:       "title=$(cat title.txt)\ntools linear create-issue \"title=$title\"\n",
	check: func(p *pass) {
		for _, c := range p.calls {
			for i, w := range c.words {
				if w.node == nil || i < c.named {
					continue
				}
				switch {
				case bareJSON(w.node):
					f := c.onWord(i, "the quotation marks of this JSON are taken away by the shell; put it in single quotes")
					if src := p.source(w.start, w.end); !strings.ContainsAny(src, "'$`\\") {
						f.Fixes = append(f.Fixes, c.replace(i, "'"+src+"'", "put it in single quotes"))
					}
				case c.splits(i):
					f := c.onWord(i, "the value is split at white space and its patterns are expanded; put it in double quotes")
					if src := p.source(w.start, w.end); quotable(w.node) {
						f.Fixes = append(f.Fixes, c.replace(i, `"`+src+`"`, "put it in double quotes"))
					}
				case pattern(w.node):
					c.onWord(i, "this is a pattern of file names to the shell; put it in quotes")
				}
			}
			if len(c.words) == 0 || c.Words == nil {
				c.braces()
			}
		}
	},
}

// braces reports JSON that brace expansion has made several words of.
func (c *call) braces() {
	if c.Node == nil || !c.Exact {
		return
	}
	for _, w := range c.Node.Args {
		if bareJSON(w) {
			start, end := int(w.Pos().Offset())+c.shift, int(w.End().Offset())+c.shift
			f := c.pass.report(start, end, "the shell takes this JSON apart; put it in single quotes")
			if src := c.pass.source(start, end); !strings.ContainsAny(src, "'$`\\") {
				f.Fixes = append(f.Fixes, Fix{"put it in single quotes", []Edit{{c.pass.at(start), c.pass.at(end), "'" + src + "'"}}})
			}
		}
	}
}

// bareJSON reports whether a word is JSON that lost its outer quotes: it begins
// with a bare { or [ and has quoted parts in it.
func bareJSON(w *syntax.Word) bool {
	first, ok := w.Parts[0].(*syntax.Lit)
	if !ok || !strings.HasPrefix(first.Value, "{") && !strings.HasPrefix(first.Value, "[") || len(w.Parts) < 2 {
		return false
	}
	for _, part := range w.Parts[1:] {
		if q, ok := part.(*syntax.DblQuoted); ok && len(q.Parts) > 0 {
			return true
		}
	}
	return false
}

// splits reports whether an unquoted expansion may make several words, or a
// pattern, of a word.
func (c *call) splits(i int) bool {
	w := c.words[i].node
	if c.variants[0].known[i] {
		return false
	}
	for _, part := range w.Parts {
		switch part := part.(type) {
		case *syntax.ParamExp:
			if part.Length || part.Param != nil && strings.Contains("#?$!", part.Param.Value) {
				continue
			}
			if !c.oneWord(i, part) {
				return true
			}
		case *syntax.CmdSubst:
			if !c.oneWord(i, nil) {
				return true
			}
		}
	}
	return false
}

// oneWord reports whether the schema shows that a value is a number or a
// boolean, or the loop that it is plain.
func (c *call) oneWord(i int, x *syntax.ParamExp) bool {
	if x != nil {
		if name, items := c.loop(); name != "" && name == plain(x) {
			for _, item := range items {
				if strings.ContainsAny(item, " \t\n*?[") || item == "" {
					return false
				}
			}
			return true
		}
	}
	key, ok := dynamicKey(c.words[i].node)
	if !ok || c.tool == nil {
		return false
	}
	// Neither a text nor anything but a number fits.
	v := c.variants[0]
	req, _, err := c.pass.o.Catalog.ResolveLiteral(append(append([]string{}, v.values[:c.named]...), key+`=x y`))
	if err != nil || req.Call == nil {
		return false
	}
	for _, f := range c.tool.Faults(req.Call.Input) {
		if len(f.Path) > 0 && strings.EqualFold(strings.ReplaceAll(f.Path[0], "-", "_"), strings.ReplaceAll(key, "-", "_")) && !f.Way && strings.Contains(f.Message, "got string") {
			return true
		}
	}
	return false
}

// quotable reports whether double quotes around a word change nothing but the
// splitting: it has plain text and expansions only.
func quotable(w *syntax.Word) bool {
	for _, part := range w.Parts {
		switch part := part.(type) {
		case *syntax.Lit:
			if strings.ContainsAny(part.Value, "\\*?[]{}~!\"`$") {
				return false
			}
		case *syntax.ParamExp, *syntax.CmdSubst, *syntax.ArithmExp:
		default:
			return false
		}
	}
	return true
}

// pattern reports whether a word has an unquoted pattern of file names.
func pattern(w *syntax.Word) bool {
	for _, part := range w.Parts {
		if lit, ok := part.(*syntax.Lit); ok {
			for i := 0; i < len(lit.Value); i++ {
				switch lit.Value[i] {
				case '\\':
					i++
				case '*', '?':
					return true
				}
			}
		}
	}
	return false
}
