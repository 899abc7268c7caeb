// Package storetest is the conformance suite that every approvals.Store passes.
package storetest

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tools-in-shell/tis/approvals"
)

var start = time.Date(2026, 1, 2, 3, 4, 5, 6e6, time.UTC)

// Request is a request for a call, as a gate would raise it. It expires after a
// minute.
func Request(id, session, fingerprint string) approvals.Request {
	return approvals.Request{
		ID: id, Session: session, Tool: "mcp_github__delete_branch", Command: "tools github delete-branch", Arguments: json.RawMessage(`{"branch":"ü'\"","n":1.10}`),
		Fingerprint: fingerprint, Risk: approvals.RiskNeedsApproval, Mode: approvals.Normal, AskedAt: start, ExpiresAt: start.Add(time.Minute), Identity: "delete@1", Run: "r1",
		Definition: json.RawMessage(`{"description":"Löscht.\n","hints":{}}`),
	}
}

// store is the store under test; what must not fail in a case goes through it.
type store struct {
	approvals.Store
	t *testing.T
}

func (s store) raise(id, session, fingerprint string, n int) approvals.Request {
	s.t.Helper()
	r, err := s.Raise(context.Background(), Request(id, session, fingerprint), n, start)
	require.NoError(s.t, err)
	return r
}

func (s store) answer(id string, d approvals.Decision, who string) {
	s.t.Helper()
	_, err := s.Answer(context.Background(), id, d, who, start)
	require.NoError(s.t, err)
}

// consume is the answer that was used up, empty for none.
func (s store) consume(session, fingerprint string, rejectOnly bool) approvals.Decision {
	s.t.Helper()
	d, ok, err := s.Consume(context.Background(), approvals.Use{Session: session, Fingerprint: fingerprint, Run: "run", At: start, RejectOnly: rejectOnly})
	require.NoError(s.t, err)
	require.Equal(s.t, ok, d != "")
	return d
}

func (s store) answers(session, identity, fingerprint string) approvals.Answers {
	s.t.Helper()
	a, err := s.Answers(context.Background(), session, identity, fingerprint)
	require.NoError(s.t, err)
	return a
}

func (s store) open(session string, now time.Time) []string {
	s.t.Helper()
	requests, err := s.Open(context.Background(), session, now)
	require.NoError(s.t, err)
	var ids []string
	for _, r := range requests {
		ids = append(ids, r.ID)
	}
	return ids
}

// Run runs the suite; open makes a new, empty store.
func Run(t *testing.T, open func(t *testing.T) approvals.Store) {
	for _, c := range []struct {
		name string
		test func(t *testing.T, s store)
	}{
		{"an identical open request is returned, the next one is new", identicalRequests},
		{"a request comes back as it was raised", roundTrip},
		{"what a caller changes later does not change the store", noAliases},
		{"open requests are listed by session, oldest first", listing},
		{"an expired request is neither open nor answered nor remembered", expiry},
		{"a request is answered once", answeredOnce},
		{"one-off answers are used once, in the order asked, in their session", oneOffs},
		{"a call that needs no answer uses up rejections alone", rejectOnly},
		{"an always answer stands for its tool and session, and is no one-off", always},
		{"the latest request that allowed a tool is found, in its session", allowed},
		{"sessions, fingerprints and names of requests are compared to the letter", toTheLetter},
		{"of many that race for one answer one gets it", raceForAnswer},
		{"of many that raise one request all get the same", raceToRaise},
		{"of many that answer one request one does", raceToAnswer},
		{"the history tells who, what, when and which run", history},
		{"a caller that has gone changes nothing", gone},
		{"a closed store fails in every method", closed},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := open(t)
			t.Cleanup(func() { s.Close() })
			c.test(t, store{s, t})
		})
	}
}

func identicalRequests(t *testing.T, s store) {
	require.Equal(t, "a", s.raise("a", "s", "f", 0).ID)
	require.Equal(t, "a", s.raise("b", "s", "f", 0).ID)
	require.Equal(t, "b", s.raise("b", "s", "f", 1).ID)
	require.Equal(t, "a", s.raise("c", "s", "f", 0).ID)
	require.Equal(t, "b", s.raise("c", "s", "f", 1).ID)
	require.Equal(t, "c", s.raise("c", "s", "other", 0).ID)
	require.Equal(t, "d", s.raise("d", "another", "f", 0).ID)
	s.answer("a", approvals.Allow, "ana")
	require.Equal(t, "b", s.raise("e", "s", "f", 0).ID, "an answered request is open no more")
}

