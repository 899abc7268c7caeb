package approvals_test

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tools-in-shell/tis/approvals"
	"github.com/tools-in-shell/tis/approvals/storetest"
	"github.com/tools-in-shell/tis/catalog"
)

func TestMemoryConformance(t *testing.T) {
	storetest.Run(t, func(*testing.T) approvals.Store { return approvals.NewMemory() })
}

var ctx = context.Background()

// tb is what *testing.T and *rapid.T have in common.
type tb interface {
	require.TestingT
	Helper()
}

// call is github delete_branch with hints (a JSON object) and an input.
func call(t tb, hints, input string) catalog.Call {
	t.Helper()
	tool, err := catalog.ToolFromMCP("github", json.RawMessage(`{"name":"delete_branch","annotations":`+hints+`}`))
	require.NoError(t, err)
	return catalog.Call{Tool: tool, Input: json.RawMessage(input)}
}

const destructive = `{"destructiveHint":true}`

// world is a gate over a memory store with a clock that stands still.
type world struct {
	*approvals.Gate
	t   tb
	now time.Time
}

func newWorld(t tb, mode approvals.Mode, store approvals.Store, rules ...approvals.Rule) *world {
	t.Helper()
	compiled, err := approvals.CompileRules(rules)
	require.NoError(t, err)
	w := &world{t: t, now: time.Date(2026, 1, 1, 0, 0, 0, 123456789, time.FixedZone("", 3600))}
	w.Gate = approvals.NewGate(store, approvals.Config{Mode: mode, Rules: compiled, Now: func() time.Time { return w.now }})
	return w
}

func gate(t tb, rules ...approvals.Rule) *world {
	t.Helper()
	return newWorld(t, approvals.Normal, approvals.NewMemory(), rules...)
}

func (w *world) authorize(session string, c catalog.Call) approvals.Verdict {
	w.t.Helper()
	v, err := w.Authorize(ctx, session, "run", c)
	require.NoError(w.t, err)
	return v
}

func (w *world) preview(calls ...catalog.Call) (out []approvals.Outcome) {
	w.t.Helper()
	verdicts, err := w.Preview(ctx, "s", calls)
	require.NoError(w.t, err)
	for _, v := range verdicts {
		out = append(out, v.Outcome)
	}
	return out
}

// ask raises a request for each call and gives the answers in order.
func (w *world) ask(calls []catalog.Call, answers ...approvals.Decision) []approvals.Request {
	w.t.Helper()
	requests, err := w.Ask(ctx, "s", "asking run", calls)
	require.NoError(w.t, err)
	for i, d := range answers {
		_, err := w.Answer(ctx, requests[i].ID, d, "ana")
		require.NoError(w.t, err)
	}
	return requests
}

func TestModes(t *testing.T) {
	const run, ask = approvals.Run, approvals.Ask
	for _, c := range []struct {
		hints                   string
		off, normal, protective approvals.Outcome
	}{
		{`{}`, run, run, ask},
		{`{"readOnlyHint":true}`, run, run, run},
		{`{"readOnlyHint":true,"destructiveHint":false,"openWorldHint":false}`, run, run, run},
		{`{"readOnlyHint":false}`, run, run, ask},
		{destructive, run, ask, ask},
		{`{"openWorldHint":true}`, run, ask, ask},
		{`{"readOnlyHint":true,"openWorldHint":true}`, run, ask, ask},
		{`{"readOnlyHint":true,"destructiveHint":true}`, run, ask, ask},
		{`{"destructiveHint":false,"openWorldHint":false}`, run, run, ask},
		{`{"idempotentHint":true}`, run, run, ask},
		{`{"readOnlyHint":false,"idempotentHint":false}`, run, run, ask},
	} {
		for mode, want := range map[approvals.Mode]approvals.Outcome{approvals.Off: c.off, approvals.Normal: c.normal, "": c.normal, approvals.Protective: c.protective, "typo": c.protective} {
			v := newWorld(t, mode, approvals.NewMemory()).authorize("s", call(t, c.hints, `{}`))
			require.Equal(t, want, v.Outcome, "%s %s", mode, c.hints)
			require.NotEmpty(t, v.Why)
			require.Equal(t, want == ask, v.Risk == approvals.RiskNeedsApproval)
		}
	}
}

