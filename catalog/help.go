package catalog

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
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
			rows = append(rows, [2]string{fmt.Sprintf("%s (%s)", Shown(s.Name), s.status()), Sentence(s.Description)})
		}
		table(&b, rows)
	}
	if len(top) > 0 {
		b.WriteString("Tools (tools TOOL --help shows the input of one):\n")
		table(&b, toolRows(top))
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

func toolRows(tools []*Tool) [][2]string {
	var rows [][2]string
	for _, t := range tools {
		rows = append(rows, [2]string{Shown(t.Name), Sentence(t.Description)})
	}
	slices.SortFunc(rows, func(a, b [2]string) int { return strings.Compare(a[0], b[0]) })
	return rows
}

// table prints two columns.
func table(b *strings.Builder, rows [][2]string) {
	width := 0
	for _, r := range rows {
		width = min(max(width, len(r[0])), 40)
	}
	for _, r := range rows {
		b.WriteString(strings.TrimRight(fmt.Sprintf("  %-*s  %s", width, OneLine(r[0]), r[1]), " ") + "\n")
	}
}

// help lists a server's tools.
func (s *server) help() string {
	info := s.info()
	var b strings.Builder
	fmt.Fprintf(&b, "%s (%s)", Shown(info.Name), info.status())
	if d := OneLine(info.Description); d != "" {
		b.WriteString(": " + d)
	}
	b.WriteString("\n")
	table(&b, toolRows(info.Tools))
	fmt.Fprintf(&b, "Input of one: tools %s TOOL --help\n", Shown(info.Name))
	return b.String()
}

// Help shows a tool: a line to copy, the description and the input schema.
func (t *Tool) Help() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s%s\n\n", t.Command(), t.example())
	if d := strings.TrimSpace(t.Description); d != "" {
		b.WriteString(d + "\n\n")
	}
	b.WriteString("Input schema:\n")
	var pretty bytes.Buffer
	if len(t.InputSchema) == 0 || json.Indent(&pretty, t.InputSchema, "", "  ") != nil {
		pretty.Reset()
		pretty.WriteString(`{"type": "object"}`)
	}
	b.Write(pretty.Bytes())
	b.WriteByte('\n')
	if w := t.SchemaWarning(); w != "" {
		b.WriteString("Note: " + w + "\n")
	}
	return b.String()
}

// example is an input with the required keys, ready to be filled in.
func (t *Tool) example() string {
	var doc struct {
		Required []string `json:"required"`
	}
	if json.Unmarshal(t.InputSchema, &doc) != nil || len(doc.Required) == 0 {
		return " '{}'"
	}
	root, _ := t.shape()
	var parts []string
	for _, key := range doc.Required {
		value := `"..."`
		if props, ok := root["properties"].(map[string]any); ok {
			if p, ok := props[key].(map[string]any); ok {
				value = sample(p)
			}
		}
		parts = append(parts, string(quote(key))+":"+value)
	}
	return " " + shellQuote("{"+strings.Join(parts, ",")+"}")
}

func sample(p map[string]any) string {
	if list, ok := p["enum"].([]any); ok && len(list) > 0 {
		if raw, err := json.Marshal(list[0]); err == nil {
			return string(raw)
		}
	}
	switch p["type"] {
	case "integer", "number":
		return "1"
	case "boolean":
		return "true"
	case "array":
		return "[]"
	case "object":
		return "{}"
	}
	return `"..."`
}

func shellQuote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }
