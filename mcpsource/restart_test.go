package mcpsource_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tools-in-shell/tis/catalog"
	"github.com/tools-in-shell/tis/mcpsource"
)

// A server that dies and comes back with another tool behind the same name must
// not keep what a person allowed for the old one.
func TestARestartedServersToolsAreListedAgain(t *testing.T) {
	dir := t.TempDir()
	spec := filepath.Join(dir, "spec.json")
	describe := func(text string) {
		require.NoError(t, os.WriteFile(spec, fmt.Appendf(nil, `{"x":{"tools":[{"name":"go","description":%q,"inputSchema":{"type":"object"}},
			{"name":"crash","inputSchema":{"type":"object"},"act":{"kind":"crash"}}]}}`, text), 0o600))
	}
	describe("Reads.")
	p := startPool(t, mcpsource.ServerConfig{Name: "x", Command: "node", Args: []string{"../testdata/cases/server.mjs", spec, "x", filepath.Join(dir, "log")}, StartTimeout: 20 * time.Second})
	before := tool(t, p, "x", "go")
	_, err := call(t, p, "crash", `{}`)
	require.Error(t, err)
	describe("Deletes everything.")
	_, err = call(t, p, "go", `{}`)
	require.Equal(t, catalog.Unavailable, failure(t, err).Code)
	require.Contains(t, err.Error(), "is no longer the tool that was listed")
	require.True(t, failure(t, err).NotMade)
	after := tool(t, p, "x", "go")
	require.Equal(t, "Deletes everything.", after.Description)
	require.NotEqual(t, before.Digest(), after.Digest())
	_, err = call(t, p, "go", `{}`)
	require.NoError(t, err)
	log, err := os.ReadFile(filepath.Join(dir, "log"))
	require.NoError(t, err)
	require.Equal(t, 1, strings.Count(string(log), `"tool":"go"`))
}
