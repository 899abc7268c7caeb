package catalog

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// status is what stands in parentheses behind a server's name.
func (s ServerInfo) status() string {
	switch {
	case s.Unavailable != nil && s.Unavailable.Code == ConnectionRequired:
		return "sign-in required"
	case s.Unavailable != nil:
		return "unavailable"
	case !s.Loaded:
		return "not loaded"
	case len(s.Tools) == 1:
		return "1 tool"
	}
	return fmt.Sprintf("%d tools", len(s.Tools))
}

// rootHelp lists servers and top-level tools. It loads nothing.
func (c *Catalog) rootHelp() string {
	var b strings.Builder
	servers, top := c.Servers(), c.Top()
	if len(servers) > 0 {
		b.WriteString("Servers (tools SERVER --help lists the tools of one):\n")
		var rows [][2]string
		for _, s := range servers {
			rows = append(rows, [2]string{fmt.Sprintf("%s (%s)", shellWord(c.servers.spelling(s.Name)), s.status()), Sentence(s.Description)})
		}
		table(&b, rows)
	}
	if len(top) > 0 {
		b.WriteString("Tools (tools TOOL --help shows the input of one):\n")
		table(&b, toolRows(c.top().shell, top))
	}
	if len(servers)+len(top) == 0 {
		b.WriteString("No tools are configured.\n")
	}
	b.WriteString(`Calls:  tools SERVER TOOL '{"key":"value"}'  or  key=value  or  --key value;  a JSON object on stdin works too
Find:   tools search WORDS
Plan:   tools plan <<'EOF'   shows what a script would call
`)
	return b.String()
}

func toolRows(names *index[*Tool], tools []*Tool) [][2]string {
	var rows [][2]string
	for _, t := range tools {
		rows = append(rows, [2]string{shellWord(names.spelling(t.Name)), Sentence(t.Description)})
	}
	slices.SortFunc(rows, func(a, b [2]string) int { return strings.Compare(a[0], b[0]) })
	return rows
}

// table prints two columns.
func table(b *strings.Builder, rows [][2]string) {
	width := 0
	for _, r := range rows {
		width = min(max(width, utf8.RuneCountInString(r[0])), 40)
	}
	for _, r := range rows {
		b.WriteString(strings.TrimRight(fmt.Sprintf("  %-*s  %s", width, r[0], r[1]), " ") + "\n")
	}
}

// serverHelp lists a server's tools.
func (c *Catalog) serverHelp(s *server) string {
	info := s.info()
	var b strings.Builder
	fmt.Fprintf(&b, "%s (%s)", shellWord(c.servers.spelling(s.Name)), info.status())
	if d := printable(OneLine(info.Description)); d != "" {
		b.WriteString(": " + d)
	}
	b.WriteString("\n")
	table(&b, toolRows(s.shelf().shell, info.Tools))
	fmt.Fprintf(&b, "Input of one: %s TOOL --help\n", c.serverCommand(s))
	if s.reads() != nil {
		fmt.Fprintf(&b, "Resources: %s %s lists them, %s %s URI reads one\n", c.serverCommand(s), resourceFlag, c.serverCommand(s), resourceFlag)
	}
	return b.String()
}

// toolHelp shows a tool: a line to copy, the description and the input schema.
func (c *Catalog) toolHelp(s *server, t *Tool) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s\n\n", c.command(s, t), t.example())
	if d := strings.TrimSpace(printable(t.Description)); d != "" {
		b.WriteString(d + "\n\n")
	}
	b.WriteString("Input schema:\n")
	var pretty bytes.Buffer
	if len(t.InputSchema) == 0 || json.Indent(&pretty, t.InputSchema, "", "  ") != nil {
		pretty.Reset()
		pretty.WriteString(`{"type": "object"}`)
	}
	b.WriteString(printable(pretty.String()) + "\n")
	if w := t.SchemaWarning(); w != "" {
		b.WriteString("Note: " + w + "\n")
	}
	return b.String()
}

// example is an input with the required keys, quoted for the shell and ready
// to be filled in.
func (t *Tool) example() string {
	doc, _ := t.shape()
	required, _ := doc["required"].([]any)
	props, _ := doc["properties"].(map[string]any)
	var example object
	for _, key := range required {
		if key, ok := key.(string); ok {
			p, _ := props[key].(map[string]any)
			example.set(key, sample(doc, p, 0))
		}
	}
	return shellWord(string(example.encode()))
}

// sample is a value that a property may have.
func sample(root, p map[string]any, depth int) json.RawMessage {
	if c, ok := p["const"]; ok {
		return encode(c)
	}
	if list, ok := p["enum"].([]any); ok && len(list) > 0 {
		return encode(list[0])
	}
	typ, _ := p["type"].(string)
	if list, ok := p["type"].([]any); ok && len(list) > 0 {
		typ, _ = list[0].(string)
	}
	switch typ {
	case "integer", "number":
		if n, ok := p["minimum"].(json.Number); ok {
			return json.RawMessage(n)
		}
		return json.RawMessage("1")
	case "boolean":
		return json.RawMessage("true")
	case "array":
		return json.RawMessage("[]")
	case "object":
		return json.RawMessage("{}")
	case "null":
		return json.RawMessage("null")
	}
	if depth < 8 && typ == "" {
		if ref, ok := p["$ref"].(string); ok {
			return sample(root, follow(root, ref), depth+1)
		}
		for _, k := range []string{"allOf", "anyOf", "oneOf"} {
			if subs := subschemas(p[k]); len(subs) > 0 {
				return sample(root, subs[0], depth+1)
			}
		}
	}
	return json.RawMessage(`"..."`)
}

// encode is a decoded JSON value as compact JSON, without escaping for HTML.
func encode(v any) json.RawMessage {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil { // what was decoded encodes
		panic(err)
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

// quote is s as a JSON string.
func quote(s string) json.RawMessage {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c > '~' || c == '"' || c == '\\' {
			return encode(s)
		}
	}
	return append(append(append(make([]byte, 0, len(s)+2), '"'), s...), '"')
}
