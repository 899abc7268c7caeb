package mcpsource_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/tools-in-shell/tis/catalog"
	"github.com/tools-in-shell/tis/mcpsource"
)

// The test binary is the servers' program, too: this variable names the server
// that it is to be.
const serverVar = "TIS_TEST_MCP_SERVER"

func TestMain(m *testing.M) {
	switch kind := os.Getenv(serverVar); kind {
	case "":
		goleak.VerifyTestMain(m)
	case "sdk":
		serveSDK()
	case "library":
		serveLibrary()
	default:
		serveByHand(kind)
	}
}

// program is a server that is this test binary. vars are pairs of name and value.
func program(t *testing.T, kind string, vars ...string) mcpsource.ServerConfig {
	t.Helper()
	exe, err := os.Executable()
	require.NoError(t, err)
	env := map[string]string{serverVar: kind, "TEST_LOG": filepath.Join(t.TempDir(), "log"), "GORACE": "atexit_sleep_ms=0"}
	for i := 0; i < len(vars); i += 2 {
		env[vars[i]] = vars[i+1]
	}
	return mcpsource.ServerConfig{Name: "x", Command: exe, Env: env, StartTimeout: 20 * time.Second}
}

// received is what the server of a config was sent, one message a line.
func received(t *testing.T, cfg mcpsource.ServerConfig) string {
	t.Helper()
	b, err := os.ReadFile(cfg.Env["TEST_LOG"])
	require.NoError(t, err)
	return string(b)
}

// asked counts the requests of a method that a server got.
func asked(t *testing.T, cfg mcpsource.ServerConfig, method string) int {
	t.Helper()
	return strings.Count(received(t, cfg), `"method":"`+method+`"`)
}

func newPool(t *testing.T, servers ...mcpsource.ServerConfig) *mcpsource.Pool {
	t.Helper()
	p := mcpsource.NewPool(servers, mcpsource.Options{Version: "test"})
	t.Cleanup(func() { require.NoError(t, p.Close()) })
	return p
}

func startPool(t *testing.T, servers ...mcpsource.ServerConfig) *mcpsource.Pool {
	t.Helper()
	p := newPool(t, servers...)
	p.Start(t.Context())
	return p
}

func source(t *testing.T, p *mcpsource.Pool, name string) catalog.Source {
	t.Helper()
	for _, src := range p.Sources() {
		if src.Name == name {
			return src
		}
	}
	t.Fatalf("there is no source %s", name)
	return catalog.Source{}
}

func names(src catalog.Source) []string {
	out := []string{}
	for _, t := range src.Tools {
		out = append(out, t.Name)
	}
	return out
}

func tool(t *testing.T, p *mcpsource.Pool, server, name string) *catalog.Tool {
	t.Helper()
	src := source(t, p, server)
	require.Nil(t, src.Unavailable, "%v", src.Unavailable)
	for _, tl := range src.Tools {
		if tl.Name == name {
			return tl
		}
	}
	t.Fatalf("server %s has no tool %s but %v", server, name, names(src))
	return nil
}

func call(t *testing.T, p *mcpsource.Pool, name, input string) (catalog.Output, error) {
	t.Helper()
	return callIn(t.Context(), t, p, name, input)
}

func callIn(ctx context.Context, t *testing.T, p *mcpsource.Pool, name, input string) (catalog.Output, error) {
	t.Helper()
	return tool(t, p, "x", name).Executor.Execute(ctx, json.RawMessage(input))
}

// failure is the error of a call, which must be one of the envelope's.
func failure(t *testing.T, err error) catalog.Error {
	t.Helper()
	var ce *catalog.Error
	require.ErrorAs(t, err, &ce)
	return *ce
}

// quickly requires that something takes less than a limit.
func quickly(t *testing.T, limit time.Duration, do func()) {
	t.Helper()
	start := time.Now()
	do()
	require.Less(t, time.Since(start), limit)
}
