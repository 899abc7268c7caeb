package approvals_test

import (
	"encoding/json"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tools-in-shell/tis/approvals"
	"github.com/tools-in-shell/tis/catalog"
)

// What Explain says is what Authorize does next, for everything that can decide.
func TestExplainSaysWhatAuthorizeDoes(t *testing.T) {
	rule := func(decision, when string) []approvals.Rule {
		return []approvals.Rule{{Tool: "other *", Decision: "deny"}, {Tool: "github delete-*", When: when, Decision: decision, Message: "use close"}}
	}
	type answers = []approvals.Decision
	for name, c := range map[string]struct {
		hints   string
		rules   []approvals.Rule
		answers answers // given to the call before
		outcome string
		why     string
		judged  string
	}{
		"a mode that does not ask":         {`{}`, nil, nil, "run", "mode normal", "run"},
		"a hint":                           {destructive, nil, nil, "ask", "it declares that it is destructive", "ask"},
		"another hint":                     {`{"openWorldHint":true}`, nil, nil, "ask", "it declares that it reaches the outside world", "ask"},
		"a rule that allows":               {destructive, rule("allow", ""), nil, "run", "rule 1 (github delete-*)", "run"},
		"a rule that asks":                 {`{}`, rule("ask", `.branch == "x"`), nil, "ask", "rule 1 (github delete-*)", "ask"},
		"a rule that denies":               {destructive, rule("deny", ""), answers{approvals.AllowAlways}, "deny", "rule 1 (github delete-*)", "deny"},
		"a rule that does not match":       {destructive, rule("allow", `.branch == "y"`), nil, "ask", "it declares that it is destructive", "ask"},
		"a rule that fails":                {`{}`, rule("allow", `.branch + 1`), nil, "ask", `rule 1 (github delete-*), which failed: cannot add: string ("x") and number (1)`, "ask"},
		"a one-off answer":                 {destructive, nil, answers{approvals.Allow}, "run", "a person answered allow", "ask"},
		"a rejection":                      {`{}`, nil, answers{approvals.Reject}, "deny", "a person rejected this call", "run"},
		"allow_always":                     {destructive, nil, answers{approvals.AllowAlways}, "run", "a person answered allow_always", "ask"},
		"reject_always":                    {`{}`, nil, answers{approvals.RejectAlways}, "deny", "a person rejected this tool for the session", "run"},
		"the first answer of several":      {destructive, nil, answers{approvals.Reject, approvals.Allow}, "deny", "a person rejected this call", "ask"},
		"a rejection under allow_always":   {destructive, nil, answers{approvals.AllowAlways, approvals.Reject}, "deny", "a person rejected this call", "ask"},
		"an answer that is no use":         {`{}`, nil, answers{approvals.Allow}, "run", "mode normal", "run"},
		"the rule's message comes with it": {`{}`, rule("ask", ""), nil, "ask", "rule 1 (github delete-*)", "ask"},
	} {
		t.Run(name, func(t *testing.T) {
			w := gate(t, c.rules...)
			this := call(t, c.hints, `{"branch":"x"}`)
			for range c.answers {
				w.now = w.now.Add(time.Second)
			}
			calls := make([]catalog.Call, len(c.answers))
			for i := range calls {
				calls[i] = this
			}
			w.ask(calls, c.answers...)
			for range 2 { // nothing is used up
				e, err := w.Explain(ctx, "s", this)
				require.NoError(t, err)
				require.Equal(t, c.outcome, e.Outcome)
				require.Equal(t, c.why, e.Why)
				require.Equal(t, c.judged, e.Judged.Outcome)
				require.Equal(t, len(c.rules) > 0 && e.Judged.Why[:4] == "rule", e.Rule != nil)
				require.Equal(t, e.Rule != nil && (e.Outcome == e.Judged.Outcome), e.Message != "")
			}
			v := w.authorize("s", this)
			require.Equal(t, c.outcome, v.Outcome.String())
			require.Equal(t, c.why, v.Why)
		})
	}
}

func TestAnExplanationAsJSON(t *testing.T) {
	w := newWorld(t, approvals.Protective, approvals.NewMemory(), approvals.Rule{Tool: "github *", When: ".n > 1", Decision: "ask"})
	this := call(t, `{"destructiveHint":true,"idempotentHint":false}`, `{"n":2.0}`)
	open := w.ask([]catalog.Call{this, this, this}, approvals.Allow, approvals.AllowAlways)[2]
	e, err := w.Explain(ctx, "s", this)
	require.NoError(t, err)
	text, err := json.Marshal(e)
	require.NoError(t, err)
	raised, err := json.Marshal(open)
	require.NoError(t, err)
	require.JSONEq(t, `{"tool":"tools github delete-branch","input":{"n":2.0},"outcome":"run","why":"a person answered allow_always","judged":{"outcome":"ask","why":"rule 0 (github *)"},
		"mode":"protective","rule":{"tool":"github *","when":".n > 1","decision":"ask"},"hints":{"destructiveHint":true,"idempotentHint":false},"requires_approval":false,"session":"s",
		"answers":{"always":"allow_always","who":"ana","one_off":["allow"]},"open":[`+string(raised)+`],"fingerprint":"`+open.Fingerprint+`","changed":[]}`, string(text))

	// Another session knows nothing of it.
	e, err = w.Explain(ctx, "t", this)
	require.NoError(t, err)
	require.Equal(t, "ask", e.Outcome)
	require.Empty(t, e.Open)
	require.Equal(t, approvals.Covered{OneOff: []approvals.Decision{}}, e.Answers)
}

func TestExplainFailsWithTheStore(t *testing.T) {
	s := approvals.NewMemory()
	w := newWorld(t, approvals.Normal, s)
	require.NoError(t, s.Close())
	_, err := w.Explain(ctx, "s", call(t, `{}`, `{}`))
	require.Error(t, err)
	require.False(t, errors.Is(err, approvals.ErrUnknownRequest))
}
