package catalog

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
)

// ToolFromMCP makes a Tool of one raw MCP Tool object. Hints are taken as they
// were declared; the pair readOnlyHint:false, idempotentHint:false with nothing
// else is what a common library writes when nothing was declared, and is read
// so.
func ToolFromMCP(server string, raw json.RawMessage) (*Tool, error) {
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
	if s := bytes.TrimSpace(in.InputSchema); len(s) > 0 && string(s) != "null" {
		t.InputSchema = s
	}
	if h := in.Annotations; h != nil {
		empty := h.ReadOnly != nil && !*h.ReadOnly && h.Idempotent != nil && !*h.Idempotent && h.Destructive == nil && h.OpenWorld == nil
		if !empty {
			t.Hints = *h
		}
	}
	return t, nil
}

func serverName(server string) string {
	if server == "" {
		return "the top level"
	}
	return "server " + server
}

// ParseCatalogFile reads a catalog file: servers with their tools as tools/list
// gives them, and top-level tools. name stands in messages.
func ParseCatalogFile(r io.Reader, name string) ([]Source, []*Tool, error) {
	raw, err := io.ReadAll(r)
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", name, err)
	}
	var file struct {
		Servers map[string]struct {
			Tools       []json.RawMessage `json:"tools"`
			ServerInfo  json.RawMessage   `json:"serverInfo"` // not needed
			Load        string            `json:"load"`
			Description string            `json:"description"`
		} `json:"servers"`
		Tools []json.RawMessage `json:"tools"`
	}
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&file); err != nil {
		return nil, nil, fmt.Errorf("%s%s: not a catalog file: %w", name, position(raw, err), err)
	}
	var servers []Source
	for server, s := range file.Servers {
		if s.Load != "" && s.Load != "start" && s.Load != "on_demand" {
			return nil, nil, fmt.Errorf("%s: $.servers.%s.load: it is %q; want start or on_demand", name, server, s.Load)
		}
		src := Source{Name: server, Description: s.Description, Loaded: true}
		for i, raw := range s.Tools {
			t, err := ToolFromMCP(server, raw)
			if err != nil {
				return nil, nil, fmt.Errorf("%s: $.servers.%s.tools[%d]: %w", name, server, i, err)
			}
			src.Tools = append(src.Tools, t)
		}
		if s.Load == "on_demand" {
			tools := src.Tools
			src.Tools, src.Loaded = nil, false
			src.Load = loaded(tools)
		}
		servers = append(servers, src)
	}
	slices.SortFunc(servers, func(a, b Source) int { return bytes.Compare([]byte(a.Name), []byte(b.Name)) })
	var top []*Tool
	for i, raw := range file.Tools {
		t, err := ToolFromMCP("", raw)
		if err != nil {
			return nil, nil, fmt.Errorf("%s: $.tools[%d]: %w", name, i, err)
		}
		top = append(top, t)
	}
	return servers, top, nil
}

// position is ":line:column" of a JSON error, or nothing.
func position(raw []byte, err error) string {
	var offset int64
	var syntax *json.SyntaxError
	var typ *json.UnmarshalTypeError
	switch {
	case errors.As(err, &syntax):
		offset = syntax.Offset
	case errors.As(err, &typ):
		offset = typ.Offset
	default:
		return ""
	}
	before := raw[:min(max(offset-1, 0), int64(len(raw)))]
	return fmt.Sprintf(":%d:%d", 1+bytes.Count(before, []byte("\n")), len(before)-bytes.LastIndexByte(before, '\n'))
}

// loaded is the Load of an on-demand server whose tools are in a file.
func loaded(tools []*Tool) func(context.Context) ([]*Tool, error) {
	return func(context.Context) ([]*Tool, error) { return tools, nil }
}
