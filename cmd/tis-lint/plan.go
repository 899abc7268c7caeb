package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"text/tabwriter"

	"github.com/tools-in-shell/tis/analyze"
	"github.com/tools-in-shell/tis/approvals"
	"github.com/tools-in-shell/tis/catalog"
)

// planCommand prints the plan that tis plan prints, offline.
type planCommand struct {
	policyFlags
	Human  bool   `help:"Print one line a call, for a person."`
	Script string `arg:"" optional:"" placeholder:"SCRIPT" help:"Script file; - or nothing reads stdin."`
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
	policy, err := c.load(p)
	if err != nil {
		return err
	}
	plan, err := policy.plan(ctx, script)
	if err != nil {
		return err
	}
	if !c.Human {
		return writeJSON(p.stdout, plan)
	}
	return printPlan(p.stdout, plan)
}

func (l *policy) plan(ctx context.Context, script *analyze.Script) (analyze.Plan, error) {
	cat := l.catalog
	if cat == nil {
		cat = catalog.New(nil, nil, catalog.Options{})
	}
	return script.Plan(cat, func(calls []catalog.Call) ([]approvals.Verdict, error) { return l.gate.Preview(ctx, "tis-lint", calls) })
}

func printPlan(w io.Writer, plan analyze.Plan) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "LINE\tCALL\tRISK\tWHERE")
	for _, call := range plan.Calls {
		input := "…" // not known before the run
		if call.Input != nil {
			input = catalog.Visible(string(call.Input))
		}
		fmt.Fprintf(t, "%d\t%s %s\t%s\t%s\n", call.Line, catalog.Visible(call.Tool), input, strings.ReplaceAll(string(call.Risk), "_", " "), call.Where)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	if !plan.Complete {
		fmt.Fprintln(w, "The plan is not complete: the script has commands, texts or files that are not known before it runs.")
	}
	return nil
}

// readScript reads a script file, or stdin for - and for nothing.
func (p *program) readScript(name string) (text, shown string, err error) {
	in := p.stdin
	if shown = name; name == "" || name == "-" {
		shown = "stdin"
	} else {
		f, err := os.Open(name)
		if err != nil {
			return "", name, usagef("%s: %w", name, reason(err))
		}
		defer f.Close()
		in = f
	}
	b, err := io.ReadAll(io.LimitReader(in, analyze.MaxSize+1))
	switch {
	case err != nil:
		return "", shown, usagef("%s: %w", shown, reason(err))
	case len(b) > analyze.MaxSize:
		return "", shown, usagef("%s: larger than 4 MiB", shown)
	}
	return string(b), shown, nil
}
