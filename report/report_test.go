package report_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tools-in-shell/tis/approvals"
	"github.com/tools-in-shell/tis/catalog"
	"github.com/tools-in-shell/tis/report"
)

func call(name string, readOnly bool) *catalog.Call {
	return &catalog.Call{Tool: &catalog.Tool{Server: "s", Name: name, Hints: catalog.Hints{ReadOnly: &readOnly}}, Input: json.RawMessage(`{"n":1.10}`)}
}

func TestACleanRunHasNoReport(t *testing.T) {
	r := report.New(report.Limits{})
	r.Begin(call("put", false)).End(json.RawMessage(`1`), nil)
	require.Nil(t, r.Result(report.Output{}, report.Output{}, 0).Tools)
	require.NotNil(t, r.Result(report.Output{}, report.Output{}, 3).Tools)
}

func TestCallsEndOnceAndInTheOrderOfTheirEnds(t *testing.T) {
	r := report.New(report.Limits{ResultChars: 5})
	a, b, c := r.Begin(call("a", false)), r.Begin(call("b", false)), r.Begin(call("c", true))
	b.End(json.RawMessage(`"0123456789"`), nil)
	a.End(nil, errors.New("went\nwrong"))
	a.End(json.RawMessage(`1`), nil)
	c.End(nil, errors.New("a read that failed"))
	raw, err := json.Marshal(r.Result(report.Output{}, report.Output{}, 1).Tools)
	require.NoError(t, err)
	require.Equal(t, `{"done":[{"tool":"tools s b","input":{"n":1.10},"ok":true,"result":"01234... (cut; the whole is 10 characters)"},{"tool":"tools s a","input":{"n":1.10},"ok":false,"error":"went wrong"}],"read_only_calls":1}`, string(raw))
}

func TestTheFirstStopWinsAndNothingBeginsAfterIt(t *testing.T) {
	r := report.New(report.Limits{})
	require.True(t, r.Stop(report.Stop{Reason: report.Cancelled, Call: call("a", false)}))
	require.False(t, r.Stop(report.Stop{Reason: report.TimeLimit}))
	require.Nil(t, r.Begin(call("a", false)))
	require.Equal(t, report.Cancelled, r.Result(report.Output{}, report.Output{}, 1).Tools.Stopped.Reason)
}

func TestWhatIsInFlightAtTheEndHasAnUnknownOutcome(t *testing.T) {
	r := report.New(report.Limits{})
	e := r.Begin(call("a", false))
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Millisecond)
	defer cancel()
	r.Finish(ctx)
	e.End(json.RawMessage(`1`), nil)
	done := r.Result(report.Output{}, report.Output{}, 1).Tools.Done
	require.Len(t, done, 1)
	require.Contains(t, done[0].Error, "outcome unknown")
}

func TestCaptureKeepsHeadAndTail(t *testing.T) {
	for _, chunk := range []int{1, 7, 1000} {
		c := report.NewCapture(100)
		var all strings.Builder
		for i := range 200 {
			fmt.Fprintf(&all, "line %d é\n", i)
		}
		text := all.String()
		for i := 0; i < len(text); i += chunk {
			_, err := c.Write([]byte(text[i:min(i+chunk, len(text))]))
			require.NoError(t, err)
		}
		got := c.String()
		require.True(t, strings.HasPrefix(got, "line 0 é\n"), got)
		require.True(t, strings.HasSuffix(got, "line 199 é\n"), got)
		_, rest, found := strings.Cut(got, "[... ")
		require.True(t, found)
		var lost int
		_, err := fmt.Sscanf(rest, "%d bytes are missing here ...]\n", &lost)
		require.NoError(t, err)
		require.InDelta(t, len(text)-100, lost, 3)
		require.NotContains(t, got, "\uFFFD")
		require.True(t, c.Truncated())
		require.Equal(t, 200, c.Lines())
	}
}

