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

func call(t *testing.T, hints, input string) catalog.Call {
	t.Helper()
	tl, err := catalog.ToolFromMCP("github", json.RawMessage(`{"name":"delete_branch","annotations":`+hints+`}`))
	require.NoError(t, err)
	return catalog.Call{Tool: tl, Input: json.RawMessage(input)}
}

const destructive = `{"destructiveHint":true}`

func TestModes(t *testing.T) {
	for _, c := range []struct {
		hints                   string
		off, normal, protective approvals.Outcome
	}{
		{`{}`, approvals.Run, approvals.Run, approvals.Ask},
		{`{"readOnlyHint":true}`, approvals.Run, approvals.Run, approvals.Run},
		{`{"readOnlyHint":false}`, approvals.Run, approvals.Run, approvals.Ask},
		{destructive, approvals.Run, approvals.Ask, approvals.Ask},
		{`{"openWorldHint":true}`, approvals.Run, approvals.Ask, approvals.Ask},
		{`{"readOnlyHint":true,"openWorldHint":true}`, approvals.Run, approvals.Ask, approvals.Ask},
		{`{"readOnlyHint":true,"destructiveHint":true}`, approvals.Run, approvals.Ask, approvals.Ask},
		{`{"destructiveHint":false,"openWorldHint":false}`, approvals.Run, approvals.Run, approvals.Ask},
		{`{"readOnlyHint":false,"idempotentHint":false}`, approvals.Run, approvals.Run, approvals.Ask},
	} {
		for mode, want := range map[approvals.Mode]approvals.Outcome{approvals.Off: c.off, approvals.Normal: c.normal, approvals.Protective: c.protective} {
			v, err := approvals.NewGate(approvals.NewMemory(), approvals.Config{Mode: mode}).Authorize(context.Background(), "s", "r", call(t, c.hints, `{}`))
			require.NoError(t, err)
			require.Equal(t, want, v.Outcome, "%s %s", mode, c.hints)
		}
	}
}

func gate(t *testing.T, rules ...approvals.Rule) *approvals.Gate {
	t.Helper()
	compiled, err := approvals.CompileRules(rules)
	require.NoError(t, err)
	return approvals.NewGate(approvals.NewMemory(), approvals.Config{Rules: compiled})
}

func TestRules(t *testing.T) {
	for _, c := range []struct {
		rule approvals.Rule
		want approvals.Outcome
	}{
		{approvals.Rule{Tool: "github delete-*", Decision: "allow"}, approvals.Run},
		{approvals.Rule{Tool: "GitHub Delete_Branch", Decision: "deny"}, approvals.Deny},
		{approvals.Rule{Tool: "*", When: `.branch | startswith("tmp/")`, Decision: "allow"}, approvals.Run},
		{approvals.Rule{Tool: "*", When: `.branch == "main"`, Decision: "allow"}, approvals.Ask},
		{approvals.Rule{Tool: "linear *", Decision: "allow"}, approvals.Ask},
		{approvals.Rule{Tool: "*", When: `.n == 9007199254740993`, Decision: "allow"}, approvals.Run},
		{approvals.Rule{Tool: "*", When: `.branch + 1`, Decision: "allow"}, approvals.Ask},
		{approvals.Rule{Tool: "*", When: `def f: f; f`, Decision: "allow"}, approvals.Ask},
	} {
		v, err := gate(t, c.rule).Authorize(context.Background(), "s", "r", call(t, destructive, `{"branch":"tmp/x","n":9007199254740993}`))
		require.NoError(t, err)
		require.Equal(t, c.want, v.Outcome, "%+v %s", c.rule, v.Why)
	}
	for _, bad := range []approvals.Rule{{Decision: "allow"}, {Tool: "x", Decision: "maybe"}, {Tool: "x", Decision: "ask", When: ".["},
		{Tool: "x", Decision: "ask", Examples: &approvals.Examples{Match: []approvals.Example{{Tool: "y"}}}}} {
		_, err := approvals.CompileRules([]approvals.Rule{bad})
		require.ErrorContains(t, err, "rules[0].")
	}
}

