package runner

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"github.com/tools-in-shell/tis/analyze"
	"github.com/tools-in-shell/tis/analyze/dialect"
	"github.com/tools-in-shell/tis/approvals"
	"github.com/tools-in-shell/tis/catalog"
	"github.com/tools-in-shell/tis/intercept"
	"github.com/tools-in-shell/tis/report"
	"github.com/tools-in-shell/tis/runner/sandbox"
)

// Options say what a Runner's scripts can do. Catalog and Dir are required.
type Options struct {
	// Catalog gives the tools of the next run; it is asked once a run.
	Catalog func(ctx context.Context) *catalog.Catalog
	// Gate judges the calls. Nil asks about nothing.
	Gate *approvals.Gate
	// Before and After are the hooks around every call.
	Before []intercept.Before
	After  []intercept.After

	// Dir is the working directory, which must exist and be writable. A script
	// reaches no file outside it and its own temp directory.
	Dir string
	// Env are further variables ("KEY=value") for scripts and utilities.
	Env []string
	// Utilities lets scripts start the host's text and file utilities, confined
	// as sandbox.Probe says. Off, a script has the shell's builtins, tools and jq.
	Utilities bool

	Timeout     time.Duration // of a run; default 2 minutes
	CallTimeout time.Duration // of one call; default 60 seconds
	MaxCalls    int           // calls of a run; default 50
	MaxOutput   int           // bytes kept of each stream; default 256 KiB
	MaxResult   int64         // bytes of one result; default 10 MiB
	MaxCommands int64         // simple commands of a run; default 1,000,000
	// MaxMemory ends a run while the whole process's heap is larger; bytes,
	// 0 for no limit. It is for programs that do one run at a time.
	MaxMemory uint64

	// Stdin is the script's own standard input. Nil is empty.
	Stdin io.Reader
	// Stdout and Stderr also get what the script prints, as it prints it.
	Stdout, Stderr io.Writer
}

// Runner runs scripts. It is safe for concurrent use.
type Runner struct{ o Options }

// Script is one script to run.
type Script struct {
	Text string
	// Name stands in messages; default "script".
	Name string
	// Session is whose answers and remembered decisions count.
	Session string
	// Args are the positional parameters.
	Args []string
}

// New checks the options and makes a Runner.
func New(o Options) (*Runner, error) {
	if o.Catalog == nil {
		return nil, errors.New("runner: Options.Catalog is missing")
	}
	dir, err := filepath.Abs(o.Dir)
	if err == nil {
		dir, err = filepath.EvalSymlinks(dir)
	}
	if err != nil {
		return nil, fmt.Errorf("working directory: %w", err)
	}
	if fi, err := os.Stat(dir); err != nil {
		return nil, fmt.Errorf("working directory: %w", err)
	} else if !fi.IsDir() {
		return nil, fmt.Errorf("working directory %s: not a directory", dir)
	}
	if err := writable(dir); err != nil {
		return nil, fmt.Errorf("working directory %s cannot be written: %w", dir, err)
	}
	o.Dir = dir
	setDefault(&o.Timeout, 2*time.Minute)
	setDefault(&o.CallTimeout, time.Minute)
	setDefault(&o.MaxCalls, 50)
	setDefault(&o.MaxOutput, 256<<10)
	setDefault(&o.MaxResult, 10<<20)
	setDefault(&o.MaxCommands, 1_000_000)
	return &Runner{o: o}, nil
}

func setDefault[T comparable](p *T, v T) {
	var zero T
	if *p == zero {
		*p = v
	}
}

func writable(dir string) error {
	f, err := os.CreateTemp(dir, ".tis-*")
	if err != nil {
		return err
	}
	return errors.Join(f.Close(), os.Remove(f.Name()))
}

// Run executes the script. What the script does wrong, and what stopped it, is
// in the result; the error is for the host's own faults.
func (r *Runner) Run(ctx context.Context, script Script) (report.Result, error) {
	setDefault(&script.Name, "script")
	run, err := r.start(ctx, script)
	if err != nil {
		return report.Result{}, err
	}
	defer run.close()
	return run.do(ctx), nil
}

// run is one run of one script.
type run struct {
	*Runner
	script Script
	id     string
	cat    *catalog.Catalog
	report *report.Run
	stdout *report.Capture
	stderr *report.Capture
	out    io.Writer
	err    io.Writer
	tmp    string
	files  *files
	shell  *shell
}

