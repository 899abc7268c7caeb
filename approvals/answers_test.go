package approvals_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/tools-in-shell/tis/approvals"
	"github.com/tools-in-shell/tis/catalog"
)

func TestWhatEachAnswerCovers(t *testing.T) {
	const run, ask, deny = approvals.Run, approvals.Ask, approvals.Deny
	exact, other := call(t, destructive, `{"branch":"a"}`), call(t, destructive, `{"branch":"b"}`)
	for _, c := range []struct {
		decision           approvals.Decision
		first, next, other approvals.Outcome
	}{
		{approvals.Allow, run, ask, ask},
		{approvals.Reject, deny, ask, ask},
		{approvals.AllowAlways, run, run, run},
		{approvals.RejectAlways, deny, deny, deny},
	} {
		w := gate(t)
		w.ask([]catalog.Call{exact}, c.decision)
		for range 2 { // a preview uses nothing
			require.Equal(t, []approvals.Outcome{c.other, c.first, c.next}, w.preview(other, exact, exact), c.decision)
		}
		require.Equal(t, ask, w.authorize("another session", exact).Outcome)
		require.Equal(t, c.other, w.authorize("s", other).Outcome)
		require.Equal(t, c.first, w.authorize("s", exact).Outcome)
		require.Equal(t, c.next, w.authorize("s", exact).Outcome)
		require.Equal(t, []approvals.Outcome{c.next}, w.preview(exact))
	}
}

func TestARejectionHoldsWhateverElseWouldLetTheCallRun(t *testing.T) {
	c := call(t, destructive, `{}`)
	for name, later := range map[string]func(s approvals.Store) *world{
		"mode off": func(s approvals.Store) *world { return newWorld(t, approvals.Off, s) },
		"a rule": func(s approvals.Store) *world {
			return newWorld(t, approvals.Normal, s, approvals.Rule{Tool: "*", Decision: "allow"})
		},
		"allow_always": func(s approvals.Store) *world {
			w := newWorld(t, approvals.Normal, s)
			w.ask([]catalog.Call{call(t, destructive, `{"other":1}`)}, approvals.AllowAlways)
			return w
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := approvals.NewMemory()
			newWorld(t, approvals.Normal, s).ask([]catalog.Call{c, c}, approvals.Allow, approvals.Reject)
			w := later(s)
			require.Equal(t, []approvals.Outcome{approvals.Deny, approvals.Run}, w.preview(c, c))
			require.Equal(t, approvals.Deny, w.authorize("s", c).Outcome)
			require.Equal(t, approvals.Run, w.authorize("s", c).Outcome)
			answers, err := s.Answers(ctx, "s", "", w.authorize("s", c).Fingerprint)
			require.NoError(t, err)
			require.Equal(t, []approvals.Decision{approvals.Allow}, answers.OneOff, "a call that runs anyway uses no answer")
		})
	}
	for _, mode := range []approvals.Mode{approvals.Off, approvals.Normal} {
		s := approvals.NewMemory()
		newWorld(t, approvals.Normal, s).ask([]catalog.Call{c}, approvals.RejectAlways)
		require.Equal(t, approvals.Deny, newWorld(t, mode, s, approvals.Rule{Tool: "*", Decision: "allow"}).authorize("s", c).Outcome)
	}
}

func TestADenialByARuleUsesNoAnswer(t *testing.T) {
	c, s := call(t, destructive, `{}`), approvals.NewMemory()
	newWorld(t, approvals.Normal, s).ask([]catalog.Call{c}, approvals.Allow)
	require.Equal(t, approvals.Deny, newWorld(t, approvals.Normal, s, approvals.Rule{Tool: "*", Decision: "deny"}).authorize("s", c).Outcome)
	require.Equal(t, approvals.Run, newWorld(t, approvals.Normal, s).authorize("s", c).Outcome)
}

func TestTheNthIdenticalCallIsTheNthIdenticalRequest(t *testing.T) {
	w := gate(t)
	a, same, other := call(t, destructive, `{"n":1,"m":2}`), call(t, destructive, `{"m":2.0,"n":1e0}`), call(t, destructive, `{"n":1}`)
	first := w.ask([]catalog.Call{a, other, same})
	require.NotEqual(t, first[0].ID, first[2].ID)
	require.Equal(t, first[0].Fingerprint, first[2].Fingerprint)
	again := w.ask([]catalog.Call{same, a, other, a})
	require.Equal(t, []approvals.Request{first[0], first[2], first[1]}, again[:3])
	require.NotContains(t, []string{first[0].ID, first[2].ID}, again[3].ID)
	listed, err := w.List(ctx, "s")
	require.NoError(t, err)
	require.Len(t, listed, 4)
	elsewhere, err := w.Ask(ctx, "another session", "r", []catalog.Call{a})
	require.NoError(t, err)
	require.NotEqual(t, first[0].ID, elsewhere[0].ID)
}

func TestWhatCannotBeAnswered(t *testing.T) {
	w := gate(t)
	r := w.ask([]catalog.Call{call(t, destructive, `{}`), call(t, destructive, `{"n":1}`)}, approvals.Allow)
	for _, c := range []struct {
		id   string
		d    approvals.Decision
		who  string
		want string
	}{
		{"nosuch", approvals.Allow, "ana", `request "nosuch": no such request`},
		{r[0].ID, approvals.Reject, "ana", `request "` + r[0].ID + `": the request has been answered already`},
		{r[1].ID, "yes", "ana", `decision "yes": want allow, allow_always, reject or reject_always`},
		{r[1].ID, "", "ana", `decision "": want`},
		{r[1].ID, approvals.Allow, " ", "needs the name"},
	} {
		_, err := w.Answer(ctx, c.id, c.d, c.who)
		require.ErrorContains(t, err, c.want)
	}
	w.now = w.now.Add(15 * time.Minute)
	_, err := w.Answer(ctx, r[1].ID, approvals.Allow, "ana")
	require.ErrorIs(t, err, approvals.ErrExpired)
}

