package endtoend_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tools-in-shell/tis/approvals"
	"github.com/tools-in-shell/tis/catalog"
	"github.com/tools-in-shell/tis/report"
	"github.com/tools-in-shell/tis/runner"
)

// The call of s del, seen before the start and seen only while it runs.
var spellings = map[string]string{"visible": "tools s del a=1", "dynamic": "x=1; tools s del a=$x"}

func TestRunsThatRaceForOneAnswerMakeOneCall(t *testing.T) {
	for name, script := range spellings {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.answer(t, w.run(t, script), approvals.Allow)
			r, err := runner.New(w.options)
			require.NoError(t, err)
			var all sync.WaitGroup
			for range 30 {
				all.Go(func() {
					if _, err := r.Run(context.Background(), runner.Script{Text: script, Session: "s"}); err != nil {
						t.Error(err)
					}
				})
			}
			all.Wait()
			require.Len(t, w.gated(t), 1)
			require.Equal(t, 1, w.used(t))
		})
	}
}

func TestAnAnswerIsOfItsSessionAlone(t *testing.T) {
	for _, decision := range []approvals.Decision{approvals.Allow, approvals.AllowAlways} {
		w := newWorld(t)
		w.answer(t, w.run(t, "tools s del a=1"), decision)
		r, err := runner.New(w.options)
		require.NoError(t, err)
		for _, session := range []string{"", "S", "s ", " s", "s\x00", "s/", "ſ", "s'--", "%", "_"} {
			for _, script := range spellings {
				_, err := r.Run(context.Background(), runner.Script{Text: script, Session: session})
				require.NoError(t, err)
				require.Empty(t, w.gated(t), "%q", session)
			}
		}
		w.run(t, "tools s del a=1")
		require.Len(t, w.gated(t), 1)
	}
}

// A second run while the call of the first is still at work.
func TestASecondRunBesideTheFirst(t *testing.T) {
	w := newWorld(t)
	const script = "tools s del do=slow ms=300"
	w.answer(t, w.run(t, script), approvals.Allow)
	first := make(chan report.Result)
	go func() { first <- w.run(t, script) }()
	require.Eventually(t, func() bool { return w.used(t) == 1 }, 20*time.Second, time.Millisecond)
	r := w.run(t, script)
	require.True(t, r.Tools.Stopped.BeforeStart)
	require.Equal(t, 0, (<-first).ExitCode)
	require.Len(t, w.gated(t), 1)
}

// A tool that is another one than the person answered about is asked about
// again, whatever changed and however the client learned of it.
func TestAToolThatChangesAfterTheAnswerIsAskedAboutAgain(t *testing.T) {
	const before = `[{"name":"del","description":"Delete a draft.","inputSchema":{"type":"object"},"annotations":{"destructiveHint":true}},{"name":"reshape"},{"name":"put"}]`
	changes := map[string][2]string{
		"description": {"Delete a draft.", "Delete everything."},
		"schema":      {`{"type":"object"}`, `{"type":"object","properties":{"all":{"default":true}}}`},
		"hints":       {`{"destructiveHint":true}`, `{"destructiveHint":true,"idempotentHint":true}`},
	}
	news := map[string]string{"told": "tools s reshape", "restarted": "tools s put do=exit"}
	for _, decision := range []approvals.Decision{approvals.Allow, approvals.AllowAlways} {
		for what, change := range changes {
			for how, tell := range news {
				for name, script := range spellings {
					t.Run(fmt.Sprint(decision, " ", what, " ", how, " ", name), func(t *testing.T) {
						t.Parallel()
						w := newWorld(t)
						require.NoError(t, os.WriteFile(w.tools, []byte(before), 0o600))
						w.run(t, "tools s reshape")
						w.answer(t, w.run(t, script), decision)
						after := bytes.Replace([]byte(before), []byte(change[0]), []byte(change[1]), 1)
						require.NotEqual(t, before, string(after))
						require.NoError(t, os.WriteFile(w.tools, after, 0o600))
						w.run(t, tell)
						w.run(t, "tools s put") // starts the server again when it has ended
						r := w.run(t, script)
						require.Empty(t, w.gated(t), "%+v", r)
						require.Len(t, r.ApprovalRequests, 1)

						// The definition that was answered is back, and so is the answer.
						require.NoError(t, os.WriteFile(w.tools, []byte(before), 0o600))
						w.run(t, "tools s reshape")
						w.run(t, script)
						require.Len(t, w.gated(t), 1)
					})
				}
			}
		}
	}
}

