package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The whole way: a host's servers move behind tis, the host starts what its
// file says then, and everything goes back.
func TestInitAndBack(t *testing.T) {
	tracker, err := trackerProgram()
	require.NoError(t, err)
	p := &place{t: t, dir: t.TempDir()}
	server := map[string]any{"command": tracker, "args": []string{p.file("tracker.db")}, "env": map[string]any{"API_KEY": "k3y-0f-mine"}}
	text, err := json.MarshalIndent(map[string]any{"mcpServers": map[string]any{"tracker": server}, "theme": "dark"}, "", "    ")
	require.NoError(t, err)
	p.write(".gemini/settings.json", string(text))
	p.write(".cursor/mcp.json", "{ not JSON")
	exe, err := os.Executable()
	require.NoError(t, err)

	exit, stdout, stderr := p.run("init", "--command", exe)
	assert.Equal(t, exitFault, exit, "one file cannot be read")
	assert.Contains(t, stdout, "gemini  "+p.file(".gemini/settings.json")+"\n  moves  tracker\n  gets   tis\n")
	assert.Contains(t, stdout, "left alone: it is not JSON: line 1, column 3")
	assert.Contains(t, stdout, "writes "+p.file(".config/tis/tis.json")+": tracker")
	assert.Contains(t, stdout, "nothing was changed")
	assert.Equal(t, string(text), p.readText(".gemini/settings.json"))

	_, more, moreErr := p.run("init", "--command", exe, "--yes")
	assert.Contains(t, more, "done; restart the hosts")
	assert.NotContains(t, stdout+stderr+more+moreErr, "k3y-0f-mine")
	assert.Contains(t, p.readText(".config/tis/tis.json"), "k3y-0f-mine")
	assert.Equal(t, "{ not JSON", p.readText(".cursor/mcp.json"))

	var settings struct {
		Servers map[string]struct {
			Command string
			Args    []string
		} `json:"mcpServers"`
	}
	require.NoError(t, json.Unmarshal([]byte(p.readText(".gemini/settings.json")), &settings))
	require.Len(t, settings.Servers, 1)
	entry := settings.Servers["tis"]
	cmd := exec.Command(entry.Command, entry.Args...)
	cmd.Env, cmd.Dir = p.command().Env, p.dir
	session, err := mcp.NewClient(&mcp.Implementation{Name: "host", Version: "1"}, nil).Connect(t.Context(), &mcp.CommandTransport{Command: cmd}, nil)
	require.NoError(t, err)
	result, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: "bash", Arguments: map[string]any{"commands": "tools tracker --help"}})
	require.NoError(t, err)
	assert.Contains(t, result.Content[0].(*mcp.TextContent).Text, "list-issues")
	require.NoError(t, session.Close())

	exit, stdout, _ = p.run("init", "--undo")
	assert.Equal(t, exitOK, exit)
	assert.Contains(t, stdout, "settings.json: restored")
	assert.Contains(t, stdout, "tis.json: removed")
	assert.Equal(t, string(text), p.readText(".gemini/settings.json"))
	assert.NoFileExists(t, p.file(".config/tis/tis.json"))
	_, stdout, _ = p.run("init", "--undo")
	assert.Equal(t, "nothing to undo\n", stdout)
}

func TestInitOfAProject(t *testing.T) {
	p := &place{t: t, dir: t.TempDir()}
	p.write(".mcp.json", `{"mcpServers": {"a": {"command": "a"}}}`)
	p.write(".claude.json", `{"mcpServers": {"mine": {"command": "mine"}}}`)
	exit, stdout, stderr := p.run("init", "--project", "--yes", "--host", "claude-code")
	require.Equal(t, exitOK, exit, stderr)
	assert.Contains(t, stdout, "moves  a")
	assert.Contains(t, p.readText(".mcp.json"), `"command":"tis","args":["serve","-c","tis.json"]`)
	assert.Contains(t, p.readText("tis.json"), `"command": "a"`)
	assert.NotContains(t, p.readText(".claude.json"), "serve")
}

func TestInitSaysWhatIsWrong(t *testing.T) {
	p := &place{t: t, dir: t.TempDir()}
	exit, stdout, _ := p.run("init", "--command", "tis")
	assert.Equal(t, exitOK, exit)
	assert.Contains(t, stdout, "no host configuration was found on this machine")
	exit, _, stderr := p.run("init", "--host", "emacs")
	assert.Equal(t, exitUsage, exit)
	assert.Contains(t, stderr, "--host emacs: want claude-code")
	exit, _, stderr = p.run("init")
	assert.Equal(t, exitUsage, exit)
	assert.Contains(t, stderr, "built by go run")

	// A config that tis could not read is not written.
	p.write(".claude.json", `{"mcpServers": {"a": {"command": "a"}}}`)
	p.write("own.json", `{"limits": {"cals": 1}}`)
	exit, _, stderr = p.run("init", "--command", "tis", "--yes", "-c", "own.json")
	assert.Equal(t, exitFault, exit)
	assert.Contains(t, stderr, "$.limits.cals: unknown key (did you mean calls?); nothing was changed")
	assert.Equal(t, `{"limits": {"cals": 1}}`, p.readText("own.json"))
	assert.NotContains(t, p.readText(".claude.json"), "serve")
}

func (p *place) readText(name string) string {
	p.t.Helper()
	b, err := os.ReadFile(p.file(name))
	require.NoError(p.t, err)
	return string(b)
}
