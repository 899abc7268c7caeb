//lint:file-ignore SA1019 Roots and log messages end with a later protocol version; the clients of today have them.

package main

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"
)

// growing is an MCP server that gets another tool when it is called.
func growing() {
	s := mcp.NewServer(&mcp.Implementation{Name: "growing", Version: "1"}, nil)
	noop := func(context.Context, *mcp.CallToolRequest, struct{}) (*mcp.CallToolResult, any, error) {
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: "ok"}}}, nil, nil
	}
	mcp.AddTool(s, &mcp.Tool{Name: "grow"}, func(ctx context.Context, r *mcp.CallToolRequest, in struct{}) (*mcp.CallToolResult, any, error) {
		mcp.AddTool(s, &mcp.Tool{Name: "grown", Description: "Is new here."}, noop)
		return noop(ctx, r, in)
	})
	mcp.AddTool(s, &mcp.Tool{Name: "sleep"}, func(ctx context.Context, r *mcp.CallToolRequest, in struct{}) (*mcp.CallToolResult, any, error) {
		<-ctx.Done()
		return noop(ctx, r, in)
	})
	s.Run(context.Background(), &mcp.StdioTransport{})
}

const asServer = "TIS_TEST_AS_SERVER"

// grows adds the growing server.
func (p *place) grows(load string) {
	exe, err := os.Executable()
	require.NoError(p.t, err)
	p.servers["growing"] = map[string]any{"command": exe, "env": map[string]any{asServer: "growing"}, "load": load}
}

func description(t *testing.T, h *host) string {
	t.Helper()
	list, err := h.session.ListTools(context.Background(), nil)
	require.NoError(t, err)
	for _, tool := range list.Tools {
		if tool.Name == "bash" {
			return tool.Description
		}
	}
	t.Fatal("there is no bash")
	return ""
}

func TestServeTellsTheClientWhenToolsComeAndGo(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.grows("start")
	p.keep("growing grown")
	h := p.connect("2025-11-25", nil)
	require.Contains(t, description(t, h), "growing (2)")
	h.bash("tools growing grow")
	select {
	case <-h.changes:
	case <-time.After(20 * time.Second):
		t.Fatal("the client was not told")
	}
	require.Contains(t, description(t, h), "growing (3)")
	list, err := h.session.ListTools(context.Background(), nil)
	require.NoError(t, err)
	require.Len(t, list.Tools, 2, "a direct tool that has come")
	require.Equal(t, "mcp_growing__grown", list.Tools[1].Name)
	require.Equal(t, "ok\n", h.bash("tools growing grown").Stdout)
}

func TestServeAnOnDemandServerIsLoadedByTheFirstCall(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.grows("on_demand")
	h := p.connect("2025-11-25", nil)
	require.Contains(t, description(t, h), "growing (not loaded)")
	require.Equal(t, "ok\n", h.bash("tools growing grow").Stdout)
	<-h.changes // it is loaded; the tool that it grew is told of by then, or later
	require.Regexp(t, `growing \([23]\)`, description(t, h))
}

func TestServeTellsProgress(t *testing.T) {
	eachProtocol(t, func(t *testing.T, version string) {
		p := newPlace(t)
		h := p.connect(version, nil)
		params := &mcp.CallToolParams{Name: "bash", Arguments: map[string]any{"commands": "for n in 2 3 5; do tools tracker get-issue number=$n; done >/dev/null; tools tracker list-branches >/dev/null"}}
		params.SetProgressToken("p1")
		_, err := h.session.CallTool(context.Background(), params)
		require.NoError(t, err)
		require.Eventually(t, func() bool { h.mu.Lock(); defer h.mu.Unlock(); return len(h.progress) == 4 }, 10*time.Second, 10*time.Millisecond)
		for i, p := range h.progress {
			require.Equal(t, "p1", p.ProgressToken)
			require.Equal(t, float64(i+1), p.Progress)
		}
		require.Equal(t, "call 3: tools tracker get-issue", h.progress[2].Message)
		require.Equal(t, "call 4: tools tracker list-branches", h.progress[3].Message)
	})
}