func TestCaptureNeverSplitsACharacter(t *testing.T) {
	text := strings.Repeat("aé€😀", 50)
	for limit := 2; limit < 120; limit++ {
		c := report.NewCapture(limit)
		fmt.Fprint(c, text)
		got := c.String()
		require.NotContains(t, got, "\uFFFD", "limit %d", limit)
		head, tail, found := strings.Cut(got, "[... ")
		_, tail, _ = strings.Cut(tail, " ...]\n")
		require.True(t, found)
		head = strings.TrimSuffix(head, "\n")
		require.LessOrEqual(t, len(head)+len(tail), limit)
		require.True(t, strings.HasPrefix(text, head) && strings.HasSuffix(text, tail), got)
		require.Contains(t, got, fmt.Sprintf("[... %d bytes", len(text)-len(head)-len(tail)))
	}
}

func TestCaptureKeepsWhatFitsAndReplacesWhatIsNoText(t *testing.T) {
	for _, c := range []struct {
		name, in, want string
		lines          int
	}{
		{"nothing", "", "", 0},
		{"one line", "a\n", "a\n", 1},
		{"a line without an end counts", "a\nb", "a\nb", 2},
		{"a character in two writes", "é", "é", 1},
		{"bytes that are no text", "a\xffb\n", "a\uFFFDb\n", 1},
		{"exactly the limit", "0123456789", "0123456789", 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			k := report.NewCapture(10)
			for i := range len(c.in) {
				_, err := k.Write([]byte{c.in[i]})
				require.NoError(t, err)
			}
			require.Equal(t, c.want, k.String())
			require.False(t, k.Truncated())
			require.Equal(t, c.lines, k.Lines())
		})
	}
	k := report.NewCapture(1000)
	fmt.Fprint(k, "\xff"+strings.Repeat("x", 2000))
	require.True(t, strings.HasPrefix(k.String(), "\uFFFDx"))
}

func TestTheReportIsOneKnownShape(t *testing.T) {
	r := report.New(report.Limits{})
	changing := call("create_issue", false)
	changing.Tool.Server, changing.Input = "linear", json.RawMessage(`{"title":"<Flaky> & test"}`)
	r.Begin(changing).End(json.RawMessage(`{"z":1.10,"a":9007199254740993}`), nil)
	r.Begin(call("get", true)).End(json.RawMessage(`1`), nil)
	gated := call("delete_branch", false)
	gated.Tool.Server, gated.Input = "github", json.RawMessage(`{"branch":"fix-x"}`)
	first, err := r.StopAsking(report.Stop{Reason: report.NeedsApproval, Call: gated}, func() ([]approvals.Request, error) {
		return []approvals.Request{{ID: "r1", Arguments: gated.Input}}, nil
	})
	require.NoError(t, err)
	require.True(t, first)
	got := r.Result(report.Output{Text: "x\n", Lines: 1}, report.Output{Truncated: true}, 1)
	require.Len(t, got.ApprovalRequests, 1)
	got.ApprovalRequests = nil
	require.Equal(t, `{"stdout":"x\n","stderr":"","exit_code":1,"success":false,"truncated":true,"total_lines":1,"tools":{`+
		`"done":[{"tool":"tools linear create-issue","input":{"title":"<Flaky> & test"},"ok":true,"result":{"z":1.10,"a":9007199254740993}}],"read_only_calls":1,`+
		`"stopped":{"reason":"needs_approval","approval":"requested","call":{"tool":"tools github delete-branch","input":{"branch":"fix-x"}}},`+
		`"not_reached":"the stopped call and everything after it; write a new script for the rest"}}`, line(t, got))
}

func TestAHeldScriptSaysThatNothingRan(t *testing.T) {
	r := report.New(report.Limits{})
	r.Stop(report.Stop{Reason: report.NeedsApproval, Call: call("del", false), BeforeStart: true, Requests: []approvals.Request{{ID: "r1"}}})
	got := line(t, r.Result(report.Output{}, report.Output{}, 1).Tools)
	require.True(t, strings.HasPrefix(got, `{"done":[],"read_only_calls":0,"stopped":{"reason":"needs_approval","approval":"requested","before_start":true,"call":{`), got)
	require.Contains(t, got, "nothing ran; run the same script again after the answer")
}

