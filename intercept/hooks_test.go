package intercept_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tools-in-shell/tis/approvals"
	"github.com/tools-in-shell/tis/catalog"
	"github.com/tools-in-shell/tis/intercept"
)

func with(input string) intercept.Before {
	return func(_ context.Context, c catalog.Call) (catalog.Call, error) {
		c.Input = json.RawMessage(input)
		return c, nil
	}
}

func TestBefore(t *testing.T) {
	hang := make(chan struct{})
	defer close(hang)
	other := &catalog.Tool{Server: "s", Name: "get"}
	for _, c := range []struct {
		name string
		hook intercept.Before
		code catalog.Code // "" runs
		says string       // in the message, or what the tool got
	}{
		{"lets through", func(_ context.Context, c catalog.Call) (catalog.Call, error) { return c, nil }, "", `{"n":1}`},
		{"refuses", func(_ context.Context, c catalog.Call) (catalog.Call, error) { return c, errors.New("not on Fridays") }, catalog.Denied, "not on Fridays"},
		{"refuses in its own words", func(_ context.Context, c catalog.Call) (catalog.Call, error) {
			return c, catalog.Errorf(catalog.Denied, "no")
		}, catalog.Denied, "no"},
		{"fails, whatever the code", func(_ context.Context, c catalog.Call) (catalog.Call, error) {
			return c, catalog.Errorf(catalog.Unavailable, "no policy server")
		}, catalog.Denied, "no policy server"},
		{"panics", func(context.Context, catalog.Call) (catalog.Call, error) { panic("oops") }, catalog.ToolError, "a hook failed inside: oops"},
		{"does not answer", func(_ context.Context, c catalog.Call) (catalog.Call, error) { <-hang; return c, nil }, catalog.Denied, "did not answer"},
		{"gives up in time", func(ctx context.Context, c catalog.Call) (catalog.Call, error) { <-ctx.Done(); return c, ctx.Err() }, catalog.Denied, "did not answer"},
		{"rewrites the input", with(`{"n":2,"b":1.10}`), "", `{"n":2,"b":1.10}`},
		{"rewrites it to what the schema refuses", with(`{"n":"x"}`), catalog.InvalidInput, "at $.n"},
		{"gives a key twice", with(`{"n":1, "n":2,"\u006e":3}`), "", `{"n":3}`},
		{"rewrites it to no object", with(`[1]`), catalog.InvalidInput, "object"},
		{"rewrites it to nothing", with(``), catalog.InvalidInput, "object"},
		{"writes over the bytes in place", func(_ context.Context, c catalog.Call) (catalog.Call, error) {
			copy(c.Input, `{"n":[}`)
			return c, nil
		}, catalog.InvalidInput, ""},
		{"changes the tool", func(_ context.Context, c catalog.Call) (catalog.Call, error) {
			c.Tool = other
			return c, nil
		}, catalog.Denied, "changed the tool"},
		{"returns no call", func(context.Context, catalog.Call) (catalog.Call, error) { return catalog.Call{}, nil }, catalog.Denied, "changed the tool"},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newBench(t)
			b.cfg.HookTimeout = 50 * time.Millisecond
			b.cfg.Before = []intercept.Before{c.hook}
			r := b.run("s put n=1")
			if c.code == "" {
				require.Zero(t, r.exit, "%+v", r)
				require.Equal(t, []string{"put " + c.says}, b.executed())
				require.Equal(t, c.says, string(b.done()[0].Input))
				return
			}
			e := failed(t, r)
			require.Equal(t, c.code, e.Code)
			require.Contains(t, e.Message, c.says)
			require.Empty(t, b.executed())
			require.Empty(t, b.done())
		})
	}
}

func TestTheGateSeesWhatTheHooksMade(t *testing.T) {
	b := newBench(t)
	b.cfg.Before = []intercept.Before{with(`{"n":2}`), with(`{"n":3}`)}
	failed(t, b.run("s del n=1"))
	require.JSONEq(t, `{"n":3}`, string(b.report().ApprovalRequests[0].Arguments))
	require.JSONEq(t, `{"n":3}`, string(b.report().Tools.Stopped.Call.Input))
	b.answer(0, approvals.Allow)
	b.next()
	require.Zero(t, b.run("s del n=7").exit)
	require.Equal(t, []string{`del {"n":3}`}, b.executed())
}