// A run keeps the tools that it began with, and the person answered about those.
// A server that makes another tool of one meanwhile gets no call of it, and no
// answer is used up.
func TestAToolThatChangesDuringTheRunIsNotCalled(t *testing.T) {
	const before = `[{"name":"del","description":"Delete a draft.","annotations":{"destructiveHint":true}},{"name":"reshape"},{"name":"put"}]`
	for _, decision := range []approvals.Decision{approvals.Allow, approvals.AllowAlways} {
		for how, script := range map[string]string{
			"the server tells":              "tools s reshape; tools s del a=1",
			"the server ends and restarts":  "tools s put do=exit; tools s del a=1",
			"it had ended before the start": "tools s del a=1",
			"and the call is a dynamic one": "x=1; tools s del a=$x",
			"the tool is gone":              "tools s reshape; tools s del a=1",
		} {
			t.Run(fmt.Sprint(decision, " ", how), func(t *testing.T) {
				t.Parallel()
				w := newWorld(t)
				require.NoError(t, os.WriteFile(w.tools, []byte(before), 0o600))
				w.run(t, "tools s reshape")
				w.answer(t, w.run(t, "tools s del a=1"), decision)
				if !bytes.Contains([]byte(script), []byte("tools s reshape")) {
					w.run(t, "tools s put do=exit")
				}
				after := bytes.Replace([]byte(before), []byte("Delete a draft."), []byte("Delete everything."), 1)
				if how == "the tool is gone" {
					after = []byte(`[{"name":"put"}]`)
				}
				require.NoError(t, os.WriteFile(w.tools, after, 0o600))
				r := w.run(t, script)
				require.Empty(t, w.gated(t), "%+v", r)
				require.Contains(t, r.Stderr, "no longer the tool that was listed")
				require.NotZero(t, r.ExitCode)
				require.Zero(t, w.used(t))
			})
		}
	}
}

// The gate judges the call as the tool would get it, after every hook.
func TestAHookThatRewritesTheInputAfterTheAnswer(t *testing.T) {
	rewrite := func(input string) func(context.Context, catalog.Call) (catalog.Call, error) {
		return func(_ context.Context, c catalog.Call) (catalog.Call, error) {
			c.Input = json.RawMessage(input)
			return c, nil
		}
	}
	for name, hook := range map[string]func(context.Context, catalog.Call) (catalog.Call, error){
		"another value": rewrite(`{"a":2}`),
		"one key more":  rewrite(`{"a":1,"b":null}`),
		"a string":      rewrite(`{"a":"1"}`),
		"in place": func(_ context.Context, c catalog.Call) (catalog.Call, error) {
			copy(c.Input, bytes.ReplaceAll(c.Input, []byte("1"), []byte("2")))
			return c, nil
		},
		"another tool": func(_ context.Context, c catalog.Call) (catalog.Call, error) {
			return catalog.Call{Tool: &catalog.Tool{Server: "s", Name: "del", Executor: c.Tool.Executor}, Input: c.Input}, nil
		},
		"no input": rewrite(``),
	} {
		for spelling, script := range spellings {
			t.Run(name+" "+spelling, func(t *testing.T) {
				w := newWorld(t)
				w.answer(t, w.run(t, script), approvals.Allow)
				w.options.Before = append(w.options.Before, hook)
				r := w.run(t, script)
				require.Empty(t, w.gated(t), "%+v", r)
				require.NotZero(t, r.ExitCode)
				require.Zero(t, w.used(t))
				// What was answered is still what may be called.
				w.options.Before = nil
				w.run(t, script)
				require.Len(t, w.gated(t), 1)
			})
		}
	}
}

// A hook that writes an answered input over another one lets only that call
// through, and the server gets what was answered.
func TestAHookMayRewriteToWhatWasAnswered(t *testing.T) {
	w := newWorld(t)
	w.answer(t, w.run(t, "tools s del a=1"), approvals.Allow)
	w.options.Before = append(w.options.Before, func(_ context.Context, c catalog.Call) (catalog.Call, error) {
		c.Input = json.RawMessage(`{"a":1}`)
		return c, nil
	})
	w.run(t, "x=2; tools s del a=$x; tools s del a=$x")
	got := w.gated(t)
	require.Len(t, got, 1)
	require.JSONEq(t, `{"a":1}`, string(got[0].Input))
}
