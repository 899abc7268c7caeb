package intercept_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tools-in-shell/tis/approvals"
	"github.com/tools-in-shell/tis/catalog"
	"github.com/tools-in-shell/tis/intercept"
	"github.com/tools-in-shell/tis/report"
)

func TestHelpSearchAndPlanAreNoCalls(t *testing.T) {
	b := newBench(t)
	b.cfg.Report = report.New(report.Limits{MaxCalls: 1})
	for _, line := range []string{"", "--help", "s", "s put --help", "search put", "plan"} {
		t.Run("tools "+line, func(t *testing.T) {
			b.stdin = nil
			if line == "plan" {
				b.stdin = strings.NewReader("tools s put a='<x>'\ntools s del\n")
			}
			r := b.run(line)
			require.Zero(t, r.exit, "%+v", r)
			require.NotEmpty(t, r.stdout)
			require.Empty(t, r.stderr)
		})
	}
	b.stdin = nil
	require.Empty(t, b.executed())
	require.Zero(t, b.run("s get").exit, "the only call of the limit is still free")
	open, err := b.cfg.Gate.List(ctx, "")
	require.NoError(t, err)
	require.Empty(t, open)
}

func TestPlanReadsTheScriptThatIsGivenToIt(t *testing.T) {
	const script = "tools s put a='<x>'\ntools s del\nn=1; tools s get n=$n"
	const plan = `{"calls":[{"tool":"tools s put","input":{"a":"<x>"},"risk":"changes","where":"script","line":1},` +
		`{"tool":"tools s del","input":{},"risk":"needs_approval","where":"script","line":2},` +
		`{"tool":"tools s get","input":null,"risk":"checked_at_run_time","where":"script","line":3}],"complete":true}` + "\n"
	for _, c := range []struct {
		name, line          string
		attached, inherited io.Reader
		want                string // "" is invalid_input
	}{
		{"attached", "plan", strings.NewReader(script), nil, plan},
		{"a dash, attached", "plan -", strings.NewReader(script), nil, plan},
		{"a dash reads what is inherited", "plan -", nil, strings.NewReader(script), plan},
		{"what is inherited is not read without it", "plan", nil, strings.NewReader(script), ""},
		{"nothing", "plan", nil, nil, ""},
		{"no script", "plan", strings.NewReader("if true; then"), nil, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newBench(t)
			b.run("--help")
			var out, errs strings.Builder
			exit := b.i.Command(ctx, strings.Fields(c.line), intercept.Stdio{Attached: c.attached, Inherited: c.inherited, Stdout: &out, Stderr: &errs})
			if c.want == "" {
				require.Equal(t, catalog.InvalidInput, failed(t, ran{exit, out.String(), errs.String()}).Code)
				return
			}
			require.Equal(t, c.want, out.String(), errs.String())
		})
	}
}

func TestNothingIsAskedAboutAnInvalidInput(t *testing.T) {
	b := newBench(t)
	require.Equal(t, catalog.InvalidInput, failed(t, b.run("s del n=x")).Code)
	require.Equal(t, catalog.UnknownCommand, failed(t, b.run("s nothing")).Code)
	require.Nil(t, b.cfg.Report.Stopped())
	require.Nil(t, b.report().Tools)
}

func TestInvalidInputDoesNotCount(t *testing.T) {
	b := newBench(t)
	b.cfg.Report = report.New(report.Limits{MaxCalls: 1})
	failed(t, b.run("s put n=x"))
	require.Zero(t, b.run("s put n=1").exit)
}

func TestTheCallPastTheLimitStopsTheRun(t *testing.T) {
	b := newBench(t)
	var stops []report.Stop
	b.cfg.OnStop = func(s report.Stop) { stops = append(stops, s) }
	for n := range 50 {
		require.Zero(t, b.run(fmt.Sprintf("s put n=%d", n)).exit)
	}
	require.Equal(t, catalog.CallLimit, failed(t, b.run("s put n=50")).Code)
	require.Equal(t, catalog.Stopped, failed(t, b.run("s get")).Code)
	require.Equal(t, catalog.Stopped, failed(t, b.run("--help")).Code)
	require.Len(t, b.executed(), 50)
	require.Len(t, stops, 1)
	require.Equal(t, report.CallLimit, b.report().Tools.Stopped.Reason)
	require.JSONEq(t, `{"n":50}`, string(b.report().Tools.Stopped.Call.Input))
}