func roundTrip(t *testing.T, s store) {
	want := Request("a", "s", "f")
	require.Equal(t, want, s.raise("a", "s", "f", 0))
	require.Equal(t, want, s.raise("b", "s", "f", 0))
	listed, err := s.Open(context.Background(), "s", start)
	require.NoError(t, err)
	require.Equal(t, []approvals.Request{want}, listed)
	answered, err := s.Answer(context.Background(), "a", approvals.Allow, "ana", start)
	require.NoError(t, err)
	require.Equal(t, want, answered)
}

func noAliases(t *testing.T, s store) {
	r := Request("a", "s", "f")
	out, err := s.Raise(context.Background(), r, 0, start)
	require.NoError(t, err)
	r.Arguments[0], out.Arguments[1] = 'X', 'X'
	r.Definition[0], out.Definition[1] = 'X', 'X'
	require.Equal(t, Request("a", "s", "f"), s.raise("b", "s", "f", 0))
}

func listing(t *testing.T, s store) {
	require.Empty(t, s.open("", start))
	s.raise("z", "s", "f", 0)
	s.raise("a", "t", "f", 0)
	s.raise("m", "s", "g", 0)
	require.Equal(t, []string{"z", "a", "m"}, s.open("", start))
	require.Equal(t, []string{"z", "m"}, s.open("s", start))
	require.Empty(t, s.open("u", start))
	s.answer("z", approvals.Reject, "ana")
	require.Equal(t, []string{"m"}, s.open("s", start))
}

func expiry(t *testing.T, s store) {
	ctx := context.Background()
	s.raise("a", "s", "f", 0)
	require.Equal(t, []string{"a"}, s.open("", start.Add(time.Minute-time.Millisecond)))
	late := start.Add(time.Minute)
	require.Empty(t, s.open("", late))
	for _, d := range []approvals.Decision{approvals.Allow, approvals.AllowAlways, approvals.RejectAlways} {
		_, err := s.Answer(ctx, "a", d, "ana", late)
		require.ErrorIs(t, err, approvals.ErrExpired)
	}
	require.Zero(t, s.answers("s", "delete@1", "f"))
	events, err := s.History(ctx, "")
	require.NoError(t, err)
	require.Empty(t, events)
	r, err := s.Raise(ctx, Request("b", "s", "f"), 0, late)
	require.NoError(t, err)
	require.Equal(t, "b", r.ID)
}

func answeredOnce(t *testing.T, s store) {
	s.raise("a", "s", "f", 0)
	s.answer("a", approvals.Allow, "ana")
	for id, want := range map[string]error{"a": approvals.ErrAnswered, "zz": approvals.ErrUnknownRequest, "": approvals.ErrUnknownRequest} {
		_, err := s.Answer(context.Background(), id, approvals.RejectAlways, "bo", start)
		require.ErrorIs(t, err, want)
	}
	_, err := s.Answer(context.Background(), "a", approvals.Reject, "bo", start.Add(time.Hour))
	require.ErrorIs(t, err, approvals.ErrAnswered, "also after its deadline")
	require.Equal(t, approvals.Answers{OneOff: []approvals.Decision{approvals.Allow}}, s.answers("s", "delete@1", "f"))
}

func oneOffs(t *testing.T, s store) {
	s.raise("a", "s", "f", 0)
	s.raise("b", "s", "f", 1)
	require.Empty(t, s.consume("s", "f", false), "an open request is no answer")
	s.answer("b", approvals.Allow, "ana")
	s.answer("a", approvals.Reject, "ana")
	require.Equal(t, approvals.Answers{OneOff: []approvals.Decision{approvals.Reject, approvals.Allow}}, s.answers("s", "delete@1", "f"))
	require.Empty(t, s.consume("another", "f", false))
	require.Empty(t, s.consume("s", "other", false))
	require.Equal(t, approvals.Reject, s.consume("s", "f", false))
	require.Equal(t, approvals.Answers{OneOff: []approvals.Decision{approvals.Allow}}, s.answers("s", "delete@1", "f"))
	require.Equal(t, approvals.Allow, s.consume("s", "f", false))
	require.Empty(t, s.consume("s", "f", false))
	require.Zero(t, s.answers("s", "delete@1", "f"))
}

func rejectOnly(t *testing.T, s store) {
	s.raise("a", "s", "f", 0)
	s.raise("b", "s", "f", 1)
	s.answer("a", approvals.Allow, "ana")
	require.Empty(t, s.consume("s", "f", true))
	s.answer("b", approvals.Reject, "ana")
	require.Equal(t, approvals.Reject, s.consume("s", "f", true))
	require.Empty(t, s.consume("s", "f", true))
	require.Equal(t, approvals.Allow, s.consume("s", "f", false))
}