func (r *Runner) start(ctx context.Context, script Script) (*run, error) {
	tmp, err := os.MkdirTemp("", "tis-")
	if err == nil {
		tmp, err = filepath.EvalSymlinks(tmp)
	}
	if err != nil {
		return nil, fmt.Errorf("temp directory: %w", err)
	}
	fs, err := openFiles(r.o.Dir, tmp)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("working directory: %w", err), os.RemoveAll(tmp))
	}
	run := &run{
		Runner: r, script: script, id: randomWord(), tmp: tmp, files: fs,
		cat:    r.o.Catalog(ctx),
		report: report.New(report.Limits{MaxCalls: r.o.MaxCalls}),
		stdout: report.NewCapture(r.o.MaxOutput),
		stderr: report.NewCapture(r.o.MaxOutput),
	}
	run.out, run.err = tee(run.stdout, r.o.Stdout), tee(run.stderr, r.o.Stderr)
	return run, nil
}

func tee(keep *report.Capture, live io.Writer) io.Writer {
	if live == nil {
		return keep
	}
	return io.MultiWriter(keep, live)
}

func (r *run) close() {
	r.files.Close()
	os.RemoveAll(r.tmp)
}

// do parses, holds or runs, and reports.
func (r *run) do(ctx context.Context) report.Result {
	parsed, err := analyze.Parse(r.script.Text, r.script.Name)
	if err != nil {
		return r.refuse(2, err.Error())
	}
	if err := dialect.Check(parsed.File); err != nil {
		return r.refuse(2, fmt.Sprintf("%s:%v", r.script.Name, err))
	}
	held, err := r.hold(ctx, parsed)
	if err != nil {
		return r.refuse(1, catalogLine(err))
	}
	if held {
		return r.result(1)
	}
	return r.result(r.execute(ctx, parsed))
}

// refuse reports a script that did not start.
func (r *run) refuse(exit int, message string) report.Result {
	fmt.Fprintln(r.err, message)
	return r.result(exit)
}

func (r *run) result(exit int) report.Result {
	output := func(c *report.Capture) report.Output {
		return report.Output{Text: c.String(), Truncated: c.Truncated(), Lines: c.Lines()}
	}
	return r.report.Result(output(r.stdout), output(r.stderr), exit)
}

func catalogLine(err error) string {
	var ce *catalog.Error
	if !errors.As(err, &ce) {
		ce = &catalog.Error{Code: catalog.Unavailable, Retryable: true,
			Message: "approvals cannot be checked, so the script was not started: " + err.Error()}
	}
	return ce.Line()
}

// hold previews the calls that are written out in full. When one needs an
// answer it raises the requests and records the stop: the script must not start.
func (r *run) hold(ctx context.Context, script *analyze.Script) (bool, error) {
	if r.o.Gate == nil {
		return false, nil
	}
	for _, name := range script.NamesLoads(r.cat) {
		// A server that cannot load is left to the call, which reports it.
		if err := r.cat.LoadServer(ctx, name); err != nil {
			continue
		}
	}
	var calls []catalog.Call
	for _, v := range script.Visible(r.cat) {
		if v.Call != nil && v.Call.Tool.Check(v.Call.Input) == nil {
			calls = append(calls, *v.Call)
		}
	}
	if len(calls) == 0 {
		return false, nil
	}
	verdicts, err := r.o.Gate.Preview(ctx, r.script.Session, calls)
	if err != nil {
		return false, err
	}
	var gated []catalog.Call
	var why string
	for i, v := range verdicts {
		if v.Outcome == approvals.Ask && len(gated) < maxRequests {
			if len(gated) == 0 {
				why = v.Message
			}
			gated = append(gated, calls[i])
		}
	}
	if len(gated) == 0 {
		return false, nil
	}
	requests, err := r.o.Gate.Ask(ctx, r.script.Session, r.id, gated)
	if err != nil {
		return false, err
	}
	r.report.Stop(report.Stop{Reason: report.NeedsApproval, Call: &gated[0], BeforeStart: true, Requests: requests})
	message := fmt.Sprintf("%s needs a person's approval, so the script was not started; run the same script again after the answer", gated[0].Tool.Command())
	if why != "" {
		message += " (" + why + ")"
	}
	fmt.Fprintln(r.err, (&catalog.Error{Code: catalog.NeedsApproval, Message: message}).Line())
	return true, nil
}

// maxRequests bounds how many questions one script raises at once.
const maxRequests = 20

// environment is everything that a script sees of the outside.
func (r *run) environment() []string {
	return append([]string{
		"PATH=" + sandbox.Path(), "HOME=" + r.o.Dir, "TMPDIR=" + r.tmp, "LANG=C.UTF-8", "SHELL=/bin/bash",
		"OSTYPE=" + runtime.GOOS + "-gnu", "BASH_VERSION=5.2.15(1)-release", "HOSTNAME=localhost", "USER=agent",
		"PS4=+ ",
	}, r.o.Env...)
}
