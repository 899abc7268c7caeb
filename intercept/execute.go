package intercept

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/tools-in-shell/tis/catalog"
	"github.com/tools-in-shell/tis/report"
)

// leave is how long a tool may take to notice that its context is done.
const leave = time.Second

// execute runs the tool. The output is empty when there is an error.
func (i *Interceptor) execute(ctx context.Context, call catalog.Call) (catalog.Output, *catalog.Error) {
	work, cancel := i.patient(ctx)
	defer cancel()
	out, err := guard(work, leave, func(ctx context.Context) (catalog.Output, error) {
		return call.Tool.Executor.Execute(ctx, bytes.Clone(call.Input))
	})
	if err != nil {
		return catalog.Output{}, i.fault(work, call, err)
	}
	if n := size(out); n > i.MaxResult {
		return catalog.Output{}, catalog.Errorf(catalog.ToolError, "%s ran, and its result of %d bytes is over the limit of %d; ask for less", call.Tool.Command(), n, i.MaxResult)
	}
	return out, nil
}

// prepare lets the tool make ready before the gate is asked.
func (i *Interceptor) prepare(ctx context.Context, call catalog.Call) *catalog.Error {
	p, ok := call.Tool.Executor.(catalog.Preparer)
	if !ok {
		return nil
	}
	ctx, cancel := i.whileOpen(ctx)
	defer cancel()
	ctx, stop := context.WithTimeout(ctx, i.CallTimeout)
	defer stop()
	_, err := guard(ctx, 0, func(ctx context.Context) (struct{}, error) { return struct{}{}, p.Prepare(ctx) })
	var ce *catalog.Error
	var panic panicked
	switch {
	case err == nil:
		return nil
	case errors.As(err, &ce) && ce != nil:
		return ce
	case errors.As(err, &panic):
		return catalog.Errorf(catalog.ToolError, "%s was not called: making ready for it %v", call.Tool.Command(), panic)
	case i.Report.Stopped() != nil:
		return stopped()
	}
	return &catalog.Error{Code: catalog.Unavailable, Retryable: true, Message: call.Tool.Command() + " could not be made ready, so the call was not made: " + err.Error()}
}

// fault is how a tool failed, as the script sees it.
func (i *Interceptor) fault(work context.Context, call catalog.Call, err error) *catalog.Error {
	var ce *catalog.Error
	if errors.As(err, &ce) && ce != nil {
		return ce
	}
	var p panicked
	if errors.As(err, &p) {
		return catalog.Errorf(catalog.ToolError, "%s %v", call.Tool.Command(), p)
	}
	unknown := func(why string) *catalog.Error {
		return &catalog.Error{Code: catalog.ToolError, Retryable: true, Message: "outcome unknown: " + call.Tool.Command() + " " + why}
	}
	switch cause := context.Cause(work); {
	case cause == errCallTime:
		return unknown(fmt.Sprintf("did not answer in %v", i.CallTimeout))
	case cause != nil:
		return unknown("was at work when the run ended")
	case errors.Is(err, context.DeadlineExceeded):
		return unknown("did not answer in time")
	}
	return catalog.Errorf(catalog.ToolError, "%v", err)
}

var (
	errCallTime = errors.New("the call's time is over")
	errRunEnded = errors.New("the run has ended")
)

// patient is a context for a call at work. It ends with the call's time-out and
// with ctx; when another call or a limit stopped the run it goes on for the
// grace, or until the record is closed, so that the report can tell the outcome.
func (i *Interceptor) patient(ctx context.Context) (context.Context, context.CancelFunc) {
	timed, stopTimer := context.WithTimeoutCause(context.WithoutCancel(ctx), i.CallTimeout, errCallTime)
	work, end := context.WithCancelCause(timed)
	forget := context.AfterFunc(ctx, func() {
		if s := i.Report.Stopped(); s != nil && s.Reason != report.TimeLimit && s.Reason != report.Cancelled {
			select {
			case <-time.After(i.Grace):
			case <-i.Report.Closed():
			case <-work.Done():
			}
		}
		end(errRunEnded)
	})
	return work, func() {
		forget()
		end(nil)
		stopTimer()
	}
}

// size is how many bytes of a result would reach the script.
func size(out catalog.Output) (n int64) {
	for _, p := range out.Parts {
		switch {
		case binary(p):
			n += int64(len(p.Data))
		case len(out.Structured) > 0: // printed instead
		case plain(p):
			n += int64(len(p.Text))
		default:
			n += int64(max(len(p.Raw), len(p.Text)))
		}
	}
	return n + int64(len(out.Structured))
}
