package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"

	"github.com/rogpeppe/go-internal/diff"

	"github.com/tools-in-shell/tis/analyze/lint"
	"github.com/tools-in-shell/tis/approvals"
	"github.com/tools-in-shell/tis/catalog"
)

// lintCommand is tis-lint itself.
type lintCommand struct {
	policyFlags
	Format     string   `short:"f" default:"text" enum:"text,json,jsonl,sarif,github,gcc,checkstyle,junit" help:"How findings are printed: ${enum}."`
	Severity   string   `default:"info" enum:"info,warning,error" help:"The least severity that is reported."`
	Fix        bool     `help:"Print what the safe fixes would change, as a diff."`
	Write      bool     `help:"With --fix: write the fixes into the files."`
	StdinName  string   `name:"stdin-filename" default:"stdin" placeholder:"NAME" help:"The name that stdin goes by."`
	JSONLField string   `name:"jsonl-field" placeholder:"PATH" help:"Read the files as JSON Lines and check the scripts at this dotted path, as in message.content.input.command."`
	Color      string   `default:"auto" enum:"auto,always,never" help:"Colours: auto, always or never."`
	Files      []string `arg:"" optional:"" placeholder:"FILE" help:"Files, folders, patterns; - is stdin."`
}

// found is what was found in one script.
type found struct {
	script   *script
	findings []lint.Finding
}

func (c *lintCommand) Run(ctx context.Context, p *program) error {
	if len(c.Files) == 0 {
		return usageError{errNothing}
	}
	if c.Write && !c.Fix {
		return usagef("--write goes with --fix")
	}
	policy, err := c.load(p)
	if err != nil {
		return err
	}
	o := policy.options(ctx)
	if err := o.Validate(); err != nil {
		return usagef("config: $.lint: %w", err)
	}
	r := &reader{p: p, stdin: c.StdinName, field: c.JSONLField}
	r.read(c.Files)
	results, err := check(r.scripts, o)
	if err != nil {
		return err
	}
	least := lint.Severity(c.Severity)
	total := 0
	for i := range results {
		kept := results[i].findings[:0]
		for _, f := range results[i].findings {
			if f.Severity.AtLeast(least) {
				kept = append(kept, f)
			}
		}
		results[i].findings = kept
		total += len(kept)
	}
	for _, fault := range r.faults {
		fmt.Fprintf(p.stderr, "tis-lint: %v\n", fault)
	}
	if c.Fix {
		err = c.fix(p, results)
	} else {
		var out bytes.Buffer
		err = formats[c.Format](&out, results, c.colored(p))
		if err == nil {
			_, err = out.WriteTo(p.stdout)
		}
	}
	switch {
	case err != nil:
		return err
	case len(r.faults) > 0:
		return exitError(exitUsage)
	case total > 0:
		return exitError(exitFindings)
	}
	return nil
}

// options are the linter's, by the config.
func (l *policy) options(ctx context.Context) lint.Options {
	o := lint.Options{Catalog: l.catalog, MaxCalls: l.cfg.Limits.Calls, Disabled: l.cfg.Lint.Disable, Severities: map[string]lint.Severity{}}
	for code, s := range l.cfg.Lint.Severity {
		o.Severities[code] = lint.Severity(s)
	}
	if l.catalog != nil {
		o.Preview = func(calls []catalog.Call) ([]approvals.Verdict, error) { return l.gate.Preview(ctx, "tis-lint", calls) }
	}
	return o
}

// check checks many scripts side by side; the results stand in their order.
func check(scripts []*script, o lint.Options) ([]found, error) {
	results, faults := make([]found, len(scripts)), make([]error, len(scripts))
	next := make(chan int)
	var wg sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), len(scripts)) {
		wg.Go(func() {
			for i := range next {
				s := scripts[i]
				results[i].script = s
				results[i].findings, faults[i] = lint.Check(s.text, o)
				if faults[i] != nil {
					faults[i] = fmt.Errorf("%s: %w", s.file, faults[i])
				}
			}
		})
	}
	for i := range scripts {
		next <- i
	}
	close(next)
	wg.Wait()
	return results, errors.Join(faults...)
}

func (c *lintCommand) colored(p *program) bool {
	if v, _ := p.getenv("NO_COLOR"); v != "" && c.Color == "auto" {
		return false
	}
	return c.Color == "always" || c.Color == "auto" && onTerminal(p.stdout)
}

// fix prints what the fixes would change, or writes it.
func (c *lintCommand) fix(p *program, results []found) error {
	for _, r := range results {
		s := r.script
		text, n := lint.ApplyFixes(s.text, r.findings)
		if n == 0 {
			continue
		}
		whole := s.line == 0 && s.record == 0
		switch {
		case !c.Write:
			p.stdout.Write(diff.Diff(s.file, []byte(s.text), s.file+" fixed", []byte(text)))
		case !whole || s.file == c.StdinName && c.StdinName != "" && !isFile(s.file):
			fmt.Fprintf(p.stderr, "tis-lint: %s: fixes are written into script files only; this one is left as it is\n", s.file)
		default:
			if err := replace(s.file, text); err != nil {
				return usagef("%s: %w", s.file, reason(err))
			}
			fmt.Fprintf(p.stdout, "%s: %d fixed\n", s.file, n)
		}
	}
	return nil
}

func isFile(name string) bool {
	info, err := os.Stat(name)
	return err == nil && info.Mode().IsRegular()
}

// replace writes a file beside the old one, which then takes its place.
func replace(name, text string) error {
	name, err := filepath.EvalSymlinks(name)
	if err != nil {
		return err
	}
	info, err := os.Stat(name)
	if err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(name), filepath.Base(name)+".*")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	if _, err = io.Copy(f, strings.NewReader(text)); err == nil {
		err = f.Chmod(info.Mode().Perm())
	}
	if err2 := f.Close(); err == nil {
		err = err2
	}
	if err == nil {
		err = os.Rename(f.Name(), name)
	}
	return err
}
