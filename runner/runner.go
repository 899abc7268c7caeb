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
	// Private are folders that no script may reach: a Dir above, below or in one
	// is refused as long as there is anything in it.
	Private []string
	// Protected are files that no script may read or change, although they lie
	// below Dir: the config, the approvals. A name that is free stays free.
	Protected []string
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
	if err := keepsPrivate(dir, o.Private); err != nil {
		return nil, err
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
	run := r.newRun(ctx, script)
	parsed, held := run.preflight(ctx)
	if held != nil {
		return *held, nil
	}
	if err := run.open(); err != nil {
		return report.Result{}, err
	}
	defer run.close()
	return run.result(run.execute(ctx, parsed)), nil
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

	// From here on, only once the script may start.
	tmp   string
	files *files
	shell *shell
}

// newRun makes a run of which nothing has begun.
func (r *Runner) newRun(ctx context.Context, script Script) *run {
	run := &run{
		Runner: r, script: script.named(), id: randomWord(),
		cat:    r.o.Catalog(ctx),
		report: report.New(report.Limits{MaxCalls: r.o.MaxCalls}),
		stdout: report.NewCapture(r.o.MaxOutput),
		stderr: report.NewCapture(r.o.MaxOutput),
	}
	run.out, run.err = tee(run.stdout, r.o.Stdout), tee(run.stderr, r.o.Stderr)
	return run
}

func (s Script) named() Script {
	setDefault(&s.Name, "script")
	return s
}

// open makes the temp directory and opens what the script may reach.
func (r *run) open() error {
	tmp, err := os.MkdirTemp("", "tis-")
	if err == nil {
		tmp, err = filepath.EvalSymlinks(tmp)
	}
	if err != nil {
		return fmt.Errorf("temp directory: %w", err)
	}
	fs, err := openFiles(r.o.Dir, tmp, protectedIn(r.o.Dir, r.o.Protected))
	if err != nil {
		return errors.Join(fmt.Errorf("working directory: %w", err), os.RemoveAll(tmp))
	}
	r.tmp, r.files = tmp, fs
	return nil
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

func (r *run) result(exit int) report.Result {
	output := func(c *report.Capture) report.Output {
		return report.Output{Text: c.String(), Truncated: c.Truncated(), Lines: c.Lines()}
	}
	return r.report.Result(output(r.stdout), output(r.stderr), exit)
}

// environment is everything that a script sees of the outside.
func (r *run) environment() []string {
	return append([]string{
		"PATH=" + sandbox.Path(), "HOME=" + r.o.Dir, "TMPDIR=" + r.tmp, "LANG=C.UTF-8", "SHELL=/bin/bash",
		"OSTYPE=" + runtime.GOOS + "-gnu", "BASH_VERSION=5.2.15(1)-release", "HOSTNAME=localhost", "USER=agent",
		"PS4=+ ",
	}, r.o.Env...)
}