func TestAnswers(t *testing.T) {
	ctx := context.Background()
	a, b := call(t, destructive, `{"branch":"a"}`), call(t, destructive, `{"branch":"b"}`)
	for _, c := range []struct {
		decision           approvals.Decision
		first, next, else_ approvals.Outcome
	}{
		{approvals.Allow, approvals.Run, approvals.Ask, approvals.Ask},
		{approvals.Reject, approvals.Deny, approvals.Ask, approvals.Ask},
		{approvals.AllowAlways, approvals.Run, approvals.Run, approvals.Run},
		{approvals.RejectAlways, approvals.Deny, approvals.Deny, approvals.Deny},
	} {
		g := gate(t)
		requests, err := g.Ask(ctx, "s", "r", []catalog.Call{a})
		require.NoError(t, err)
		_, err = g.Answer(ctx, requests[0].ID, c.decision, "ana")
		require.NoError(t, err)
		preview, err := g.Preview(ctx, "s", []catalog.Call{a, a})
		require.NoError(t, err)
		require.Equal(t, []approvals.Outcome{c.first, c.next}, []approvals.Outcome{preview[0].Outcome, preview[1].Outcome})
		for i, step := range []struct {
			call catalog.Call
			want approvals.Outcome
		}{{b, c.else_}, {a, c.first}, {a, c.next}} {
			v, err := g.Authorize(ctx, "s", "r", step.call)
			require.NoError(t, err)
			require.Equal(t, step.want, v.Outcome, "%s, step %d", c.decision, i)
		}
		v, err := g.Authorize(ctx, "another session", "r", a)
		require.NoError(t, err)
		require.Equal(t, approvals.Ask, v.Outcome)
	}
}

func TestAChangedToolIsAskedAboutAgain(t *testing.T) {
	ctx, g := context.Background(), gate(t)
	requests, err := g.Ask(ctx, "s", "r", []catalog.Call{call(t, destructive, `{}`)})
	require.NoError(t, err)
	_, err = g.Answer(ctx, requests[0].ID, approvals.AllowAlways, "ana")
	require.NoError(t, err)
	changed := call(t, destructive, `{}`)
	changed.Tool.Description = "Now it does more."
	v, err := g.Authorize(ctx, "s", "r", changed)
	require.NoError(t, err)
	require.Equal(t, approvals.Ask, v.Outcome)
}

func TestIdenticalCallsAndDeadlines(t *testing.T) {
	ctx, now := context.Background(), time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	g := approvals.NewGate(approvals.NewMemory(), approvals.Config{Timeout: time.Minute, Now: func() time.Time { return now }})
	a, same := call(t, destructive, `{"n":1,"m":2}`), call(t, destructive, `{"m":2.0,"n":1e0}`)
	first, err := g.Ask(ctx, "s", "r", []catalog.Call{a, same})
	require.NoError(t, err)
	require.NotEqual(t, first[0].ID, first[1].ID)
	again, err := g.Ask(ctx, "s", "r2", []catalog.Call{same, a})
	require.NoError(t, err)
	require.Equal(t, first, again)
	now = now.Add(time.Minute)
	_, err = g.Answer(ctx, first[0].ID, approvals.Allow, "ana")
	require.ErrorIs(t, err, approvals.ErrExpired)
	v, err := g.Authorize(ctx, "s", "r", a)
	require.NoError(t, err)
	require.Equal(t, approvals.Ask, v.Outcome)
}

func TestAFailingStoreClosesTheGate(t *testing.T) {
	s := approvals.NewMemory()
	g := approvals.NewGate(s, approvals.Config{Mode: approvals.Off})
	require.NoError(t, s.Close())
	_, err := g.Authorize(context.Background(), "s", "r", call(t, `{}`, `{}`))
	require.Error(t, err)
	_, err = g.Preview(context.Background(), "s", []catalog.Call{call(t, `{}`, `{}`)})
	require.Error(t, err)
}