func TestAHookComesBeforeTheGate(t *testing.T) {
	b := newBench(t)
	b.cfg.Before = []intercept.Before{func(_ context.Context, c catalog.Call) (catalog.Call, error) { return c, errors.New("no") }}
	require.Equal(t, catalog.Denied, failed(t, b.run("s del")).Code)
	require.Nil(t, b.cfg.Report.Stopped())
}

func TestAfter(t *testing.T) {
	redact := func(_ context.Context, _ catalog.Call, out catalog.Output, err error) (catalog.Output, error) {
		if err != nil {
			return out, errors.New(strings.ReplaceAll(err.Error(), "hunter2", "***"))
		}
		out.Parts[0].Text = strings.ReplaceAll(out.Parts[0].Text, "hunter2", "***")
		return out, nil
	}
	same := func(_ context.Context, _ catalog.Call, out catalog.Output, err error) (catalog.Output, error) {
		return out, err
	}
	hang := make(chan struct{})
	defer close(hang)
	secret := returns(catalog.TextOutput("it is hunter2"), nil)
	fails := returns(catalog.Output{}, &catalog.Error{Code: catalog.Unavailable, Message: "hunter2 is wrong", Retryable: true})
	for _, c := range []struct {
		name string
		tool act
		hook intercept.After
		code catalog.Code // "" prints says
		says string
	}{
		{"sees", secret, same, "", "it is hunter2\n"},
		{"sees a failure", fails, same, catalog.Unavailable, "hunter2 is wrong"},
		{"redacts", secret, redact, "", "it is ***\n"},
		{"redacts a failure, which keeps its code", fails, redact, catalog.Unavailable, "*** is wrong"},
		{"makes a success of a failure", fails, func(context.Context, catalog.Call, catalog.Output, error) (catalog.Output, error) {
			return catalog.TextOutput("from the cache"), nil
		}, "", "from the cache\n"},
		{"withholds", secret, func(_ context.Context, _ catalog.Call, out catalog.Output, _ error) (catalog.Output, error) {
			return out, errors.New("too much")
		}, catalog.Denied, "ran, and a hook withheld its result: too much"},
		{"panics", secret, func(context.Context, catalog.Call, catalog.Output, error) (catalog.Output, error) { panic("oops") }, catalog.ToolError, "failed inside: oops"},
		{"does not answer", secret, func(_ context.Context, _ catalog.Call, out catalog.Output, _ error) (catalog.Output, error) {
			<-hang
			return out, nil
		}, catalog.Denied, "did not answer"},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newBench(t)
			b.cfg.HookTimeout = 50 * time.Millisecond
			b.cfg.After = []intercept.After{c.hook, same}
			b.tool("t", `{}`, c.tool)
			r := b.run("s t")
			require.Len(t, b.done(), 1)
			if c.code == "" {
				require.Equal(t, ran{0, c.says, ""}, r)
				require.True(t, b.done()[0].OK)
				require.Equal(t, `"`+strings.TrimSpace(c.says)+`"`, string(b.done()[0].Result))
				return
			}
			e := failed(t, r)
			require.Equal(t, c.code, e.Code)
			require.Contains(t, e.Message, c.says)
			require.False(t, b.done()[0].OK)
			require.Equal(t, e.Message, b.done()[0].Error)
			if strings.Contains(c.name, "redacts") || c.code == catalog.Denied {
				require.NotContains(t, r.stderr+b.done()[0].Error, "hunter2")
			}
		})
	}
}

func TestAfterSeesACallThatEndedWhenTheRunHad(t *testing.T) {
	b := newBench(t)
	running, cancel := context.WithCancel(ctx)
	b.tool("t", `{}`, func(context.Context, json.RawMessage) (catalog.Output, error) {
		cancel()
		return catalog.TextOutput("made it"), nil
	})
	b.cfg.After = []intercept.After{func(ctx context.Context, _ catalog.Call, out catalog.Output, err error) (catalog.Output, error) {
		return out, errors.Join(err, ctx.Err())
	}}
	require.Equal(t, ran{0, "made it\n", ""}, b.runCtx(running, "s t"))
}
