package runner

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"runtime/metrics"
	"time"

	"mvdan.cc/sh/v3/interp"

	"github.com/tools-in-shell/tis/analyze"
	"github.com/tools-in-shell/tis/analyze/dialect"
	"github.com/tools-in-shell/tis/report"
)

// What a run waits for after its script ended or was stopped.
const (
	callGrace  = 5 * time.Second // calls in flight may finish
	shellGrace = time.Second     // the shell's goroutines notice
)

// errStop ends the interpreter. It has no text because expansions print it.
var errStop = stopError{}

type stopError struct{}

func (stopError) Error() string { return "" }

// execute runs the parsed script and returns its exit code.
func (r *run) execute(ctx context.Context, script *analyze.Script) int {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	timed, stopTimer := context.WithTimeout(ctx, r.o.Timeout)
	defer stopTimer()
	r.shell = newShell(r, cancel)

	done := make(chan int, 1)
	protectedBefore := r.files.protected.there()
	go func() { done <- r.interpret(timed, script) }()
	stopWatch := r.watch(timed)
	defer stopWatch()

	exit := -1
	select {
	case exit = <-done:
	case <-timed.Done():
	}
	if exit < 0 || timed.Err() != nil {
		exit = r.interrupted(ctx, timed)
	}
	// Nothing new may start, but a call that a background job has already made is
	// waited for, so that the report can tell what it did.
	r.shell.end()
	grace, stopGrace := context.WithTimeout(context.WithoutCancel(ctx), callGrace)
	defer stopGrace()
	r.report.Finish(grace)
	cancel(errStop)
	r.release()
	r.shell.wait(shellGrace)
	r.files.protected.takeAway(protectedBefore, r.err)
	if stop := r.report.Stopped(); stop != nil && exit == 0 {
		exit = 1
	}
	return exit
}

// interrupted names, once, why the context ended before the script did.
func (r *run) interrupted(ctx, timed context.Context) int {
	exit := 1
	switch {
	case r.report.Stopped() != nil && ctx.Err() != nil: // stopped by a call or a limit
	case ctx.Err() == nil && errors.Is(timed.Err(), context.DeadlineExceeded):
		if r.report.Stop(report.Stop{Reason: report.TimeLimit}) {
			fmt.Fprintf(r.err, "tis: the script was ended after its time limit of %v\n", r.o.Timeout)
		}
		exit = 124
	default:
		if r.report.Stop(report.Stop{Reason: report.Cancelled}) {
			fmt.Fprintln(r.err, "tis: the script was cancelled by its caller")
		}
	}
	return exit
}

// interpret runs the shell to its end.
func (r *run) interpret(ctx context.Context, script *analyze.Script) (exit int) {
	defer func() {
		if p := recover(); p != nil {
			fmt.Fprintf(r.err, "tis: the shell failed inside: %v\n", p)
			exit = 1
		}
	}()
	markTree(script.File)
	dialect.Repair(script.File)
	in, err := r.shell.interpreter(r.o.Dir, r.environment(), r.o.Stdin, r.out, r.err, r.script.Args)
	if err != nil {
		fmt.Fprintf(r.err, "tis: the shell cannot start: %v\n", err)
		return 1
	}
	return exitCode(in.Run(ctx, script.File))
}

func exitCode(err error) int {
	if err == nil {
		return 0
	}
	var status interp.ExitStatus
	if errors.As(err, &status) {
		return int(status)
	}
	return 1
}

// watch ends the run when the heap grows past the limit. String doubling and
// endless arrays happen inside the interpreter, where nothing else can see them.
func (r *run) watch(ctx context.Context) (stop func()) {
	if r.o.MaxMemory == 0 {
		return func() {}
	}
	ctx, cancel := context.WithCancel(ctx)
	finished := make(chan struct{})
	go func() {
		defer close(finished)
		sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
		for {
			select {
			case <-ctx.Done():
				return
			case <-time.After(20 * time.Millisecond):
			}
			metrics.Read(sample)
			if sample[0].Value.Uint64() > r.o.MaxMemory {
				runtime.GC() // what is garbage does not count
				if metrics.Read(sample); sample[0].Value.Uint64() > r.o.MaxMemory {
					r.limit("memory", fmt.Sprintf("%d MiB", r.o.MaxMemory>>20))
					return
				}
			}
		}
	}()
	return func() { cancel(); <-finished }
}

// limit ends the run because one of its bounds was passed.
func (r *run) limit(what, bound string) {
	if r.report.Stop(report.Stop{Reason: report.ResourceLimit, Message: what}) {
		fmt.Fprintf(r.err, "tis: the script was ended by its limit on %s (%s)\n", what, bound)
	}
	r.shell.cancel(errStop)
}
