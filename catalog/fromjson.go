package catalog

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// ToolFromMCP makes a Tool of one raw MCP Tool object, and of "policy" when it
// has one. Hints are taken as they were declared; the pair readOnlyHint:false,
// idempotentHint:false with no other hint is what a common library writes when
// nothing was declared, and is read so.
func ToolFromMCP(server string, raw json.RawMessage) (*Tool, error) {
	s := &skim{src: raw}
	s.space()
	if t := s.tool(server); t != nil && s.end() {
		t.InputSchema = bytes.Clone(t.InputSchema) // raw stays the caller's
		return t, nil
	}
	return decodeTool(server, raw)
}

// decodeTool is ToolFromMCP for any JSON.
func decodeTool(server string, raw json.RawMessage) (*Tool, error) {
	var in struct {
		Name        *string         `json:"name"`
		Description string          `json:"description"`
		InputSchema json.RawMessage `json:"inputSchema"`
		Annotations *Hints          `json:"annotations"`
		Policy      Policy          `json:"policy"`
	}
	if err := json.Unmarshal(raw, &in); err != nil {
		return nil, fmt.Errorf("a tool of %s: %w", serverName(server), err)
	}
	if in.Name == nil || *in.Name == "" {
		return nil, fmt.Errorf("a tool of %s has no name", serverName(server))
	}
	t := &Tool{Name: *in.Name, Server: server, Description: in.Description, Policy: in.Policy}
	if s := bytes.TrimSpace(in.InputSchema); !absent(s) {
		t.InputSchema = s
	}
	if h := in.Annotations; h != nil && !undeclared(*h) {
		t.Hints = *h
	}
	return t, nil
}

// undeclared reports whether hints are only what an encoder adds by itself.
func undeclared(h Hints) bool {
	return h.ReadOnly != nil && !*h.ReadOnly && h.Idempotent != nil && !*h.Idempotent && h.Destructive == nil && h.OpenWorld == nil
}

func serverName(server string) string {
	if server == "" {
		return "the top level"
	}
	return "server " + clip(server)
}
