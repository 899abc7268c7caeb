package intercept_test

import (
	"context"
	"encoding/json"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tools-in-shell/tis/approvals"
	"github.com/tools-in-shell/tis/catalog"
	"github.com/tools-in-shell/tis/report"
)

// answer answers the i-th request of the report.
func (b *bench) answer(i int, d approvals.Decision) {
	b.t.Helper()
	_, err := b.cfg.Gate.Answer(ctx, b.report().ApprovalRequests[i].ID, d, "ann")
	require.NoError(b.t, err)
}

// next begins another run of the session.
func (b *bench) next() {
	b.cfg.Report, b.i = report.New(report.Limits{}), nil
}

func TestAGatedCallStopsTheRun(t *testing.T) {
	b := newBench(t)
	var stops []report.Stop
	b.cfg.OnStop = func(s report.Stop) { stops = append(stops, s) }
	b.run("s put a=1")
	b.run("s get")
	require.Equal(t, catalog.NeedsApproval, failed(t, b.run("s del n=1")).Code)
	for _, line := range []string{"s get", "s put", "s del n=1", "--help", "nonsense"} {
		require.Equal(t, catalog.Stopped, failed(t, b.run(line)).Code)
	}
	require.Equal(t, []string{`put {"a":1}`, `get {}`}, b.executed())
	r := b.report()
	require.Len(t, r.Tools.Done, 1)
	require.Equal(t, 1, r.Tools.ReadOnlyCalls)
	require.Equal(t, &report.Stopped{Reason: report.NeedsApproval, Approval: "requested", Call: &report.Stopper{Tool: "tools s del", Input: json.RawMessage(`{"n":1}`)}}, r.Tools.Stopped)
	require.Len(t, r.ApprovalRequests, 1)
	require.Equal(t, "mcp_s__del", r.ApprovalRequests[0].Tool)
	require.Len(t, stops, 1)
	require.Equal(t, r.ApprovalRequests, stops[0].Requests)
}

func TestAnswers(t *testing.T) {
	for _, c := range []struct {
		name   string
		answer approvals.Decision
		then   []string // one line each, in the next run
		codes  []catalog.Code
	}{
		{"allow, once", approvals.Allow, []string{"s del n=1", "s del n=1"}, []catalog.Code{"", catalog.NeedsApproval}},
		{"allow, for that input alone", approvals.Allow, []string{"s del n=2"}, []catalog.Code{catalog.NeedsApproval}},
		{"allow always", approvals.AllowAlways, []string{"s del n=1", "s del n=2"}, []catalog.Code{"", ""}},
		{"reject", approvals.Reject, []string{"s del n=1", "s del n=1"}, []catalog.Code{catalog.Denied, catalog.NeedsApproval}},
		{"reject always", approvals.RejectAlways, []string{"s del n=2", "s del n=1"}, []catalog.Code{catalog.Denied, catalog.Denied}},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newBench(t)
			b.run("s del n=1")
			b.answer(0, c.answer)
			b.next()
			for n, line := range c.then {
				r := b.run(line)
				if c.codes[n] == "" {
					require.Zero(t, r.exit, "%+v", r)
					continue
				}
				require.Equal(t, c.codes[n], failed(t, r).Code)
			}
		})
	}
}

func TestARulesMessageReachesTheScriptAndTheReport(t *testing.T) {
	for _, decision := range []string{"ask", "deny"} {
		b := newBench(t)
		rules, err := approvals.CompileRules([]approvals.Rule{{Tool: "s put", Decision: decision, Message: "use get instead"}})
		require.NoError(t, err)
		b.cfg.Gate = approvals.NewGate(b.store, approvals.Config{Rules: rules})
		require.Contains(t, failed(t, b.run("s put")).Message, "use get instead")
		if decision == "ask" {
			require.Equal(t, "use get instead", b.report().Tools.Stopped.Message)
		}
	}
}

func TestWithoutAGateNobodyIsAsked(t *testing.T) {
	b := newBench(t)
	b.cfg.Gate = nil
	require.Zero(t, b.run("s del").exit)
}

func TestAStoreThatCannotBeReachedRefusesTheCall(t *testing.T) {
	b := newBench(t)
	b.cfg.Gate = approvals.NewGate(broken{b.store}, approvals.Config{})
	e := failed(t, b.run("s del"))
	require.Equal(t, catalog.Unavailable, e.Code)
	require.True(t, e.Retryable)
	require.Contains(t, e.Message, "no route to host")
	require.Empty(t, b.executed())
}

// mute is a store that takes no requests.
type mute struct{ approvals.Store }

func (mute) Raise(context.Context, approvals.Request, int, time.Time) (approvals.Request, error) {
	return approvals.Request{}, errors.New("disk full")
}

func TestARequestThatCannotBeRaisedRefusesTheCallToo(t *testing.T) {
	b := newBench(t)
	b.cfg.Gate = approvals.NewGate(mute{b.store}, approvals.Config{})
	require.Equal(t, catalog.Unavailable, failed(t, b.run("s del")).Code)
	require.Equal(t, catalog.Stopped, failed(t, b.run("s put")).Code)
	require.Empty(t, b.executed())
}