func TestFiftyCallsRaceForTheLimit(t *testing.T) {
	b := newBench(t)
	b.cfg.Report = report.New(report.Limits{MaxCalls: 20})
	running, cancel := context.WithCancel(ctx)
	var stops atomic.Int64
	b.cfg.OnStop = func(report.Stop) { stops.Add(1); cancel() }
	b.cfg.Before = []intercept.Before{func(ctx context.Context, c catalog.Call) (catalog.Call, error) {
		time.Sleep(time.Millisecond)
		return c, ctx.Err()
	}}
	b.tool("slow", `{}`, func(ctx context.Context, in json.RawMessage) (catalog.Output, error) {
		time.Sleep(time.Millisecond)
		return catalog.TextOutput(string(in)), ctx.Err()
	})
	b.run("--help")
	codes := map[catalog.Code]int{}
	var mu sync.Mutex
	var all sync.WaitGroup
	for n := range 50 {
		all.Go(func() {
			r := b.runCtx(running, fmt.Sprintf("s slow n=%d", n))
			code := catalog.Code("ran")
			if r.exit != 0 {
				code = failed(t, r).Code
			}
			mu.Lock()
			defer mu.Unlock()
			codes[code]++
		})
	}
	all.Wait()
	require.Equal(t, map[catalog.Code]int{"ran": 20, catalog.CallLimit: 1, catalog.Stopped: 29}, codes)
	require.Len(t, b.executed(), 20)
	require.Len(t, b.done(), 20)
	require.EqualValues(t, 1, stops.Load())
}

func TestFiftyCallsAtTheLimitRunExactly(t *testing.T) {
	b := newBench(t)
	b.cfg.Report = report.New(report.Limits{MaxCalls: 50})
	var all sync.WaitGroup
	b.run("--help")
	for n := range 50 {
		all.Go(func() { b.run(fmt.Sprintf("s put n=%d", n)) })
	}
	all.Wait()
	require.Len(t, b.executed(), 50)
	require.Len(t, b.done(), 50)
	require.Equal(t, catalog.CallLimit, failed(t, b.run("s put")).Code)
}

func TestFailuresOfATool(t *testing.T) {
	var none *catalog.Error
	for _, c := range []struct {
		name  string
		run   act
		want  catalog.Error
		ended bool // the call stands in done
	}{
		{"an error keeps its code", returns(catalog.Output{}, &catalog.Error{Code: catalog.ConnectionRequired, Message: "sign in"}), catalog.Error{Code: catalog.ConnectionRequired, Message: "sign in"}, true},
		{"a wrapped one too", returns(catalog.Output{}, fmt.Errorf("s: %w", &catalog.Error{Code: catalog.Unavailable, Message: "later", Retryable: true})), catalog.Error{Code: catalog.Unavailable, Message: "later", Retryable: true}, true},
		{"any other error is the tool's", returns(catalog.TextOutput("half"), errors.New("quota\nexceeded")), catalog.Error{Code: catalog.ToolError, Message: "quota exceeded"}, true},
		{"a panic", func(context.Context, json.RawMessage) (catalog.Output, error) { panic("oops") }, catalog.Error{Code: catalog.ToolError, Message: "tools s t failed inside: oops"}, true},
		{"a panic with nil", func(context.Context, json.RawMessage) (catalog.Output, error) { panic(none) }, catalog.Error{Code: catalog.ToolError, Message: "tools s t failed inside: <nil>"}, true},
		{"a result over the limit", returns(catalog.TextOutput(strings.Repeat("x", 101)), nil), catalog.Error{Code: catalog.ToolError, Message: "tools s t ran, and its result of 101 bytes is over the limit of 100; ask for less"}, true},
		{"a time-out", func(ctx context.Context, _ json.RawMessage) (catalog.Output, error) {
			<-ctx.Done()
			return catalog.Output{}, ctx.Err()
		}, catalog.Error{Code: catalog.ToolError, Message: "outcome unknown: tools s t did not answer in 50ms", Retryable: true}, true},
		{"no way to run it here", nil, catalog.Error{Code: catalog.Unavailable, Message: "tools s t cannot run here"}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newBench(t)
			b.cfg.MaxResult, b.cfg.CallTimeout = 100, 50*time.Millisecond
			b.tool("t", `{}`, c.run)
			require.Equal(t, c.want, failed(t, b.run("s t a=1")))
			require.Zero(t, b.run("s put").exit, "the run goes on")
			if !c.ended {
				require.Len(t, b.done(), 1)
				return
			}
			require.Len(t, b.done(), 2)
			require.Equal(t, report.Done{Tool: "tools s t", Input: json.RawMessage(`{"a":1}`), Error: c.want.Message}, b.done()[0])
		})
	}
}

func TestACallThatDidNotReachItsToolIsNotInTheReport(t *testing.T) {
	b := newBench(t)
	b.tool("t", `{}`, returns(catalog.Output{}, &catalog.Error{Code: catalog.Unavailable, Message: "gone", NotMade: true}))
	b.cfg.After = []intercept.After{func(_ context.Context, _ catalog.Call, out catalog.Output, err error) (catalog.Output, error) {
		return out, errors.New("in other words")
	}}
	require.Equal(t, catalog.Error{Code: catalog.Unavailable, Message: "in other words"}, failed(t, b.run("s t")))
	require.Empty(t, b.done())
}