func TestAnExpiredRequestCountsAsRejectedAndNothingIsRemembered(t *testing.T) {
	w, c := gate(t), call(t, destructive, `{}`)
	old := w.ask([]catalog.Call{c})[0]
	w.now = w.now.Add(15*time.Minute - time.Millisecond)
	require.Equal(t, old, w.ask([]catalog.Call{c})[0])
	w.now = w.now.Add(time.Millisecond)
	listed, err := w.List(ctx, "")
	require.NoError(t, err)
	require.Empty(t, listed)
	require.Equal(t, approvals.Ask, w.authorize("s", c).Outcome)
	require.NotEqual(t, old.ID, w.ask([]catalog.Call{c})[0].ID)
	events, err := w.History(ctx, "")
	require.NoError(t, err)
	require.Empty(t, events)
}

func TestAChangedToolIsAskedAboutAgain(t *testing.T) {
	for name, change := range map[string]func(*catalog.Tool){
		"description": func(tool *catalog.Tool) { tool.Description = "Now it does more." },
		"schema":      func(tool *catalog.Tool) { tool.InputSchema = []byte(`{"type":"object","properties":{"force":{}}}`) },
		"hints":       func(tool *catalog.Tool) { yes := true; tool.Hints.OpenWorld = &yes },
	} {
		for _, d := range []approvals.Decision{approvals.Allow, approvals.AllowAlways, approvals.Reject, approvals.RejectAlways} {
			w := gate(t)
			w.ask([]catalog.Call{call(t, destructive, `{}`)}, d)
			changed := call(t, destructive, `{}`)
			change(changed.Tool)
			require.Equal(t, approvals.Ask, w.authorize("s", changed).Outcome, "%s, %s", name, d)
		}
	}
}

func TestTheAuditTrailHasEveryAnswerAndEveryUse(t *testing.T) {
	w := gate(t)
	a, b := call(t, destructive, `{"n":1}`), call(t, destructive, `{"n":2}`)
	r := w.ask([]catalog.Call{a, a, b, b}, approvals.Allow, approvals.Reject)
	w.preview(a, a, b)
	w.authorize("s", a)
	w.authorize("s", a)
	for i, d := range []approvals.Decision{approvals.AllowAlways, approvals.RejectAlways} {
		_, err := w.Answer(ctx, r[2+i].ID, d, "bo")
		require.NoError(t, err)
		w.now = w.now.Add(time.Second)
		w.authorize("s", b)
	}
	events, err := w.History(ctx, "s")
	require.NoError(t, err)
	var got [][4]string
	for _, e := range events {
		require.Equal(t, "tools github delete-branch", e.Command)
		got = append(got, [4]string{e.What, e.Request, e.Who, e.Run})
	}
	require.Equal(t, [][4]string{
		{"allow", r[0].ID, "ana", ""}, {"reject", r[1].ID, "ana", ""},
		{"used", r[0].ID, "ana", "run"}, {"denied", r[1].ID, "ana", "run"},
		{"allow_always", r[2].ID, "bo", ""}, {"used", r[2].ID, "bo", "run"},
		{"reject_always", r[3].ID, "bo", ""}, {"denied", r[3].ID, "bo", "run"},
	}, got)
	require.Equal(t, w.now.UTC().Truncate(time.Millisecond), events[7].At)
}

func TestAPreviewForetellsWhatAuthorizeSays(t *testing.T) {
	decisions := []approvals.Decision{approvals.Allow, approvals.Reject, approvals.AllowAlways, approvals.RejectAlways}
	rapid.Check(t, func(rt *rapid.T) {
		inputs := rapid.SampledFrom([]string{`{"n":1}`, `{"n":1.0}`, `{"n":2}`, `{"n":3}`})
		calls := func(label string) (out []catalog.Call) {
			for _, input := range rapid.SliceOfN(inputs, 0, 6).Draw(rt, label) {
				out = append(out, call(rt, destructive, input))
			}
			return out
		}
		store := approvals.NewMemory()
		asked := calls("asked")
		weights := rapid.SampledFrom([]approvals.Decision{approvals.Allow, approvals.Reject, approvals.Allow, approvals.Reject, decisions[2], decisions[3]})
		newWorld(rt, approvals.Normal, store).ask(asked, rapid.SliceOfN(weights, 0, len(asked)).Draw(rt, "answers")...)
		var rules []approvals.Rule
		if rapid.Bool().Draw(rt, "rule") {
			rules = append(rules, approvals.Rule{Tool: "*", When: ".n == 3", Decision: rapid.SampledFrom([]string{"allow", "ask", "deny"}).Draw(rt, "decision")})
		}
		w := newWorld(rt, rapid.SampledFrom([]approvals.Mode{approvals.Off, approvals.Normal}).Draw(rt, "mode"), store, rules...)
		script := calls("script")
		foretold, err := w.Preview(ctx, "s", script)
		require.NoError(rt, err)
		for i, c := range script {
			require.Equal(rt, foretold[i], w.authorize("s", c))
		}
	})
}
