package main

import (
	"context"
	"encoding/json"
	"fmt"
	"text/tabwriter"

	"github.com/tools-in-shell/tis/approvals"
	"github.com/tools-in-shell/tis/catalog"
	"github.com/tools-in-shell/tis/serve"
)

// weighCommand is `tis weigh`.
type weighCommand struct {
	configFlag
	Catalog []string `placeholder:"FILE" help:"Catalog file to use in place of the config's servers; repeatable."`
	JSON    bool     `name:"json" help:"Print JSON."`
}

// weight is how much of a model's prompt something takes.
type weight struct {
	Tools  int `json:"tools"`
	Bytes  int `json:"bytes"`
	Tokens int `json:"tokens"` // about: four bytes make one
}

func (w *weight) add(tools, bytes int) {
	w.Tools, w.Bytes = w.Tools+tools, w.Bytes+bytes
	w.Tokens = (w.Bytes + 3) / 4
}

// serverWeight is one server's.
type serverWeight struct {
	Name string `json:"name"`
	weight
}

// weights are the two ways to give a model the same tools.
type weights struct {
	Servers  []serverWeight `json:"servers"`
	Directly weight         `json:"directly"`
	Behind   weight         `json:"behind_tis"` // the instructions are in it
}

func (c *weighCommand) Run(ctx context.Context, p *program) error {
	now, gate, done, err := c.open(ctx, p)
	if err != nil {
		return err
	}
	defer done()
	server, err := serve.New(serve.Options{Version: version(), Tools: func(context.Context) serve.Tools { return now }, Gate: gate})
	if err != nil {
		return err
	}
	defer server.Close()
	out := weights{Servers: []serverWeight{}}
	for _, s := range now.Sources {
		out.put(catalog.Shown(s.Name), s.Tools)
	}
	if len(now.Top) > 0 {
		out.put("(top level)", now.Top)
	}
	tools, instructions := server.Definitions(ctx)
	out.Behind.add(0, len(instructions))
	for _, raw := range tools {
		out.Behind.add(1, sent(raw))
	}
	if c.JSON {
		return writeJSON(p.stdout, out)
	}
	return out.print(p)
}

// put weighs what a host sends of the tools when they are the model's own.
func (w *weights) put(name string, tools []*catalog.Tool) {
	s := serverWeight{Name: name}
	for _, t := range tools {
		schema := t.InputSchema
		if len(schema) == 0 {
			schema = json.RawMessage(`{"type":"object"}`)
		}
		raw, err := json.Marshal(map[string]any{"name": t.RegistryName(), "description": t.Description, "inputSchema": schema})
		if err == nil {
			s.add(1, sent(raw))
		}
	}
	w.Servers = append(w.Servers, s)
	w.Directly.add(s.Tools, s.Bytes)
}

// sent is how many bytes of a definition reach the model: its name, description
// and input schema.
func sent(raw json.RawMessage) int {
	var in struct {
		Name        string          `json:"name"`
		Description string          `json:"description"`
		InputSchema json.RawMessage `json:"inputSchema"`
	}
	if json.Unmarshal(raw, &in) != nil {
		return 0
	}
	b, err := json.Marshal(in) // compact
	if err != nil {
		return 0
	}
	return len(b)
}

func (w *weights) print(p *program) error {
	t := tabwriter.NewWriter(p.stdout, 0, 0, 2, ' ', tabwriter.AlignRight)
	row := func(name string, x weight) {
		fmt.Fprintf(t, "%s\t%d\t%d\t%d\t\n", visible(name), x.Tools, x.Bytes, x.Tokens)
	}
	fmt.Fprintln(t, "SERVER\tTOOLS\tBYTES\t~TOKENS\t")
	for _, s := range w.Servers {
		row(s.Name, s.weight)
	}
	row("all of them directly", w.Directly)
	row("behind tis serve", w.Behind)
	if err := t.Flush(); err != nil {
		return err
	}
	if w.Behind.Bytes > 0 && w.Directly.Bytes > w.Behind.Bytes {
		fmt.Fprintf(p.stdout, "behind tis serve it is 1/%d\n", (w.Directly.Bytes+w.Behind.Bytes/2)/w.Behind.Bytes)
	}
	return nil
}

// open gives the tools: of catalog files, or of the config's servers, of which
// those that load on demand are started too, because a host would start them.
func (c *weighCommand) open(ctx context.Context, p *program) (serve.Tools, *approvals.Gate, func(), error) {
	if len(c.Catalog) > 0 {
		cfg, err := p.loadConfig(c.Config)
		if err != nil {
			return serve.Tools{}, nil, nil, err
		}
		servers, top, err := readSources(c.Catalog)
		gate := approvals.NewGate(approvals.NewMemory(), approvals.Config{Mode: cfg.Approval.Mode})
		return serve.Tools{Sources: servers, Top: top, KeepVisible: cfg.KeepVisible}, gate, func() {}, err
	}
	t, err := p.openTools(ctx, c.Config)
	if err != nil {
		return serve.Tools{}, nil, nil, err
	}
	for _, s := range t.cfg.Servers {
		if _, err := t.pool.Raw(ctx, s.Name); err != nil {
			fmt.Fprintf(p.stderr, "tis: server %s left out: %v\n", visible(s.Name), err)
		}
	}
	gate := approvals.NewGate(approvals.NewMemory(), approvals.Config{Mode: t.cfg.Approval.Mode})
	now := t.offer(ctx)
	now.OnDemand = nil // they are loaded
	return now, gate, func() { t.Close() }, nil
}
