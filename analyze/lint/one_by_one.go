package lint

import (
	"encoding/json"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/tools-in-shell/tis/catalog"
)

var ruleOneByOne = &Rule{
	Code: "TIS601", Name: "one-by-one", Severity: Info,
	Title:      "A loop of single calls where one call would do",
	Why:        "Another tool of the server takes a list. One call is faster, counts once against the call limit, and a person is asked once.",
	Exceptions: "The list is long and one call's result would be too large, or the results are needed one by one.",
	Bad:        "for n in 1 2 3; do\n  tools github get-pull repo=acme/api \"number=$n\"\ndone\n",
	Good:       "tools github get-pulls '{\"repo\":\"acme/api\",\"numbers\":[1,2,3]}'\n",
	check: func(p *pass) {
		if p.o.Catalog == nil {
			return
		}
		for _, c := range p.calls {
			if c.tool == nil || c.tool.Server == "" || len(c.parents) == 0 {
				continue
			}
			for _, key := range c.loopKeys() {
				if other, list := p.listTool(c.tool, key); other != nil {
					start, end := c.name()
					p.report(start, end, "%s takes a list of %s, so one call of it does what this loop does", other.Command(), list)
					break
				}
			}
		}
	},
}

// loopKeys are the keys whose values are the variable of a loop around the call.
func (c *call) loopKeys() (keys []string) {
	for _, n := range c.parents {
		name := ""
		switch l := n.(type) {
		case *syntax.ForClause:
			if iter, ok := l.Loop.(*syntax.WordIter); ok {
				name = iter.Name.Value
			}
		case *syntax.WhileClause:
			if reads(l) {
				if read, ok := l.Cond[0].Cmd.(*syntax.CallExpr); ok {
					name = read.Args[len(read.Args)-1].Lit()
				}
			}
		}
		if name == "" {
			continue
		}
		for i, w := range c.words {
			if i < c.named || w.node == nil || !uses(w.node, name) {
				continue
			}
			if key, ok := dynamicKey(w.node); ok {
				keys = append(keys, key)
			}
		}
	}
	return keys
}

// listTool is a tool of the same server whose name is the plural of t's, and
// that takes an array under the plural of key.
func (p *pass) listTool(t *catalog.Tool, key string) (*catalog.Tool, string) {
	for _, s := range p.o.Catalog.Servers() {
		if s.Name != t.Server {
			continue
		}
		for _, other := range s.Tools {
			if other == t || !plural(t.Name, other.Name) || other.Hints.IsReadOnly() != t.Hints.IsReadOnly() {
				continue
			}
			var schema struct {
				Properties map[string]struct {
					Type any `json:"type"`
				} `json:"properties"`
			}
			if json.Unmarshal(other.InputSchema, &schema) != nil {
				continue
			}
			for name, prop := range schema.Properties {
				if prop.Type == "array" && plural(key, name) {
					return other, name
				}
			}
		}
	}
	return nil, ""
}

// plural reports whether many is the plural of one: get_pull and get_pulls,
// number and numbers, get_issue and get_issues_by_ids.
func plural(one, many string) bool {
	one, many = catalog.Shown(strings.ToLower(one)), catalog.Shown(strings.ToLower(many))
	for _, form := range []string{one + "s", one + "es", strings.TrimSuffix(one, "y") + "ies"} {
		if many == form || strings.HasPrefix(many, form+"-") {
			return true
		}
	}
	return strings.HasPrefix(many, one+"-") && strings.Contains(many, "batch") || many == "batch-"+one
}