func TestAToolThatItsOwnerMarksIsAskedAbout(t *testing.T) {
	for mode, want := range map[approvals.Mode]approvals.Outcome{approvals.Off: approvals.Run, approvals.Normal: approvals.Ask, approvals.Protective: approvals.Ask} {
		c := call(t, `{"readOnlyHint":true}`, `{}`)
		c.Tool.Policy.RequiresApproval = true
		require.Equal(t, want, newWorld(t, mode, approvals.NewMemory()).authorize("s", c).Outcome, mode)
	}
}

func TestARequestTellsWhatIsAsked(t *testing.T) {
	w := newWorld(t, approvals.Protective, approvals.NewMemory())
	c := call(t, destructive, `{"branch":"x", "n":1.10}`)
	r := w.ask([]catalog.Call{c})[0]
	text, err := json.Marshal(r)
	require.NoError(t, err)
	fingerprint, err := approvals.Fingerprint(c)
	require.NoError(t, err)
	require.Len(t, r.ID, 16)
	require.JSONEq(t, `{"id":"`+r.ID+`","session":"s","tool":"mcp_github__delete_branch","command":"tools github delete-branch","arguments":{"branch":"x","n":1.10},
		"fingerprint":"`+fingerprint+`","risk":"needs_approval","mode":"protective","asked_at":"2025-12-31T23:00:00.123Z","expires_at":"2025-12-31T23:15:00.123Z"}`, string(text))
	listed, err := w.List(ctx, "s")
	require.NoError(t, err)
	require.Equal(t, []approvals.Request{r}, listed)
}

func TestTimeoutsStayInTheirRange(t *testing.T) {
	for given, want := range map[time.Duration]time.Duration{
		0: 900 * time.Second, time.Second: time.Minute, -time.Hour: time.Minute, time.Minute: time.Minute, time.Hour: time.Hour, 1000 * time.Hour: 86400 * time.Second,
	} {
		requests, err := approvals.NewGate(approvals.NewMemory(), approvals.Config{Timeout: given}).Ask(ctx, "s", "r", []catalog.Call{call(t, destructive, `{}`)})
		require.NoError(t, err)
		require.Equal(t, want, requests[0].ExpiresAt.Sub(requests[0].AskedAt), given)
	}
}

func TestAFailingStoreClosesTheGate(t *testing.T) {
	for _, mode := range []approvals.Mode{approvals.Off, approvals.Normal} {
		s := approvals.NewMemory()
		w := newWorld(t, mode, s, approvals.Rule{Tool: "* list-*", Decision: "allow"})
		require.NoError(t, s.Close())
		for _, c := range []catalog.Call{call(t, `{"readOnlyHint":true}`, `{}`), call(t, destructive, `{}`)} {
			v, err := w.Authorize(ctx, "s", "r", c)
			require.Error(t, err)
			require.NotEqual(t, approvals.Run, v.Outcome)
			_, err = w.Preview(ctx, "s", []catalog.Call{c})
			require.Error(t, err)
			_, err = w.Ask(ctx, "s", "r", []catalog.Call{c})
			require.Error(t, err)
		}
		_, err := w.Answer(ctx, "id", approvals.Allow, "ana")
		require.Error(t, err)
		_, err = w.List(ctx, "")
		require.Error(t, err)
		_, err = w.History(ctx, "")
		require.Error(t, err)
	}
}

// unrecorded is a store whose audit trail cannot be written.
type unrecorded struct{ approvals.Store }

func (unrecorded) Record(context.Context, approvals.Event) error { return context.DeadlineExceeded }

func TestACallWhoseUseCannotBeRecordedDoesNotRun(t *testing.T) {
	w := newWorld(t, approvals.Normal, unrecorded{approvals.NewMemory()})
	c := call(t, destructive, `{}`)
	w.ask([]catalog.Call{c}, approvals.AllowAlways)
	v, err := w.Authorize(ctx, "s", "r", c)
	require.ErrorIs(t, err, context.DeadlineExceeded)
	require.NotEqual(t, approvals.Run, v.Outcome)
}
