package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tools-in-shell/tis/report"
)

// One script over the three reference servers of npm, which CI installs: help,
// a structured result, an image, a failure, a file written and read back, and a
// graph changed and queried, with jq between the calls.
func TestOneScriptOverTheReferenceServers(t *testing.T) {
	bin, err := filepath.Abs("../../testdata/npm/node_modules/.bin")
	require.NoError(t, err)
	if _, err := os.Stat(filepath.Join(bin, "mcp-server-everything")); err != nil {
		require.Empty(t, os.Getenv("TIS_CI"), "CI installs testdata/npm")
		t.Log("testdata/npm is not installed (npm ci); nothing to check")
		return
	}
	dir, work := t.TempDir(), t.TempDir()
	config := filepath.Join(dir, "tis.json")
	write(t, config, map[string]any{
		"mcpServers": map[string]any{
			"everything": map[string]any{"command": filepath.Join(bin, "mcp-server-everything")},
			"fs":         map[string]any{"command": filepath.Join(bin, "mcp-server-filesystem"), "args": []string{work}},
			"memory":     map[string]any{"command": filepath.Join(bin, "mcp-server-memory"), "env": map[string]string{"MEMORY_FILE_PATH": filepath.Join(dir, "memory.jsonl")}},
		},
		"capabilities": []any{map[string]any{"ref": "tool_approval", "config": map[string]any{"mode": "off"}}},
	})
	script := `set -eo pipefail
tools everything get-sum --help | grep -c '^ *tools everything get-sum'
tools everything echo message='héllo "you"'
tools everything get-structured-content location=Chicago | jq -r '.conditions | type'
tools everything get-tiny-image 2>&1 >/dev/null | grep -o 'tool-images/[^ ,]*'
tools fs write-file path="$PWD/notes.txt" content='[1, 2.50]'
tools fs read-text-file path="$PWD/notes.txt" | jq -c 'if type == "object" then .content | fromjson else . end'
tools fs read-text-file path=/etc/passwd || echo refused
for n in ann bob; do
  jq -nc --arg n "$n" '{entities: [{name: $n, entityType: "person", observations: ["knows tis"]}]}' | tools memory create-entities >/dev/null
done
tools memory create-relations '{"relations":[{"from":"ann","to":"bob","relationType":"knows"}]}' >/dev/null
tools memory read-graph | jq -c '[.entities[].name], .relations[0].relationType'
exit 3
`
	exit, stdout, stderr := tis(t, script, "run", "--json", "-c", config, "--dir", work, "-")
	var r report.Result
	require.NoError(t, json.Unmarshal([]byte(stdout), &r), stderr)
	require.Equal(t, 3, exit, "%s\n%s", r.Stdout, r.Stderr) // an error at the end: the report has all that was done
	lines := strings.Split(strings.TrimSpace(r.Stdout), "\n")
	require.Len(t, lines, 9, r.Stdout)
	assert.NotEqual(t, "0", lines[0])
	assert.Equal(t, `Echo: héllo "you"`, lines[1])
	assert.Equal(t, "string", lines[2])
	image, err := os.ReadFile(filepath.Join(work, lines[3]))
	require.NoError(t, err)
	assert.Equal(t, "\x89PNG", string(image[:4]))
	assert.Contains(t, lines[4], "notes.txt")
	assert.Equal(t, []string{"[1,2.50]", "refused", `["ann","bob"]`, `"knows"`}, lines[5:])
	notes, err := os.ReadFile(filepath.Join(work, "notes.txt"))
	require.NoError(t, err)
	assert.Equal(t, "[1, 2.50]", string(notes))
	assert.Equal(t, []string{"tool_error"}, codes(r.Stderr))
	require.NotNil(t, r.Tools)
	var changed []string
	for _, d := range r.Tools.Done {
		changed = append(changed, d.Tool)
	}
	assert.Subset(t, changed, []string{"tools fs write-file", "tools memory create-entities", "tools memory create-relations"})
}
