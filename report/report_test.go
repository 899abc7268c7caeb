package report_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

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
	require.True(t, r.Stop(report.Stop{Reason: report.CallLimit, Call: call("a", false)}))
	require.False(t, r.Stop(report.Stop{Reason: report.TimeLimit}))
	require.Nil(t, r.Begin(call("a", false)))
	require.Equal(t, report.CallLimit, r.Result(report.Output{}, report.Output{}, 1).Tools.Stopped.Reason)
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
		require.Contains(t, got, fmt.Sprintf("[... %d bytes are missing here ...]", len(text)-100))
		require.True(t, c.Truncated())
		require.Equal(t, 200, c.Lines())
	}
}