func always(t *testing.T, s store) {
	s.raise("a", "s", "f", 0)
	s.answer("a", approvals.AllowAlways, "ana")
	require.Equal(t, approvals.Answers{Always: approvals.Always{Decision: approvals.AllowAlways, Request: "a", Who: "ana"}}, s.answers("s", "delete@1", "f"))
	require.Zero(t, s.answers("s", "delete@2", "f"))
	require.Zero(t, s.answers("t", "delete@1", "f"))
	require.Empty(t, s.consume("s", "f", false))
	s.raise("b", "s", "f", 0)
	s.answer("b", approvals.RejectAlways, "bo")
	require.Equal(t, approvals.Always{Decision: approvals.RejectAlways, Request: "b", Who: "bo"}, s.answers("s", "delete@1", "g").Always, "the latest stands")
}

// race calls f from many goroutines at once and returns how often it gave each result.
func race(t *testing.T, f func(i int) (string, error)) map[string]int {
	t.Helper()
	var mu sync.Mutex
	var wg sync.WaitGroup
	got := map[string]int{}
	for i := range 16 {
		wg.Go(func() {
			result, err := f(i)
			mu.Lock()
			defer mu.Unlock()
			assert.NoError(t, err)
			got[result]++
		})
	}
	wg.Wait()
	return got
}

func toTheLetter(t *testing.T, s store) {
	names := []string{"s", "S", "s ", " s", "s\n", "", "s'", `s"`, "s;--", "%", "_", "*", "ſ", "ß", "ss", "s\u200b", "e\u0301", "\u00e9", "0", "00", "NULL", "' OR ''='"}
	for i, name := range names {
		id := fmt.Sprint("r", i)
		s.raise(id, name, "f", 0)
		s.raise("f"+id, "fingerprints", name, 0)
		for _, guess := range []string{id + " ", "R" + id[1:], id[:1] + "%", "f" + id + "x", "' OR ''='"} {
			_, err := s.Answer(context.Background(), guess, approvals.Allow, "ana", start)
			require.ErrorIs(t, err, approvals.ErrUnknownRequest, guess)
		}
		s.answer(id, approvals.AllowAlways, "ana")
		s.answer("f"+id, approvals.Allow, "ana")
		for _, other := range names[i+1:] {
			require.Equal(t, approvals.Answers{}, s.answers(other, "delete@1", "f"), "%q and %q", name, other)
			require.Empty(t, s.answers("fingerprints", "none", other).OneOff, "%q and %q", name, other)
			require.Empty(t, s.consume("fingerprints", other, false), "%q and %q", name, other)
		}
		require.Equal(t, approvals.AllowAlways, s.answers(name, "delete@1", "f").Always.Decision)
		require.Equal(t, approvals.Allow, s.consume("fingerprints", name, false))
		require.Empty(t, s.consume("fingerprints", name, false))
	}
}

func allowed(t *testing.T, s store) {
	latest := func(session, tool string) string {
		t.Helper()
		r, ok, err := s.Allowed(context.Background(), session, tool)
		require.NoError(t, err)
		require.Equal(t, ok, r.ID != "")
		return r.ID
	}
	const tool = "mcp_github__delete_branch"
	for i, d := range []approvals.Decision{approvals.Allow, approvals.Reject, approvals.AllowAlways, approvals.RejectAlways, ""} {
		s.raise(fmt.Sprint("r", i), "s", fmt.Sprint("f", i), 0)
		require.Equal(t, []string{"", "r0", "r0", "r2", "r2"}[i], latest("s", tool))
		if d != "" {
			s.answer(fmt.Sprint("r", i), d, "ana")
		}
	}
	require.Empty(t, latest("another", tool))
	require.Empty(t, latest("s", "mcp_github__delete"))
	s.raise("a", "", "f", 0)
	s.answer("a", approvals.Allow, "ana")
	require.Equal(t, "r2", latest("s", tool))
	require.Equal(t, "a", latest("", tool), "the empty name is a session like others")
	require.Equal(t, approvals.Allow, s.consume("s", "f0", false))
	r, _, err := s.Allowed(context.Background(), "s", tool)
	require.NoError(t, err)
	want := Request("r2", "s", "f2")
	require.Equal(t, want, r, "a used answer counts too")
}

