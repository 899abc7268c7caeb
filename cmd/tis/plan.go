package main

import (
	"context"
	"os"

	"github.com/tools-in-shell/tis/analyze"
	"github.com/tools-in-shell/tis/approvals"
	"github.com/tools-in-shell/tis/catalog"
)

// planCommand is `tis plan`.
type planCommand struct {
	configFlag
	storeFlags
	Catalog []string `placeholder:"FILE" help:"Catalog file to use in place of the config's servers."`
	Script  string   `arg:"" optional:"" placeholder:"SCRIPT" help:"Script file; - or nothing reads stdin."`
}

func (c *planCommand) Run(ctx context.Context, p *program) error {
	text, name, err := p.readScript(c.Script)
	if err != nil {
		return err
	}
	script, err := analyze.Parse(text, name)
	if err != nil {
		return usageError{err}
	}
	cat, gate, done, err := c.open(ctx, p)
	if err != nil {
		return err
	}
	defer done()
	plan, err := script.Plan(cat, func(calls []catalog.Call) ([]approvals.Verdict, error) {
		return gate.Preview(ctx, c.Session, calls)
	})
	if err != nil {
		return err
	}
	return writeJSON(p.stdout, plan)
}

// open gives the catalog and the gate: offline from catalog files, where no
// answer counts yet, or from the config's servers and store.
func (c *planCommand) open(ctx context.Context, p *program) (*catalog.Catalog, *approvals.Gate, func(), error) {
	if len(c.Catalog) > 0 {
		cfg, err := p.loadConfig(c.Config)
		if err != nil {
			return nil, nil, nil, err
		}
		cat, err := readCatalogs(c.Catalog, cfg.KeepVisible)
		if err != nil {
			return nil, nil, nil, err
		}
		rules, err := approvals.CompileRules(cfg.Rules)
		if err != nil {
			return nil, nil, nil, usageError{err}
		}
		gate := approvals.NewGate(approvals.NewMemory(), approvals.Config{Mode: cfg.Approval.Mode, Timeout: cfg.Approval.Timeout, Rules: rules})
		return cat, gate, func() {}, nil
	}
	t, err := p.openTools(ctx, c.Config)
	if err != nil {
		return nil, nil, nil, err
	}
	gate, store, err := p.openGate(ctx, t.cfg, c.Store)
	if err != nil {
		t.Close()
		return nil, nil, nil, err
	}
	return t.catalog(ctx), gate, func() { store.Close(); t.Close() }, nil
}

func readCatalogs(names []string, keepVisible []string) (*catalog.Catalog, error) {
	servers, top, err := readSources(names)
	if err != nil {
		return nil, err
	}
	return catalog.New(servers, top, catalog.Options{KeepVisible: keepVisible}), nil
}

// readSources reads catalog files.
func readSources(names []string) (servers []catalog.Source, top []*catalog.Tool, err error) {
	for _, name := range names {
		f, err := os.Open(name)
		if err != nil {
			return nil, nil, usagef("catalog %s: %w", name, reason(err))
		}
		s, t, err := catalog.ParseCatalogFile(f, name)
		f.Close()
		if err != nil {
			return nil, nil, usageError{err}
		}
		servers, top = append(servers, s...), append(top, t...)
	}
	return servers, top, nil
}
