// Package storetest is the conformance suite that every approvals.Store passes.
package storetest

import (
	"context"
	"encoding/json"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tools-in-shell/tis/approvals"
)

var start = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

// Request is a request for a call, as a gate would raise it.
func Request(id, session, fingerprint string) approvals.Request {
	return approvals.Request{
		ID: id, Session: session, Tool: "mcp_github__delete_branch", Command: "tools github delete-branch", Arguments: json.RawMessage(`{"branch":"x","n":1.10}`),
		Fingerprint: fingerprint, Risk: approvals.RiskNeedsApproval, Mode: approvals.Normal, AskedAt: start, ExpiresAt: start.Add(time.Minute), Identity: "delete@1", Run: "r1",
	}
}

// Run runs the suite; open makes a new, empty store.
func Run(t *testing.T, open func(t *testing.T) approvals.Store) {
	ctx := context.Background()
	raise := func(t *testing.T, s approvals.Store, id, fp string, n int) approvals.Request {
		t.Helper()
		r, err := s.Raise(ctx, Request(id, "s", fp), n, start)
		require.NoError(t, err)
		return r
	}
	answer := func(t *testing.T, s approvals.Store, id string, d approvals.Decision) {
		t.Helper()
		_, err := s.Answer(ctx, id, d, "ana", start)
		require.NoError(t, err)
	}
	consume := func(t *testing.T, s approvals.Store, session, fp string) (approvals.Decision, bool) {
		t.Helper()
		d, ok, err := s.Consume(ctx, session, fp, "run", start)
		require.NoError(t, err)
		return d, ok
	}
	test := func(name string, f func(t *testing.T, s approvals.Store)) {
		t.Run(name, func(t *testing.T) {
			s := open(t)
			t.Cleanup(func() { s.Close() })
			f(t, s)
		})
	}
	test("an identical open request is returned, the next one is new", func(t *testing.T, s approvals.Store) {
		require.Equal(t, Request("a", "s", "f"), raise(t, s, "a", "f", 0))
		require.Equal(t, Request("a", "s", "f"), raise(t, s, "b", "f", 0))
		require.Equal(t, "b", raise(t, s, "b", "f", 1).ID)
		require.Equal(t, "c", raise(t, s, "c", "other", 0).ID)
		open, err := s.Open(ctx, "s", start)
		require.NoError(t, err)
		require.Len(t, open, 3)
	})
	test("an expired request is neither open nor answered", func(t *testing.T, s approvals.Store) {
		raise(t, s, "a", "f", 0)
		late := start.Add(time.Minute)
		open, err := s.Open(ctx, "", late)
		require.NoError(t, err)
		require.Empty(t, open)
		_, err = s.Answer(ctx, "a", approvals.Allow, "ana", late)
		require.ErrorIs(t, err, approvals.ErrExpired)
		r, err := s.Raise(ctx, Request("b", "s", "f"), 0, late)
		require.NoError(t, err)
		require.Equal(t, "b", r.ID)
	})
	test("a request is answered once", func(t *testing.T, s approvals.Store) {
		raise(t, s, "a", "f", 0)
		answer(t, s, "a", approvals.Allow)
		_, err := s.Answer(ctx, "a", approvals.Reject, "bo", start)
		require.ErrorIs(t, err, approvals.ErrAnswered)
		_, err = s.Answer(ctx, "zz", approvals.Reject, "bo", start)
		require.ErrorIs(t, err, approvals.ErrUnknownRequest)
	})
	test("one-off answers are used once, in the order asked, in their session", func(t *testing.T, s approvals.Store) {
		raise(t, s, "a", "f", 0)
		raise(t, s, "b", "f", 1)
		answer(t, s, "b", approvals.Allow)
		answer(t, s, "a", approvals.Reject)
		unused, err := s.Unused(ctx, "s", "f")
		require.NoError(t, err)
		require.Equal(t, []approvals.Decision{approvals.Reject, approvals.Allow}, unused)
		_, ok := consume(t, s, "another", "f")
		require.False(t, ok)
		_, ok = consume(t, s, "s", "other")
		require.False(t, ok)
		d, ok := consume(t, s, "s", "f")
		require.True(t, ok)
		require.Equal(t, approvals.Reject, d)
		d, ok = consume(t, s, "s", "f")
		require.True(t, ok)
		require.Equal(t, approvals.Allow, d)
		_, ok = consume(t, s, "s", "f")
		require.False(t, ok)
	})
	test("an always answer stands for its tool and session, and is no one-off", func(t *testing.T, s approvals.Store) {
		raise(t, s, "a", "f", 0)
		answer(t, s, "a", approvals.AllowAlways)
		for key, want := range map[[2]string]approvals.Decision{{"s", "delete@1"}: approvals.AllowAlways, {"s", "delete@2"}: "", {"t", "delete@1"}: ""} {
			d, err := s.Standing(ctx, key[0], key[1])
			require.NoError(t, err)
			require.Equal(t, want, d)
		}
		_, ok := consume(t, s, "s", "f")
		require.False(t, ok)
		raise(t, s, "b", "f", 0)
		answer(t, s, "b", approvals.RejectAlways)
		d, err := s.Standing(ctx, "s", "delete@1")
		require.NoError(t, err)
		require.Equal(t, approvals.RejectAlways, d)
	})
	test("of many that race for one answer one gets it", func(t *testing.T, s approvals.Store) {
		raise(t, s, "a", "f", 0)
		answer(t, s, "a", approvals.Allow)
		var won atomic.Int32
		var wg sync.WaitGroup
		for range 16 {
			wg.Go(func() {
				_, ok, err := s.Consume(ctx, "s", "f", "run", start)
				if err != nil {
					t.Error(err)
				}
				if ok {
					won.Add(1)
				}
			})
		}
		wg.Wait()
		require.EqualValues(t, 1, won.Load())
	})
	test("the history tells who, what, when and which run", func(t *testing.T, s approvals.Store) {
		raise(t, s, "a", "f", 0)
		answer(t, s, "a", approvals.Allow)
		consume(t, s, "s", "f")
		events, err := s.History(ctx, "s")
		require.NoError(t, err)
		require.Equal(t, []approvals.Event{
			{At: start, What: "allow", Request: "a", Session: "s", Command: "tools github delete-branch", Who: "ana"},
			{At: start, What: "used", Request: "a", Session: "s", Command: "tools github delete-branch", Run: "run"},
		}, events)
	})
	test("a closed store fails", func(t *testing.T, s approvals.Store) {
		require.NoError(t, s.Close())
		_, _, err := s.Consume(ctx, "s", "f", "run", start)
		require.Error(t, err)
		_, err = s.Standing(ctx, "s", "x")
		require.Error(t, err)
	})
}