func raceForAnswer(t *testing.T, s store) {
	s.raise("a", "s", "f", 0)
	s.raise("b", "s", "f", 1)
	s.answer("a", approvals.Allow, "ana")
	s.answer("b", approvals.Reject, "ana")
	got := race(t, func(int) (string, error) {
		d, _, err := s.Consume(context.Background(), approvals.Use{Session: "s", Fingerprint: "f", Run: "run", At: start})
		return string(d), err
	})
	require.Equal(t, map[string]int{"allow": 1, "reject": 1, "": 14}, got)
	events, err := s.History(context.Background(), "s")
	require.NoError(t, err)
	require.Len(t, events, 4)
}

func raceToRaise(t *testing.T, s store) {
	got := race(t, func(i int) (string, error) {
		r, err := s.Raise(context.Background(), Request(fmt.Sprint("id", i), "s", "f"), 0, start)
		return r.ID, err
	})
	require.Len(t, got, 1)
	require.Len(t, s.open("s", start), 1)
}

func raceToAnswer(t *testing.T, s store) {
	s.raise("a", "s", "f", 0)
	got := race(t, func(int) (string, error) {
		_, err := s.Answer(context.Background(), "a", approvals.Allow, "ana", start)
		if err == nil {
			return "answered", nil
		}
		return err.Error(), nil
	})
	require.Equal(t, map[string]int{"answered": 1, approvals.ErrAnswered.Error(): 15}, got)
	require.Len(t, s.answers("s", "delete@1", "f").OneOff, 1)
}

func history(t *testing.T, s store) {
	ctx := context.Background()
	s.raise("a", "s", "f", 0)
	s.raise("b", "s", "f", 1)
	s.raise("c", "t", "f", 0)
	s.answer("a", approvals.Allow, "ana")
	s.answer("b", approvals.Reject, "bo")
	s.answer("c", approvals.AllowAlways, "cy")
	s.consume("s", "f", false)
	s.consume("s", "f", false)
	const command = "tools github delete-branch"
	used := approvals.Event{At: start.Add(time.Second), What: "used", Request: "c", Session: "t", Command: command, Who: "cy", Run: "r9"}
	require.NoError(t, s.Record(ctx, used))
	want := []approvals.Event{
		{At: start, What: "allow", Request: "a", Session: "s", Command: command, Who: "ana"},
		{At: start, What: "reject", Request: "b", Session: "s", Command: command, Who: "bo"},
		{At: start, What: "allow_always", Request: "c", Session: "t", Command: command, Who: "cy"},
		{At: start, What: "used", Request: "a", Session: "s", Command: command, Who: "ana", Run: "run"},
		{At: start, What: "denied", Request: "b", Session: "s", Command: command, Who: "bo", Run: "run"},
		used,
	}
	events, err := s.History(ctx, "")
	require.NoError(t, err)
	require.Equal(t, want, events)
	events, err = s.History(ctx, "t")
	require.NoError(t, err)
	require.Equal(t, []approvals.Event{want[2], used}, events)
}

// calls is every method, to be called where it must fail.
func (s store) calls(ctx context.Context) map[string]error {
	out := map[string]error{}
	_, out["Raise"] = s.Raise(ctx, Request("x", "s", "x"), 0, start)
	_, out["Answer"] = s.Answer(ctx, "a", approvals.Allow, "ana", start)
	_, out["Answers"] = s.Answers(ctx, "s", "delete@1", "f")
	_, _, out["Consume"] = s.Consume(ctx, approvals.Use{Session: "s", Fingerprint: "g", Run: "run", At: start})
	out["Record"] = s.Record(ctx, approvals.Event{At: start, What: "used", Session: "s"})
	_, _, out["Allowed"] = s.Allowed(ctx, "s", "mcp_github__delete_branch")
	_, out["Open"] = s.Open(ctx, "s", start)
	_, out["History"] = s.History(ctx, "s")
	return out
}

func gone(t *testing.T, s store) {
	s.raise("a", "s", "f", 0)
	s.raise("b", "s", "g", 0)
	s.answer("b", approvals.Allow, "ana")
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	for method, err := range s.calls(ctx) {
		require.ErrorIs(t, err, context.Canceled, method)
	}
	require.Equal(t, []string{"a"}, s.open("s", start))
	require.Equal(t, approvals.Allow, s.consume("s", "g", false))
	events, err := s.History(context.Background(), "s")
	require.NoError(t, err)
	require.Len(t, events, 2)
}

func closed(t *testing.T, s store) {
	s.raise("a", "s", "f", 0)
	require.NoError(t, s.Close())
	for method, err := range s.calls(context.Background()) {
		require.Error(t, err, method)
		require.NotErrorIs(t, err, approvals.ErrUnknownRequest, method)
	}
}