// A cancelled call ends its script with everything in it, and what it had done
// is told with the next result.
func TestServeCancellationEndsTheScriptAndLosesNoReport(t *testing.T) {
	eachProtocol(t, func(t *testing.T, version string) {
		p := newPlace(t)
		p.grows("start")
		h := p.connect(version, nil)
		ctx, cancel := context.WithCancel(context.Background())
		go func() {
			for len(p.query("SELECT body FROM comments WHERE body = 'begun'")) == 0 {
				time.Sleep(20 * time.Millisecond)
			}
			cancel()
		}()
		began := time.Now()
		_, err := h.try(ctx, "tools tracker create-comment number=2 body=begun; tools growing sleep; tools tracker create-comment number=2 body=after")
		require.ErrorIs(t, err, context.Canceled)
		r := h.bash("echo next")
		require.Less(t, time.Since(began), 50*time.Second, "it waits for no time-out")
		require.Equal(t, "next\n", r.Stdout)
		require.Len(t, r.Earlier, 1, r.text)
		require.Contains(t, r.Earlier[0].Commands, "body=begun")
		require.Equal(t, "cancelled", string(r.Earlier[0].Tools.Stopped.Reason))
		require.Contains(t, jsonOf(t, r.Earlier[0].Tools.Done), "begun")
		require.Empty(t, p.query("SELECT body FROM comments WHERE body = 'after'"))
		require.Empty(t, h.bash("echo once").Earlier)
	})
}

func TestServeChecksTheInputOfBash(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.config["limits"] = map[string]any{"timeout_seconds": 30}
	h := p.connect("2025-11-25", nil)
	for _, args := range []string{`{}`, `{"commands":1}`, `{"commands":"x","timeout_seconds":0}`, `{"commands":"x","timeout_seconds":31}`, `{"commands":"x","cwd":"/"}`} {
		res, err := h.session.CallTool(context.Background(), &mcp.CallToolParams{Name: "bash", Arguments: json.RawMessage(args)})
		require.NoError(t, err)
		require.True(t, res.IsError, args)
		require.Contains(t, res.Content[0].(*mcp.TextContent).Text, "invalid_input", args)
	}
	res, err := h.session.CallTool(context.Background(), &mcp.CallToolParams{Name: "bash", Arguments: json.RawMessage(`{"commands":"while true; do :; done","timeout_seconds":1}`)})
	require.NoError(t, err)
	r, err := readRan(res)
	require.NoError(t, err)
	require.Equal(t, 124, r.ExitCode)
	require.Equal(t, "time_limit", string(r.Tools.Stopped.Reason))
}

func TestServeTheWorkingDirectoryIsBoundedAndGoesWithTheSession(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.args = []string{"--max-dir", "2000000"}
	h := p.connect("2025-11-25", nil)
	require.True(t, h.bash("echo small > a").Success)
	require.NotEmpty(t, left(p))
	r := h.bash("head -c 8000000 /dev/zero > big; while true; do :; done")
	require.NotNil(t, r.Tools, r.text)
	require.Equal(t, "resource_limit", string(r.Tools.Stopped.Reason))
	require.Equal(t, "files", r.Tools.Stopped.Limit)
	require.Contains(t, r.Stderr, "working directory")
	require.True(t, h.bash("rm big").Success, "a full folder can be cleared")
	require.Equal(t, "a\n", h.bash("ls").Stdout)
	h.bash("mkdir -p deep/er && touch deep/er/x && chmod 500 deep/er deep")
	require.NoError(t, h.session.Close())
	require.Empty(t, left(p))
}

// left are the sessions' and runs' folders that there are.
func left(p *place) []string {
	found, err := filepath.Glob(filepath.Join(p.file("tmp"), "*tis-*"))
	require.NoError(p.t, err)
	return found
}

