package mcpsource_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tools-in-shell/tis/catalog"
	"github.com/tools-in-shell/tis/mcpsource"
)

// A server in another language, without a library.
func TestANodeServer(t *testing.T) {
	dir := t.TempDir()
	spec := filepath.Join(dir, "spec.json")
	require.NoError(t, os.WriteFile(spec, []byte(`{"x":{"page":2,"tools":[
		{"name":"echo","inputSchema":{"type":"object"}},
		{"name":"crash","inputSchema":{"type":"object"},"act":{"kind":"crash"}},
		{"name":"raw","inputSchema":{"type":"object"},"act":{"kind":"raw","raw":"{\"content\":[],\"structuredContent\":{\"z\":1.10}}"}}]}}`), 0o600))
	p := startPool(t, mcpsource.ServerConfig{Name: "x", Command: "node", Args: []string{"../testdata/cases/server.mjs", spec, "x", filepath.Join(dir, "log")}})
	out, err := call(t, p, "raw", `{}`)
	require.NoError(t, err)
	assert.Equal(t, `{"z":1.10}`, string(out.Structured))
	_, err = call(t, p, "crash", `{}`)
	ce := failure(t, err)
	assert.Equal(t, catalog.ToolError, ce.Code)
	assert.True(t, ce.Retryable)
	_, err = call(t, p, "echo", `{"a":1.10}`)
	require.NoError(t, err)
	b, err := os.ReadFile(filepath.Join(dir, "log"))
	require.NoError(t, err)
	assert.Contains(t, string(b), `\"arguments\":{\"a\":1.10}`)
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
	p := newPool(t, mcpsource.ServerConfig{Name: "everything", Command: bin("everything")}, mcpsource.ServerConfig{Name: "fs", Command: bin("filesystem"), Args: []string{dir}},
		mcpsource.ServerConfig{Name: "memory", Command: bin("memory"), Env: map[string]string{"MEMORY_FILE_PATH": filepath.Join(dir, "memory.json")}})
	p.Start(t.Context())
	run := func(server, name, input string) (catalog.Output, error) {
		return tool(t, p, server, name).Executor.Execute(t.Context(), []byte(input))
	}
	out, err := run("everything", "echo", `{"message":"hi"}`)
	require.NoError(t, err)
	assert.Equal(t, "Echo: hi", out.Parts[0].Text)
	out, err = run("everything", "get-tiny-image", `{}`)
	require.NoError(t, err)
	assert.Contains(t, partTypes(out), "image")
	_, err = run("fs", "write_file", `{"path":"`+filepath.Join(dir, "f.txt")+`","content":"kept"}`)
	require.NoError(t, err)
	b, err := os.ReadFile(filepath.Join(dir, "f.txt"))
	require.NoError(t, err)
	assert.Equal(t, "kept", string(b))
	_, err = run("fs", "read_text_file", `{"path":"/etc/passwd"}`)
	assert.Equal(t, catalog.ToolError, failure(t, err).Code)
	_, err = run("memory", "create_entities", `{"entities":[{"name":"tis","entityType":"program","observations":["runs"]}]}`)
	require.NoError(t, err)
	out, err = run("memory", "read_graph", `{}`)
	require.NoError(t, err)
	assert.Contains(t, string(out.Structured)+out.Parts[0].Text, "tis")
	quickly(t, 5*time.Second, func() { require.NoError(t, p.Close()) })
}

func partTypes(out catalog.Output) []string {
	var types []string
	for _, p := range out.Parts {
		types = append(types, p.Type)
	}
	return types
}