func TestOfManyGatedCallsTheFirstAloneIsAskedAbout(t *testing.T) {
	b := newBench(t)
	b.run("--help")
	var all sync.WaitGroup
	var mu sync.Mutex
	codes := map[catalog.Code]int{}
	for range 50 {
		all.Go(func() {
			e := failed(t, b.run("s del n=1"))
			mu.Lock()
			defer mu.Unlock()
			codes[e.Code]++
		})
	}
	all.Wait()
	require.Equal(t, map[catalog.Code]int{catalog.NeedsApproval: 1, catalog.Stopped: 49}, codes)
	open, err := b.cfg.Gate.List(ctx, "session")
	require.NoError(t, err)
	require.Len(t, open, 1)
	require.Empty(t, b.executed())
}

func TestOneAnswerLetsOneOfManyRun(t *testing.T) {
	b := newBench(t)
	b.run("s del n=1")
	b.answer(0, approvals.Allow)
	b.next()
	b.run("--help")
	var all sync.WaitGroup
	for range 50 {
		all.Go(func() { b.run("s del n=1") })
	}
	all.Wait()
	require.Len(t, b.executed(), 1)
	require.Len(t, b.done(), 1)
	b.next()
	require.Equal(t, catalog.NeedsApproval, failed(t, b.run("s del n=1")).Code)
}

// consuming is a store that tells when an answer is used.
type consuming struct {
	approvals.Store
	used func()
}

func (s consuming) Consume(ctx context.Context, u approvals.Use) (approvals.Decision, bool, error) {
	d, ok, err := s.Store.Consume(ctx, u)
	if ok {
		s.used()
	}
	return d, ok, err
}

func TestAnAnswerThatIsUsedIsUsedByACallThatStarts(t *testing.T) {
	b := newBench(t)
	b.run("s del n=1")
	b.answer(0, approvals.Allow)
	b.next()
	running, cancel := context.WithCancel(ctx)
	b.cfg.Gate = approvals.NewGate(consuming{b.store, func() { // another call stops the run just then
		b.cfg.Report.Stop(report.Stop{Reason: report.CallLimit})
		cancel()
	}}, approvals.Config{})
	require.Zero(t, b.runCtx(running, "s del n=1").exit)
	require.Len(t, b.executed(), 1)
	require.Len(t, b.done(), 1)
}

func TestACallAtWorkWhenAnotherStopsTheRunMayEnd(t *testing.T) {
	for _, c := range []struct {
		name  string
		takes time.Duration
		ok    bool
	}{{"within the grace", 20 * time.Millisecond, true}, {"not within it", time.Minute, false}} {
		t.Run(c.name, func(t *testing.T) {
			b := newBench(t)
			running, cancel := context.WithCancel(ctx)
			b.cfg.Grace = 200 * time.Millisecond
			b.cfg.OnStop = func(report.Stop) { cancel() }
			begun := make(chan struct{})
			b.tool("slow", `{}`, func(ctx context.Context, _ json.RawMessage) (catalog.Output, error) {
				close(begun)
				select {
				case <-ctx.Done():
					return catalog.Output{}, ctx.Err()
				case <-time.After(c.takes):
					return catalog.TextOutput("slept"), nil
				}
			})
			b.run("--help")
			slept := make(chan ran)
			go func() { slept <- b.runCtx(running, "s slow") }()
			<-begun
			failed(t, b.runCtx(running, "s del"))
			b.cfg.Report.Finish(ctx)
			r := <-slept
			require.Equal(t, c.ok, r.exit == 0, "%+v", r)
			require.Len(t, b.done(), 1)
			require.Equal(t, c.ok, b.done()[0].OK)
			if !c.ok {
				require.Contains(t, b.done()[0].Error, "outcome unknown")
			}
		})
	}
}

func TestACallIsCancelledOnceTheRecordIsClosed(t *testing.T) {
	b := newBench(t)
	running, cancel := context.WithCancel(ctx)
	b.cfg.Grace = time.Hour
	b.cfg.OnStop = func(report.Stop) { cancel() }
	begun := make(chan struct{})
	b.tool("slow", `{}`, func(ctx context.Context, _ json.RawMessage) (catalog.Output, error) {
		close(begun)
		<-ctx.Done()
		return catalog.Output{}, ctx.Err()
	})
	b.run("--help")
	slept := make(chan ran)
	go func() { slept <- b.runCtx(running, "s slow") }()
	<-begun
	failed(t, b.runCtx(running, "s del"))
	short, over := context.WithTimeout(ctx, 20*time.Millisecond)
	defer over()
	b.cfg.Report.Finish(short)
	<-slept
	require.Len(t, b.done(), 1)
	require.Contains(t, b.done()[0].Error, "outcome unknown")
}
