package main

import (
	"context"
	"encoding/json"
	"fmt"
)

// snapshotCommand is `tis snapshot`.
type snapshotCommand struct{ configFlag }

func (c *snapshotCommand) Run(ctx context.Context, p *program) error {
	t, err := p.openTools(ctx, c.Config)
	if err != nil {
		return err
	}
	defer t.Close()
	type server struct {
		Description string            `json:"description,omitempty"`
		Load        string            `json:"load,omitempty"`
		Resources   bool              `json:"resources,omitempty"` // it has some
		Tools       []json.RawMessage `json:"tools"`
	}
	type tool struct {
		Name        string          `json:"name"`
		Description string          `json:"description,omitempty"`
		InputSchema json.RawMessage `json:"inputSchema,omitempty"`
		Annotations any             `json:"annotations,omitempty"`
		Policy      any             `json:"policy,omitempty"`
	}
	out := struct {
		Servers map[string]server `json:"servers"`
		Tools   []tool            `json:"tools,omitempty"`
	}{Servers: map[string]server{}}
	failed := false
	for _, s := range t.cfg.Servers {
		raw, err := t.pool.Raw(ctx, s.Name)
		if err != nil {
			fmt.Fprintf(p.stderr, "tis: server %s left out: %v\n", s.Name, err)
			failed = true
			continue
		}
		entry := server{Description: s.Description, Tools: raw}
		if s.OnDemand {
			entry.Load = "on_demand"
		}
		out.Servers[s.Name] = entry
	}
	for _, src := range t.pool.Sources() {
		if entry, ok := out.Servers[src.Name]; ok && src.Resources.Offered() {
			entry.Resources = true
			out.Servers[src.Name] = entry
		}
	}
	for _, tl := range t.top {
		out.Tools = append(out.Tools, tool{tl.Name, tl.Description, tl.InputSchema, tl.Hints, tl.Policy})
	}
	enc := json.NewEncoder(p.stdout)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(out); err != nil {
		return err
	}
	if failed {
		return exitError(exitFault)
	}
	return nil
}
