package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestWhy(t *testing.T) {
	dir := t.TempDir()
	config := filepath.Join(dir, "tis.json")
	require.NoError(t, os.WriteFile(config, []byte(`{
		"tools": [
			{"name":"web_fetch","annotations":{"readOnlyHint":true},"command":["false"]},
			{"name":"drop","description":"Drop it.","inputSchema":{"type":"object","properties":{"table":{"type":"string"}},"additionalProperties":false},"annotations":{"destructiveHint":true},"command":["false"]}],
		"rules": [{"tool":"drop","when":".table == \"tmp\"","decision":"allow"},{"tool":"drop","when":".table == \"users\"","decision":"deny","message":"never that one"}]}`), 0o600))
	store := "sqlite:" + filepath.Join(dir, "a.db")
	why := func(args ...string) (exit int, stdout, stderr string) {
		return tis(t, "", append([]string{"approvals", "why", "-c", config, "--store", store}, args...)...)
	}
	exit, stdout, stderr := why("tools drop", `{"table":"x"}`)
	require.Zero(t, exit, stderr)
	require.Equal(t, `tools drop {"table":"x"}
  outcome     a person is asked
  because     it declares that it is destructive
  mode        normal
  rule        none matches
  hints       destructive true
  answers     none in session default
`, stdout)
	_, stdout, _ = why("drop", "table=users")
	require.Contains(t, stdout, "  outcome     it is denied\n  because     rule 1 (drop): never that one\n")
	require.Contains(t, stdout, "  rule        drop when .table == \"users\": deny\n")
	_, stdout, _ = why("tools drop", "--table", "tmp")
	require.Contains(t, stdout, "  outcome     it runs, nobody is asked\n  because     rule 0 (drop)\n")
	_, stdout, _ = why("web_fetch")
	require.Contains(t, stdout, "  because     mode normal\n")

	// After an answer it decides, and what else would is named.
	_, stdout, _ = tis(t, "tools drop table=x", "run", "-c", config, "--store", store, "--dir", t.TempDir(), "--json", "-")
	var held struct {
		Requests []struct{ ID string } `json:"approval_requests"`
	}
	require.NoError(t, json.Unmarshal([]byte(stdout), &held))
	_, stdout, _ = why("drop", "table=x")
	require.Contains(t, stdout, "  waits       request "+held.Requests[0].ID+", until ")
	exit, _, stderr = tis(t, "", "approvals", "answer", "-c", config, "--store", store, held.Requests[0].ID, "allow")
	require.Zero(t, exit, stderr)
	_, stdout, _ = why("drop", "table=x")
	require.Contains(t, stdout, "  because     a person answered allow\n  else        ask, because: it declares that it is destructive\n")
	require.Contains(t, stdout, "  answers     an unused allow in session default\n")

	exit, stdout, stderr = why("--json", "drop", "table=x")
	require.Zero(t, exit, stderr)
	var e map[string]any
	require.NoError(t, json.Unmarshal([]byte(stdout), &e))
	require.Equal(t, "run", e["outcome"])

	for _, c := range []struct {
		args []string
		says string
	}{
		{[]string{"tools dropp"}, "did you mean drop?"},
		{[]string{"drop", "size=1"}, "nobody is asked about this call, it fails first"},
		{[]string{"tools search drop"}, "this is no call of a tool"},
		{[]string{"tools"}, "this is no call of a tool"},
	} {
		exit, stdout, stderr := why(c.args...)
		require.Equal(t, 2, exit)
		require.Empty(t, stdout)
		require.Contains(t, stderr, c.says)
	}
}