func TestAStopIsNeverASuccess(t *testing.T) {
	for _, reason := range []report.Reason{report.CallLimit, report.TimeLimit, report.Cancelled, report.ResourceLimit} {
		r := report.New(report.Limits{})
		r.Stop(report.Stop{Reason: reason})
		got := r.Result(report.Output{}, report.Output{}, 0)
		require.False(t, got.Success)
		require.Equal(t, reason, got.Tools.Stopped.Reason)
		require.NotContains(t, line(t, got.Tools), "approval")
		require.NotEmpty(t, got.Tools.NotReached)
	}
}

func TestResultsAreCutByCharacters(t *testing.T) {
	for _, c := range []struct{ name, result, want string }{
		{"at the limit", `"€€€€€"`, `"€€€€€"`},
		{"a text over it", `"€€€€€x"`, `"€€€€€... (cut; the whole is 6 characters)"`},
		{"JSON over it becomes a text", `{"a":1}`, `"{\"a\":... (cut; the whole is 7 characters)"`},
		{"no result", ``, `null`},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := report.New(report.Limits{ResultChars: 5})
			r.Begin(call("a", false)).End(json.RawMessage(c.result), nil)
			require.Equal(t, c.want, string(r.Result(report.Output{}, report.Output{}, 1).Tools.Done[0].Result))
		})
	}
	r := report.New(report.Limits{ResultChars: 5})
	r.Begin(call("a", false)).End(nil, catalog.Errorf(catalog.ToolError, "quota exceeded"))
	r.Begin(call("a", false)).End(nil, errors.New(strings.Repeat("x", 1<<20)))
	done := r.Result(report.Output{}, report.Output{}, 1).Tools.Done
	require.Equal(t, "quota exceeded", done[0].Error)
	require.True(t, strings.HasSuffix(done[1].Error, "x... (cut; the whole is 1048576 characters)"))
}

func TestFinishWaitsForTheRequestsOfAStop(t *testing.T) {
	r := report.New(report.Limits{})
	begun := make(chan struct{})
	go r.StopAsking(report.Stop{Reason: report.NeedsApproval, Call: call("a", false)}, func() ([]approvals.Request, error) {
		close(begun)
		time.Sleep(20 * time.Millisecond)
		return []approvals.Request{{ID: "r1"}}, nil
	})
	<-begun
	r.Finish(context.Background())
	require.Len(t, r.Result(report.Output{}, report.Output{}, 1).ApprovalRequests, 1)
}

func TestACallThatNeverStartedIsNotInTheRecord(t *testing.T) {
	r := report.New(report.Limits{})
	r.Reserve(call("dropped", false)).Drop()
	late := r.Reserve(call("late", false))
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	r.Finish(ctx)
	require.False(t, late.Start())
	late.Drop()
	late.End(nil, nil)
	require.Nil(t, r.Reserve(call("after", false)))
	require.Nil(t, r.Result(report.Output{}, report.Output{}, 1).Tools)
}

func TestTheLimitHoldsUnderARace(t *testing.T) {
	r := report.New(report.Limits{MaxCalls: 20})
	var ran, stops atomic.Int64
	var all sync.WaitGroup
	for range 50 {
		all.Go(func() {
			switch {
			case r.Count():
				if e := r.Begin(call("get", true)); e != nil {
					ran.Add(1)
					e.End(nil, nil)
				}
			case r.Stop(report.Stop{Reason: report.CallLimit}):
				stops.Add(1)
			}
		})
	}
	all.Wait()
	require.EqualValues(t, 20, ran.Load(), "also those counted before the stop that begin after it")
	require.EqualValues(t, 1, stops.Load())
}

func line(t *testing.T, v any) string {
	t.Helper()
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	require.NoError(t, enc.Encode(v))
	return strings.TrimSpace(b.String())
}
