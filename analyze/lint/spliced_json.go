package lint

import (
	"encoding/json"
	"fmt"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/tools-in-shell/tis/catalog"
)

var ruleSpliced = &Rule{
	Code: "TIS402", Name: "spliced-json", Severity: Warning,
	Title: "A value spliced into a JSON text",
	Why: "A quotation mark, a backslash or a newline in the value breaks the JSON, and a value that comes from elsewhere can add keys of its own. " +
		"`key=value` needs no quoting, and `jq -n --arg` builds JSON whatever the value is.",
	Exceptions: "The value is a number or a word that cannot hold such a character.",
	Bad:        "title=$(cat title.txt)\ntools linear create-issue \"{\\\"title\\\":\\\"$title\\\"}\"\n",
	Good:       "title=$(cat title.txt)\ntools linear create-issue \"title=$title\"\n",
	check: func(p *pass) {
		for _, c := range p.calls {
			for i, w := range c.words {
				if w.node == nil || i < c.named || c.variants[0].known[i] {
					continue
				}
				text, holes, ok := template(w.node)
				if !ok || !strings.HasPrefix(strings.TrimSpace(text), "{") || len(holes) == 0 {
					continue
				}
				f := c.onWord(i, "%s is spliced into JSON text; write key=value, or build it with jq -n --arg", p.source(holes[0].start+c.shift, holes[0].end+c.shift))
				if pairs, ok := c.pairs(text, holes); ok {
					f.Fixes = append(f.Fixes, c.replace(i, pairs, "write key=value"))
				}
			}
		}
	},
}

// hole is an expansion in a text, as it is written.
type hole struct{ start, end int }

// mark stands for the n-th hole of a template.
func mark(n int) string { return fmt.Sprintf("\x01%d\x02", n) }

// template is the text of a word with a mark for every expansion.
func template(w *syntax.Word) (text string, holes []hole, ok bool) {
	var b strings.Builder
	put := func(n syntax.Node) {
		b.WriteString(mark(len(holes)))
		holes = append(holes, hole{int(n.Pos().Offset()), int(n.End().Offset())})
	}
	for _, part := range w.Parts {
		switch part := part.(type) {
		case *syntax.Lit:
			b.WriteString(part.Value)
		case *syntax.SglQuoted:
			if part.Dollar {
				return "", nil, false
			}
			b.WriteString(part.Value)
		case *syntax.DblQuoted:
			for _, inner := range part.Parts {
				if lit, ok := inner.(*syntax.Lit); ok {
					b.WriteString(strings.NewReplacer(`\"`, `"`, `\\`, `\`, `\$`, `$`, "\\`", "`").Replace(lit.Value))
					continue
				}
				put(inner)
			}
		case *syntax.ParamExp, *syntax.CmdSubst, *syntax.ArithmExp:
			put(part)
		default:
			return "", nil, false
		}
	}
	return b.String(), holes, true
}

// pairs is the JSON template as key=value words, when every value is either a
// constant or one expansion alone, and is read as the same type by the schema.
func (c *call) pairs(text string, holes []hole) (string, bool) {
	if c.tool == nil || c.pass.o.Catalog == nil {
		return "", false
	}
	// An expansion in quotes is a text; one without is any JSON value.
	whole := text
	for i := range holes {
		if strings.Count(text, mark(i)) != 1 {
			return "", false
		}
		whole = strings.Replace(whole, `"`+mark(i)+`"`, fmt.Sprintf("%q", fmt.Sprintf("text %d", i)), 1)
		whole = strings.Replace(whole, mark(i), fmt.Sprintf("%q", fmt.Sprintf("value %d", i)), 1)
	}
	object, err := catalog.Object([]byte(whole))
	if err != nil {
		return "", false
	}
	dec := json.NewDecoder(strings.NewReader(string(object)))
	dec.Token()
	var out []string
	for dec.More() {
		tok, err := dec.Token()
		key, _ := tok.(string)
		var value json.RawMessage
		if err != nil || dec.Decode(&value) != nil || !plainKey(key) {
			return "", false
		}
		var s string
		var n int
		isText := c.isText(key)
		switch {
		case json.Unmarshal(value, &s) == nil && scan(s, "text %d", &n):
			if !isText {
				return "", false
			}
			out = append(out, `"`+key+"="+c.pass.source(holes[n].start+c.shift, holes[n].end+c.shift)+`"`)
		case json.Unmarshal(value, &s) == nil && scan(s, "value %d", &n):
			if isText {
				return "", false
			}
			out = append(out, `"`+key+"="+c.pass.source(holes[n].start+c.shift, holes[n].end+c.shift)+`"`)
		case strings.Contains(string(value), "text ") || strings.Contains(string(value), "value "):
			return "", false // an expansion is a part of it
		case json.Unmarshal(value, &s) == nil && isText:
			out = append(out, singleQuoted(key+"="+s))
		default:
			if isText {
				return "", false
			}
			out = append(out, singleQuoted(key+"="+string(value)))
		}
	}
	return strings.Join(out, " "), len(out) > 0
}

func scan(s, format string, n *int) bool {
	got, err := fmt.Sscanf(s, format, n)
	return err == nil && got == 1 && s == fmt.Sprintf(format, *n)
}

func plainKey(key string) bool {
	return key != "" && !strings.ContainsFunc(key, func(r rune) bool {
		return r != '_' && r != '-' && r != '.' && (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z')
	}) && key[0] != '-'
}

// isText reports whether the schema reads any value of key as a text.
func (c *call) isText(key string) bool {
	v := c.variants[0]
	req, _, err := c.pass.o.Catalog.ResolveLiteral(append(append([]string{}, v.values[:c.named]...), key+"=7"))
	if err != nil || req.Call == nil {
		return false
	}
	var m map[string]json.RawMessage
	return json.Unmarshal(req.Call.Input, &m) == nil && string(m[key]) == `"7"`
}

// singleQuoted is a text as one word of a script.
func singleQuoted(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }
