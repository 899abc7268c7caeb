package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"time"

	"github.com/tools-in-shell/tis/report"
	"github.com/tools-in-shell/tis/runner"
	"github.com/tools-in-shell/tis/runner/sandbox"
)

// runCommand is `tis run`.
type runCommand struct {
	configFlag
	storeFlags
	JSON    bool          `name:"json" help:"Print the bash result as one JSON object."`
	Timeout time.Duration `placeholder:"DUR" help:"Time limit of the script, as 90s or 5m; default from the config, else 2m."`
	Dir     string        `placeholder:"DIR" default:"." help:"Working directory of the script."`
	Defer   bool          `help:"Never ask on the terminal; leave the requests for tis approvals."`
	Script  string        `arg:"" optional:"" placeholder:"SCRIPT" help:"Script file; - or nothing reads stdin."`
	Args    []string      `arg:"" optional:"" placeholder:"ARG" help:"Positional parameters of the script."`
}

func (c *runCommand) Run(ctx context.Context, p *program) error {
	if c.Timeout < 0 {
		return usagef("--timeout %v: want a positive duration", c.Timeout)
	}
	text, name, err := p.readScript(c.Script)
	if err != nil {
		return err
	}
	t, err := p.openTools(ctx, c.Config)
	if err != nil {
		return err
	}
	defer t.Close()
	if err := checkSandbox(t.cfg.Sandbox); err != nil {
		return err
	}
	gate, store, err := p.openGate(ctx, t.cfg, c.Store)
	if err != nil {
		return err
	}
	defer store.Close()
	r, err := runner.New(c.options(p, t, runner.Options{Catalog: t.catalog, Gate: gate}))
	if err != nil {
		return usageError{err}
	}
	script := runner.Script{Text: text, Name: name, Session: c.Session, Args: c.Args}
	for {
		result, err := r.Run(ctx, script)
		if err != nil {
			return err
		}
		asked := false
		if len(result.ApprovalRequests) > 0 && c.interactive(p) {
			if asked, err = p.askAll(ctx, gate, t.catalog(ctx), result.ApprovalRequests); err != nil {
				return err
			}
		}
		// Nothing of a held script has run, so once all is answered it starts.
		if held := result.Tools != nil && result.Tools.Stopped != nil && result.Tools.Stopped.BeforeStart; held && asked {
			continue
		}
		return c.finish(p, result)
	}
}

// checkSandbox refuses to run a script under a promise that cannot be kept: the
// kernel confines the utilities, and not the interpreter.
func checkSandbox(mode string) error {
	if mode != "required" {
		return nil
	}
	missing := "the shell's interpreter runs inside tis, where the kernel does not confine it"
	if m := sandbox.Probe().Missing; m != "" {
		missing += "; " + m
	}
	return usagef("the config says \"sandbox\": \"required\", and %s; say best_effort to run scripts even so", missing)
}

// options fills in the limits of the command line and the config.
func (c *runCommand) options(p *program, t *tools, o runner.Options) runner.Options {
	l := t.cfg.Limits
	o.Dir, o.Private, o.Protected, o.Utilities = c.Dir, t.private, t.protected, true
	if c.Store != "" {
		o.Protected = append(o.Protected, p.protected("", c.Store)...)
	}
	o.Timeout = time.Duration(l.TimeoutSeconds) * time.Second
	if c.Timeout > 0 {
		o.Timeout = c.Timeout
	}
	o.MaxCalls, o.MaxOutput, o.MaxResult = l.Calls, l.OutputBytes, l.ResultBytes
	o.MaxMemory = 2 << 30
	if !c.JSON {
		o.Stdout, o.Stderr = p.stdout, p.stderr
	}
	return o
}

// interactive reports whether a person sits at the terminal and may be asked.
func (c *runCommand) interactive(p *program) bool {
	return !c.Defer && !c.JSON && c.Script != "" && c.Script != "-" && onTerminal(p.stdin) && onTerminal(p.stderr)
}

func (c *runCommand) finish(p *program, result report.Result) error {
	if c.JSON {
		if err := writeJSON(p.stdout, result); err != nil {
			return err
		}
	} else {
		printReport(p.stderr, result)
	}
	if result.ExitCode != 0 {
		return exitError(result.ExitCode)
	}
	return nil
}

// writeJSON prints v as one line.
func writeJSON(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	return enc.Encode(v)
}

// printReport tells a person what the run did, when there is something to tell.
func printReport(w io.Writer, result report.Result) {
	t := result.Tools
	if t == nil {
		return
	}
	fmt.Fprintln(w, "── report ──")
	for _, d := range t.Done {
		mark, tail := "done  ", ""
		if !d.OK {
			mark, tail = "failed", " — "+visible(d.Error)
		}
		fmt.Fprintf(w, "%s  %s %s%s\n", mark, visible(d.Tool), visible(string(d.Input)), tail)
	}
	if t.ReadOnlyCalls > 0 {
		fmt.Fprintf(w, "read    %d read-only calls\n", t.ReadOnlyCalls)
	}
	if s := t.Stopped; s != nil {
		fmt.Fprintf(w, "stopped %s", s.Reason)
		if s.BeforeStart {
			fmt.Fprint(w, ", before the start")
		}
		if s.Call != nil {
			fmt.Fprintf(w, ": %s %s", visible(s.Call.Tool), visible(string(s.Call.Input)))
		}
		fmt.Fprintln(w)
	}
	if t.NotReached != "" {
		fmt.Fprintf(w, "then    %s\n", t.NotReached)
	}
	for _, r := range result.ApprovalRequests {
		fmt.Fprintf(w, "answer  tis approvals answer %s allow|allow_always|reject|reject_always --session %s\n", r.ID, visible(r.Session))
	}
}