func TestServeAClientThatHangsUpLeavesNothingBehind(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	w := p.wire()
	w.send(`{"jsonrpc":"2.0","id":"i","method":"initialize","params":{"protocolVersion":"2025-11-25","clientInfo":{"name":"hand","version":"1"},"capabilities":{}}}`)
	w.next()
	w.send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	w.send(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"bash","arguments":{"commands":"tools tracker create-comment number=2 body=begun; sleep 100; tools tracker create-comment number=2 body=after"}}}`)
	require.Eventually(t, func() bool { return len(p.query("SELECT body FROM comments WHERE body = 'begun'")) == 1 }, 20*time.Second, 50*time.Millisecond)
	began := time.Now()
	require.NotEmpty(t, left(p))
	require.NoError(t, w.stdin.Close())
	require.NoError(t, w.cmd.Wait(), "tis ends when its client does")
	require.Less(t, time.Since(began), 30*time.Second)
	require.Empty(t, left(p))
	require.Empty(t, p.query("SELECT body FROM comments WHERE body = 'after'"))
}

func TestServeASignalEndsWhatRuns(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	w := p.wire()
	w.send(`{"jsonrpc":"2.0","id":"i","method":"initialize","params":{"protocolVersion":"2025-11-25","clientInfo":{"name":"hand","version":"1"},"capabilities":{}}}`)
	w.next()
	w.send(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"bash","arguments":{"commands":"tools tracker create-comment number=2 body=begun; sleep 100"}}}`)
	require.Eventually(t, func() bool { return len(p.query("SELECT body FROM comments WHERE body = 'begun'")) == 1 }, 20*time.Second, 50*time.Millisecond)
	began := time.Now()
	require.NoError(t, w.cmd.Process.Signal(syscall.SIGTERM))
	require.NoError(t, w.cmd.Wait())
	require.Less(t, time.Since(began), 30*time.Second)
	require.Empty(t, left(p))
}

func TestServeLogsToTheClientThatWantsIt(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	h := p.connect("2025-11-25", decides("allow"))
	h.bash("tools tracker list-branches")
	require.NoError(t, h.session.SetLoggingLevel(context.Background(), &mcp.SetLoggingLevelParams{Level: "info"}))
	h.bash(deleteTypo)
	want := []string{
		"the script was held before its start (needs_approval); tool calls: 0",
		`a person answered allow: tools tracker delete-branch {"branch":"fix-typo"}`,
		"the script ended with exit code 0; tool calls: 1",
	}
	require.Eventually(t, func() bool { h.mu.Lock(); defer h.mu.Unlock(); return len(h.logged) == len(want) }, 10*time.Second, 10*time.Millisecond)
	require.Equal(t, want, h.logged)
}

func TestServeSessionsOverStdioHaveAnswersOfTheirOwn(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	a, b := p.connect("2025-11-25", decides("allow_always")), p.connect("2025-11-25", nil)
	require.True(t, a.bash(deleteTypo).Success)
	require.False(t, b.bash("tools tracker delete-branch branch=pg-driver").Success)
	require.Contains(t, p.branches(), "pg-driver")
	p.args = []string{"--session", "mine"}
	require.True(t, p.connect("2025-11-25", decides("allow_always")).bash("tools tracker delete-branch branch=pg-driver").Success)
	r := p.connect("2025-11-25", nil).bash("tools tracker delete-branch branch=dark-mode")
	require.True(t, r.Success, "a named session outlives its client: %s", r.text)
}

func TestServeWorksInsideTheClientsRoots(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	root, other := filepath.Join(p.dir, "root"), filepath.Join(p.dir, "other")
	require.NoError(t, os.Mkdir(root, 0o755))
	require.NoError(t, os.Mkdir(other, 0o755))
	connect := func(roots bool, args ...string) *host {
		p.args = args
		h := &host{t: t, changes: make(chan struct{}, 100)}
		client := mcp.NewClient(&mcp.Implementation{Name: "test host", Version: "1"}, &mcp.ClientOptions{})
		if roots {
			client.AddRoots(&mcp.Root{URI: "file://" + root})
		}
		var err error
		h.session, err = client.Connect(context.Background(), &mcp.CommandTransport{Command: p.serve(), TerminateDuration: 20 * time.Second}, &mcp.ClientSessionOptions{ProtocolVersion: "2025-11-25"})
		require.NoError(t, err)
		t.Cleanup(func() { h.session.Close() })
		return h
	}
	dir := func(h *host) string { return strings.TrimSpace(h.bash("pwd").Stdout) }
	h := connect(true, "--in-roots")
	require.Equal(t, root, filepath.Dir(dir(h)))
	h.session.Close()
	entries, err := os.ReadDir(root)
	require.NoError(t, err)
	require.Empty(t, entries)
	require.Equal(t, p.file("tmp"), filepath.Dir(dir(connect(false, "--in-roots"))))
	require.Equal(t, root, filepath.Dir(dir(connect(true, "--dir", root))))
	require.Equal(t, p.file("tmp"), filepath.Dir(dir(connect(true, "--dir", other))), "never beyond the roots")
	require.Equal(t, p.file("tmp"), filepath.Dir(dir(connect(true))))
}