// preparing is a tool that makes ready before its calls.
type preparing struct {
	catalog.Executor
	prepare func(context.Context) error
}

func (p preparing) Prepare(ctx context.Context) error { return p.prepare(ctx) }

// A tool makes ready before the gate is asked: no answer is used up, and nobody
// is asked, for a call that cannot be made.
func TestAToolMakesReadyBeforeTheGateIsAsked(t *testing.T) {
	for name, c := range map[string]struct {
		prepare func(context.Context) error
		want    catalog.Error
	}{
		"an error keeps its code": {func(context.Context) error { return catalog.Errorf(catalog.ConnectionRequired, "sign in") }, catalog.Error{Code: catalog.ConnectionRequired, Message: "sign in"}},
		"any other error":         {func(context.Context) error { return errors.New("no disk") }, catalog.Error{Code: catalog.Unavailable, Message: "tools s del could not be made ready, so the call was not made: no disk", Retryable: true}},
		"a time-out": {func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() },
			catalog.Error{Code: catalog.Unavailable, Message: "tools s del could not be made ready, so the call was not made: context deadline exceeded", Retryable: true}},
		"a panic": {func(context.Context) error { panic("oops") }, catalog.Error{Code: catalog.ToolError, Message: "tools s del was not called: making ready for it failed inside: oops"}},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			b.cfg.CallTimeout = 50 * time.Millisecond
			b.run("s del n=1")
			b.answer(0, approvals.Allow)
			b.next()
			del := b.tools[2]
			ready := del.Executor
			del.Executor = preparing{ready, c.prepare}
			require.Equal(t, c.want, failed(t, b.run("s del n=1")))
			require.Equal(t, c.want, failed(t, b.run("s del n=2")), "nobody is asked")
			require.Empty(t, b.executed())
			require.Empty(t, b.done())
			del.Executor = preparing{ready, func(context.Context) error { return nil }}
			require.Zero(t, b.run("s del n=1").exit, "the answer is still there")
			require.Len(t, b.executed(), 1)
		})
	}
}

func TestAToolThatIgnoresItsContextIsLeftBehind(t *testing.T) {
	b := newBench(t)
	b.cfg.CallTimeout = 10 * time.Millisecond
	let := make(chan struct{})
	defer close(let)
	b.tool("deaf", `{}`, func(context.Context, json.RawMessage) (catalog.Output, error) {
		<-let
		return catalog.TextOutput("late"), nil
	})
	require.Contains(t, failed(t, b.run("s deaf")).Message, "outcome unknown")
}

func TestNobodyIsAskedAboutACallThatCannotRun(t *testing.T) {
	b := newBench(t)
	b.tool("gone", `{"destructiveHint":true}`, nil)
	require.Equal(t, catalog.Unavailable, failed(t, b.run("s gone")).Code)
	require.Nil(t, b.cfg.Report.Stopped())
}

func TestACallerThatHasGoneStartsNothing(t *testing.T) {
	b := newBench(t)
	gone, cancel := context.WithCancel(ctx)
	cancel()
	require.Equal(t, catalog.Stopped, failed(t, b.runCtx(gone, "s put")).Code)
	require.Empty(t, b.executed())
}

func TestACancelledCallHasAnUnknownOutcome(t *testing.T) {
	b := newBench(t)
	running, cancel := context.WithCancel(ctx)
	b.tool("slow", `{}`, func(ctx context.Context, _ json.RawMessage) (catalog.Output, error) {
		cancel()
		<-ctx.Done()
		return catalog.Output{}, errors.New("signal: killed")
	})
	e := failed(t, b.runCtx(running, "s slow"))
	require.Equal(t, catalog.Error{Code: catalog.ToolError, Retryable: true, Message: "outcome unknown: tools s slow was at work when the run ended"}, e)
	require.Equal(t, e.Message, b.done()[0].Error)
}

// errPipe is a stdout whose reader has gone.
type errPipe struct{}

func (errPipe) Write([]byte) (int, error) { return 0, io.ErrClosedPipe }

func TestAReaderThatHasGoneIsNoFailureOfTheCall(t *testing.T) {
	b := newBench(t)
	b.run("--help")
	var errs strings.Builder
	require.Equal(t, 1, b.i.Command(ctx, []string{"s", "put", "a=1"}, intercept.Stdio{Stdout: errPipe{}, Stderr: &errs}))
	require.Empty(t, errs.String())
	require.True(t, b.done()[0].OK)
}

func TestNoPanicGetsOut(t *testing.T) {
	b := newBench(t)
	b.cfg.Gate = approvals.NewGate(nil, approvals.Config{})
	require.Equal(t, catalog.Unavailable, failed(t, b.run("s put")).Code)
	require.Nil(t, b.report().Tools, "it never started")
	b.cfg.Report.Finish(ctx)
}
