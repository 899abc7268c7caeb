package mcpsource_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/tools-in-shell/tis/catalog"
	"github.com/tools-in-shell/tis/mcpsource"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m, goleak.IgnoreAnyFunction("net/http.(*persistConn).readLoop"), goleak.IgnoreAnyFunction("net/http.(*persistConn).writeLoop"))
}

func pool(t *testing.T, servers ...mcpsource.ServerConfig) *catalog.Catalog {
	t.Helper()
	p := mcpsource.NewPool(servers, mcpsource.Options{})
	t.Cleanup(func() { require.NoError(t, p.Close()) })
	p.Start(context.Background())
	return catalog.New(p.Sources(), nil, catalog.Options{})
}

func call(t *testing.T, c *catalog.Catalog, args ...string) (catalog.Output, error) {
	t.Helper()
	req, err := c.Resolve(context.Background(), args, nil, nil)
	if err != nil {
		return catalog.Output{}, err
	}
	require.NotNil(t, req.Call)
	return req.Call.Tool.Executor.Execute(context.Background(), req.Call.Input)
}

// scripted starts the hand-written server with tools of the test's own.
func scripted(t *testing.T, spec string) mcpsource.ServerConfig {
	t.Helper()
	dir := t.TempDir()
	file := filepath.Join(dir, "spec.json")
	require.NoError(t, os.WriteFile(file, []byte(`{"x":`+spec+`}`), 0o600))
	return mcpsource.ServerConfig{Name: "x", Command: "node", Args: []string{"../testdata/cases/server.mjs", file, "x", filepath.Join(dir, "log")}, StartTimeout: 20 * time.Second}
}

func TestResultsKeepDigitsAndOrder(t *testing.T) {
	c := pool(t, scripted(t, `{"page":1,"tools":[{"name":"s","inputSchema":{"type":"object"},"act":{"kind":"raw","raw":"{\"content\":[],\"structuredContent\":{\"z\":1.10,\"a\":12345678901234567890}}"}},
		{"name":"e","inputSchema":{"type":"object"}},{"name":"e","inputSchema":{"type":"object"}},{"name":"crash","inputSchema":{"type":"object"},"act":{"kind":"crash"}},
		{"name":"fail","inputSchema":{"type":"object"},"act":{"kind":"error","text":"no"}},{"name":"img","inputSchema":{"type":"object"},"act":{"kind":"image","data":"!!"}},{"name":"rpc","inputSchema":{"type":"object"},"act":{"kind":"rpcerror","text":"bad luck"}}]}`))
	require.Len(t, c.Servers()[0].Tools, 6)
	require.Contains(t, c.Warnings()[0], "more than once")
	out, err := call(t, c, "x", "s")
	require.NoError(t, err)
	require.Equal(t, `{"z":1.10,"a":12345678901234567890}`, string(out.Structured))
	out, err = call(t, c, "x", "e", `{"z":1.10,"a":9007199254740993}`)
	require.NoError(t, err)
	require.Contains(t, out.Parts[0].Text, `{"z":1.1,"a":`) // the server re-encodes; its order is ours
	out, err = call(t, c, "x", "img")
	require.NoError(t, err)
	require.NotEmpty(t, out.Parts[1].BadData)
	var ce *catalog.Error
	_, err = call(t, c, "x", "fail")
	require.True(t, errors.As(err, &ce) && ce.Code == catalog.ToolError && ce.Message == "no" && !ce.Retryable, "%v", err)
	_, err = call(t, c, "x", "rpc")
	require.True(t, errors.As(err, &ce) && ce.Code == catalog.ToolError, "%v", err)
	require.Contains(t, ce.Message, "bad luck")
	_, err = call(t, c, "x", "crash")
	require.True(t, errors.As(err, &ce) && ce.Code == catalog.ToolError && ce.Retryable, "%v", err)
	_, err = call(t, c, "x", "e")
	require.NoError(t, err, "the server is started again")
}

