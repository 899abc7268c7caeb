package serve_test

import (
	"context"
	"encoding/json"
	"io"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/tools-in-shell/tis/approvals"
	"github.com/tools-in-shell/tis/approvals/sqlstore"
	"github.com/tools-in-shell/tis/catalog"
	"github.com/tools-in-shell/tis/report"
	"github.com/tools-in-shell/tis/serve"
)

// begin serves Go functions to one client over pipes.
func begin(t *testing.T, o serve.Options, client *mcp.ClientOptions, top ...*catalog.Tool) *mcp.ClientSession {
	t.Helper()
	ignore := goleak.IgnoreCurrent()
	o.Tools = func(context.Context) serve.Tools { return serve.Tools{Top: top, KeepVisible: []string{"direct"}} }
	server, err := serve.New(o)
	require.NoError(t, err)
	fromClient, toServer := io.Pipe()
	fromServer, toClient := io.Pipe()
	done := make(chan error, 1)
	go func() { done <- server.Stdio(context.Background(), fromClient, toClient) }()
	session, err := mcp.NewClient(&mcp.Implementation{Name: "client", Version: "1"}, client).Connect(context.Background(),
		&mcp.IOTransport{Reader: fromServer, Writer: toServer}, &mcp.ClientSessionOptions{ProtocolVersion: "2025-11-25"})
	require.NoError(t, err)
	t.Cleanup(func() {
		session.Close()
		assert.NoError(t, <-done)
		assert.NoError(t, server.Close())
		goleak.VerifyNone(t, ignore)
	})
	return session
}

func store(t *testing.T) approvals.Store {
	t.Helper()
	s, err := sqlstore.Open(t.Context(), "sqlite:"+filepath.Join(t.TempDir(), "approvals.db"))
	require.NoError(t, err)
	t.Cleanup(func() { s.Close() })
	return s
}

func tool(name string, hints catalog.Hints, run func(context.Context) (string, error)) *catalog.Tool {
	return &catalog.Tool{Name: name, Hints: hints, Executor: catalog.ExecutorFunc(func(ctx context.Context, _ json.RawMessage) (catalog.Output, error) {
		text, err := run(ctx)
		return catalog.TextOutput(text), err
	})}
}

type answer struct {
	report.Result
	Note string
}

func bash(t *testing.T, s *mcp.ClientSession, commands string) (a answer) {
	t.Helper()
	res, err := s.CallTool(context.Background(), &mcp.CallToolParams{Name: "bash", Arguments: map[string]any{"commands": commands}})
	if assert.NoError(t, err) {
		b, err := json.Marshal(res.StructuredContent)
		assert.NoError(t, err)
		assert.NoError(t, json.Unmarshal(b, &a))
	}
	return a
}

// An answer that comes when the request's time is over is none.
func TestALateAnswerAllowsNothing(t *testing.T) {
	var made atomic.Int64
	destroys := tool("destroy", catalog.Hints{Destructive: new(true)}, func(context.Context) (string, error) { made.Add(1); return "", nil })
	answered := make(chan struct{})
	client := &mcp.ClientOptions{ElicitationHandler: func(ctx context.Context, _ *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
		defer close(answered)
		<-ctx.Done() // the question is withdrawn
		return &mcp.ElicitResult{Action: "accept", Content: map[string]any{"decision": "allow"}}, nil
	}}
	behind := func() time.Time { return time.Now().Add(-time.Minute + 700*time.Millisecond) }
	s := begin(t, serve.Options{Gate: approvals.NewGate(store(t), approvals.Config{Timeout: time.Minute, Now: behind})}, client, destroys)
	began := time.Now()
	r := bash(t, s, "tools destroy")
	require.Less(t, time.Since(began), 30*time.Second)
	require.True(t, r.Tools.Stopped.BeforeStart)
	require.Contains(t, r.Note, "nobody answered in time")
	<-answered
	require.Zero(t, made.Load())
}

func TestScriptsOfASessionRunOneAtATimeAndDirectCallsBesideThem(t *testing.T) {
	var now, most, direct atomic.Int64
	inside := make(chan struct{}, 100)
	release := make(chan struct{})
	slow := tool("slow", catalog.Hints{ReadOnly: new(true)}, func(context.Context) (string, error) {
		n := now.Add(1)
		defer now.Add(-1)
		for m := most.Load(); n > m && !most.CompareAndSwap(m, n); m = most.Load() {
		}
		inside <- struct{}{}
		<-release
		return "", nil
	})
	s := begin(t, serve.Options{Gate: approvals.NewGate(store(t), approvals.Config{})}, nil, slow,
		tool("direct", catalog.Hints{ReadOnly: new(true)}, func(context.Context) (string, error) { direct.Add(1); return "", nil }))
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() { bash(t, s, "echo x >> order; tools slow") })
	}
	<-inside
	for range 3 {
		res, err := s.CallTool(context.Background(), &mcp.CallToolParams{Name: "direct"})
		require.NoError(t, err)
		require.False(t, res.IsError)
	}
	close(release)
	wg.Wait()
	require.EqualValues(t, 1, most.Load())
	require.EqualValues(t, 3, direct.Load())
	require.Equal(t, "4", strings.TrimSpace(bash(t, s, "n=0; while read -r x; do n=$((n+1)); done < order; echo $n").Stdout))
}

// Two calls that wait for the same answer ask once each at most, and one answer
// lets one of them run.
func TestOneAnswerLetsOneOfTwoScriptsRun(t *testing.T) {
	var made, asked atomic.Int64
	destroys := tool("destroy", catalog.Hints{Destructive: new(true)}, func(context.Context) (string, error) { made.Add(1); return "", nil })
	client := &mcp.ClientOptions{ElicitationHandler: func(ctx context.Context, _ *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
		if asked.Add(1) == 1 {
			return &mcp.ElicitResult{Action: "accept", Content: map[string]any{"decision": "allow"}}, nil
		}
		return &mcp.ElicitResult{Action: "decline"}, nil
	}}
	s := begin(t, serve.Options{Gate: approvals.NewGate(store(t), approvals.Config{})}, client, destroys)
	var wg sync.WaitGroup
	for range 2 {
		wg.Go(func() { bash(t, s, "tools destroy") })
	}
	wg.Wait()
	require.EqualValues(t, 1, made.Load())
	require.LessOrEqual(t, asked.Load(), int64(3))
}

// What fails inside of tis ends the call and nothing else.
func TestAFaultInsideEndsItsCallOnly(t *testing.T) {
	s := begin(t, serve.Options{Gate: approvals.NewGate(store(t), approvals.Config{}), Observer: faulty{}}, nil,
		tool("direct", catalog.Hints{ReadOnly: new(true)}, func(context.Context) (string, error) { return "x", nil }))
	_, err := s.CallTool(context.Background(), &mcp.CallToolParams{Name: "direct"})
	require.ErrorContains(t, err, "failed inside")
	require.Equal(t, "on\n", bash(t, s, "echo on").Stdout)
}

// faulty observes and fails.
type faulty struct{}

func (faulty) Script(ctx context.Context, r serve.Run) (context.Context, func(report.Result, error)) {
	if r.Direct {
		panic("an observer that fails")
	}
	return ctx, func(report.Result, error) {}
}

func (faulty) Call(context.Context, catalog.Call) func(error) { return func(error) {} }
