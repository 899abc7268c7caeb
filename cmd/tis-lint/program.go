package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"runtime/debug"

	"github.com/alecthomas/kong"
	"github.com/mattn/go-isatty"

	"github.com/tools-in-shell/tis/approvals"
	"github.com/tools-in-shell/tis/catalog"
	"github.com/tools-in-shell/tis/config"
)

// Exit codes.
const (
	exitClean    = 0
	exitFindings = 1
	exitUsage    = 2 // the command line, the config or an input is wrong
)

// program is one invocation; its streams and environment are arguments, so that
// the whole of it runs in a test.
type program struct {
	stdin          io.Reader
	stdout, stderr io.Writer
	getenv         func(string) (string, bool)
}

type commands struct {
	Lint    lintCommand    `cmd:"" default:"withargs" help:"Check scripts: files, folders, Markdown, agent transcripts."`
	Explain explainCommand `cmd:"" help:"Print the page of a rule."`
	Rules   rulesCommand   `cmd:"" help:"List the rules."`
	Plan    planCommand    `cmd:"" help:"Print what a script would call, as JSON. Nothing runs."`
	Corpus  corpusCommand  `cmd:"" help:"Replay recorded scripts and say what has become different."`
	Agent   agentCommand   `cmd:"" help:"Check an agent's capabilities and rules."`
	Hook    hookCommand    `cmd:"" help:"Judge one script as an agent program's pre-run hook: an event on stdin, an answer on stdout."`
	Version versionCommand `cmd:"" help:"Print the version."`
}

// usageError is a fault in what the user gave.
type usageError struct{ error }

func usagef(format string, args ...any) error { return usageError{fmt.Errorf(format, args...)} }

// exitError ends the program with a code and no message.
type exitError int

func (e exitError) Error() string { return fmt.Sprintf("exit code %d", int(e)) }

func (p *program) main(ctx context.Context, args []string) int {
	var cmds commands
	exited := -1
	parser, err := kong.New(&cmds, kong.Name("tis-lint"),
		kong.Description("The linter for scripts that call tools. Exit code 0: nothing found, 1: findings, 2: something could not be read."),
		kong.Writers(p.stdout, p.stderr), kong.Exit(func(code int) { exited = code }),
		kong.BindTo(ctx, (*context.Context)(nil)), kong.Bind(p),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true}),
	)
	if err != nil { // the struct tags are wrong
		panic(err)
	}
	if len(args) == 0 {
		args = []string{"--help"}
	}
	kctx, err := parser.Parse(args)
	switch {
	case exited >= 0: // --help
		return exited
	case err != nil:
		fmt.Fprintf(p.stderr, "tis-lint: %v; see tis-lint --help\n", err)
		return exitUsage
	}
	var code exitError
	switch err := kctx.Run(); {
	case err == nil:
		return exitClean
	case errors.As(err, &code):
		return int(code)
	default:
		fmt.Fprintf(p.stderr, "tis-lint: %v\n", err)
		return exitUsage
	}
}

// policyFlags say what scripts are checked against.
type policyFlags struct {
	Config  string   `short:"c" name:"config" placeholder:"FILE" help:"Config file: mode, rules, tools that are kept visible, limits and the linter's own section; default tis.json, if there is one."`
	Catalog []string `placeholder:"FILE" help:"Catalog file, as tis snapshot writes it; may be given several times."`
}

// policy is what scripts are checked against.
type policy struct {
	cfg     *config.Config
	catalog *catalog.Catalog // nil without a catalog file
	gate    *approvals.Gate
}

func (f *policyFlags) load(p *program) (*policy, error) {
	out := &policy{cfg: &config.Config{}}
	name := f.Config
	if name == "" {
		if _, err := os.Stat("tis.json"); err == nil {
			name = "tis.json"
		}
	}
	if name != "" {
		cfg, err := config.Load(name, p.getenv)
		if err != nil {
			return nil, usageError{err}
		}
		out.cfg = cfg
	}
	rules, err := approvals.CompileRules(out.cfg.Rules)
	if err != nil {
		return nil, usagef("config %s: %w", name, err)
	}
	out.gate = approvals.NewGate(approvals.NewMemory(), approvals.Config{Mode: out.cfg.Approval.Mode, Timeout: out.cfg.Approval.Timeout, Rules: rules})
	var servers []catalog.Source
	var top []*catalog.Tool
	for _, t := range out.cfg.Tools {
		top = append(top, t.Tool)
	}
	for _, file := range f.Catalog {
		s, t, err := readCatalog(file)
		if err != nil {
			return nil, err
		}
		servers, top = append(servers, s...), append(top, t...)
	}
	if len(f.Catalog) > 0 || len(top) > 0 {
		// Offline nothing is loaded later: an on-demand server's tools are known.
		out.catalog = catalog.New(servers, top, catalog.Options{KeepVisible: out.cfg.KeepVisible})
	}
	return out, nil
}

func readCatalog(name string) ([]catalog.Source, []*catalog.Tool, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, nil, usagef("catalog %s: %w", name, reason(err))
	}
	defer f.Close()
	servers, top, err := catalog.ParseCatalogFile(f, name)
	if err != nil {
		return nil, nil, usageError{err}
	}
	for i, s := range servers {
		if s.Load != nil {
			if servers[i].Tools, err = s.Load(context.Background()); err != nil {
				return nil, nil, usageError{err}
			}
			servers[i].Load, servers[i].Loaded = nil, true
		}
	}
	return servers, top, nil
}

// reason is a file error without its operation and path.
func reason(err error) error {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		return pe.Err
	}
	return err
}

// onTerminal reports whether a stream is a terminal.
func onTerminal(stream any) bool {
	f, ok := stream.(*os.File)
	return ok && isatty.IsTerminal(f.Fd())
}

// writeJSON prints v as one line.
func writeJSON(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	return enc.Encode(v)
}

type versionCommand struct{}

func (*versionCommand) Run(p *program) error {
	fmt.Fprintln(p.stdout, "tis-lint", version())
	return nil
}

func version() string {
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		return info.Main.Version
	}
	return "(devel)"
}