func TestBadServersFailAloneAndSayWhy(t *testing.T) {
	good := scripted(t, `{"tools":[{"name":"e","inputSchema":{"type":"object"}}]}`)
	sh := func(name, script string) mcpsource.ServerConfig {
		return mcpsource.ServerConfig{Name: name, Command: "sh", Args: []string{"-c", script}, Env: map[string]string{"TOKEN": "hush-hush"}, StartTimeout: 2 * time.Second}
	}
	unauthorized := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusUnauthorized) }))
	defer unauthorized.Close()
	c := pool(t, good, mcpsource.ServerConfig{Name: "missing", Command: "/no/such/program"}, sh("dies", "echo bad token $TOKEN >&2; exit 3"), sh("silent", "sleep 60"), sh("garbage", "echo hello; sleep 60"),
		mcpsource.ServerConfig{Name: "signin", URL: unauthorized.URL, StartTimeout: 5 * time.Second}, mcpsource.ServerConfig{Name: "config", Command: "true", Err: "the environment variable X is not set"})
	_, err := call(t, c, "x", "e")
	require.NoError(t, err)
	for name, want := range map[string][2]string{
		"missing": {"unavailable", "/no/such/program"}, "dies": {"unavailable", "bad token ***"}, "silent": {"unavailable", "did not answer in 2s"}, "garbage": {"unavailable", "garbage"},
		"signin": {"connection_required", "sign-in"}, "config": {"unavailable", "variable X"},
	} {
		_, err := call(t, c, name, "anything")
		var ce *catalog.Error
		require.True(t, errors.As(err, &ce), name)
		require.Equal(t, want[0], string(ce.Code), ce.Message)
		require.Contains(t, ce.Message, want[1])
		require.NotContains(t, ce.Message, "hush")
	}
}

func TestStreamableHTTP(t *testing.T) {
	server := mcp.NewServer(&mcp.Implementation{Name: "h"}, nil)
	echo := func(_ context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: string(r.Params.Arguments)}}}, nil
	}
	server.AddTool(&mcp.Tool{Name: "one", InputSchema: json.RawMessage(`{"type":"object"}`)}, echo)
	h := httptest.NewServer(mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return server }, nil))
	defer h.Close()
	p := mcpsource.NewPool([]mcpsource.ServerConfig{{Name: "h", URL: h.URL}}, mcpsource.Options{})
	defer p.Close()
	p.Start(context.Background())
	c := catalog.New(p.Sources(), nil, catalog.Options{})
	out, err := call(t, c, "h", "one", `{"b":1.10,"a":2}`)
	require.NoError(t, err)
	require.Equal(t, `{"b":1.10,"a":2}`, out.Parts[0].Text)
}

func TestLocalCommands(t *testing.T) {
	run := func(script string) (catalog.Output, error) {
		return mcpsource.CommandExecutor([]string{"sh", "-c", script}, []string{"PATH=" + os.Getenv("PATH")}).Execute(context.Background(), json.RawMessage(`{"a":1.10}`))
	}
	out, err := run("cat")
	require.NoError(t, err)
	require.Equal(t, `{"a":1.10}`, string(out.Structured))
	out, err = run("echo text")
	require.NoError(t, err)
	require.Equal(t, "text\n", out.Parts[0].Text)
	_, err = run("echo why >&2; exit 2")
	require.ErrorContains(t, err, "why")
	_, err = run("yes | head -c 20000000")
	require.ErrorContains(t, err, "10 MiB")
}

// The reference servers from npm; CI installs them.
func TestReferenceServers(t *testing.T) {
	bin := func(name string) string { return "../testdata/npm/node_modules/.bin/mcp-server-" + name }
	if _, err := os.Stat(bin("everything")); err != nil {
		require.Empty(t, os.Getenv("TIS_CI"), "CI installs testdata/npm")
		t.Log("testdata/npm is not installed (npm ci); nothing to check")
		return
	}
	dir := t.TempDir()
	c := pool(t, mcpsource.ServerConfig{Name: "everything", Command: bin("everything")}, mcpsource.ServerConfig{Name: "fs", Command: bin("filesystem"), Args: []string{dir}},
		mcpsource.ServerConfig{Name: "memory", Command: bin("memory"), Env: map[string]string{"MEMORY_FILE_PATH": filepath.Join(dir, "memory.json")}})
	for _, s := range c.Servers() {
		require.Nil(t, s.Unavailable, "%v", s.Unavailable)
		require.NotEmpty(t, s.Tools)
	}
	out, err := call(t, c, "everything", "echo", "message=hi")
	require.NoError(t, err)
	require.Equal(t, "Echo: hi", out.Parts[0].Text)
	_, err = call(t, c, "fs", "write-file", "path="+filepath.Join(dir, "f.txt"), "content=kept")
	require.NoError(t, err)
	b, err := os.ReadFile(filepath.Join(dir, "f.txt"))
	require.NoError(t, err)
	require.Equal(t, "kept", string(b))
	_, err = call(t, c, "fs", "read-text-file", "path=/etc/passwd")
	require.Error(t, err)
	_, err = call(t, c, "memory", "create-entities", `{"entities":[{"name":"tis","entityType":"program","observations":["runs"]}]}`)
	require.NoError(t, err)
	out, err = call(t, c, "memory", "read-graph")
	require.NoError(t, err)
	require.Contains(t, string(out.Structured)+out.Parts[0].Text, "tis")
}
