package hosts_test

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tools-in-shell/tis/hosts"
)

var update = flag.Bool("update", false, "write what the changed files are")

// where each host's file is in a home on Linux.
var where = map[string]string{
	"claude-code":    ".claude.json",
	"claude-desktop": ".config/Claude/claude_desktop_config.json",
	"cursor":         ".cursor/mcp.json",
	"vscode":         ".config/Code/User/mcp.json",
	"codex":          ".codex/config.toml",
	"gemini":         ".gemini/settings.json",
}

// home is a person's folder with files in it.
type home struct {
	t   *testing.T
	dir string
	env map[string]string
	o   hosts.Options
}

func newHome(t *testing.T) *home {
	t.Helper()
	h := &home{t: t, dir: t.TempDir()}
	h.env = map[string]string{"HOME": h.dir}
	h.o = hosts.Options{
		Machine: hosts.Machine{OS: "linux", Getenv: func(k string) (string, bool) { v, ok := h.env[k]; return v, ok }},
		Config:  h.path(".config/tis/tis.json"), Command: "/opt/bin/tis",
	}
	return h
}

func (h *home) path(name string) string { return filepath.Join(h.dir, filepath.FromSlash(name)) }
func (h *home) backups() string         { return h.path("state/init") }

func (h *home) write(name, text string) {
	h.t.Helper()
	require.NoError(h.t, os.MkdirAll(filepath.Dir(h.path(name)), 0o755))
	require.NoError(h.t, os.WriteFile(h.path(name), []byte(text), 0o644))
}

func (h *home) read(name string) string {
	h.t.Helper()
	b, err := os.ReadFile(h.path(name))
	require.NoError(h.t, err)
	return string(b)
}

// fill puts the six fixtures in their places.
func (h *home) fill() {
	for host, name := range where {
		before, err := os.ReadFile(filepath.Join("testdata", host+".before"))
		require.NoError(h.t, err)
		h.write(name, string(before))
	}
}

func (h *home) prepare() *hosts.Plan {
	h.t.Helper()
	p, err := hosts.Prepare(h.o)
	require.NoError(h.t, err)
	return p
}

func anything(string) error { return nil }

func (h *home) apply() *hosts.Plan {
	h.t.Helper()
	p := h.prepare()
	require.NoError(h.t, p.Apply(h.backups(), anything))
	return p
}

// all are the files of a home with their modes and texts.
func (h *home) all() map[string]string {
	h.t.Helper()
	out := map[string]string{}
	require.NoError(h.t, filepath.Walk(h.dir, func(path string, fi os.FileInfo, err error) error {
		if err != nil || fi.IsDir() || strings.HasPrefix(path, h.path("state")) {
			return err
		}
		b, err := os.ReadFile(path)
		out[path] = fi.Mode().String() + " " + string(b)
		return err
	}))
	return out
}

func (h *home) undo() []hosts.Undone {
	h.t.Helper()
	done, err := hosts.Undo(h.backups())
	require.NoError(h.t, err)
	return done
}

func change(t *testing.T, p *hosts.Plan, host string) hosts.Change {
	t.Helper()
	for _, c := range p.Hosts {
		if c.Host == host {
			return c
		}
	}
	t.Fatalf("no host %s in the plan", host)
	return hosts.Change{}
}

// golden compares a text with a file of testdata. The home stands in it as HOME.
func (h *home) golden(name, text string) {
	h.t.Helper()
	text = strings.ReplaceAll(text, h.dir, "HOME")
	file := filepath.Join("testdata", name)
	if *update {
		require.NoError(h.t, os.WriteFile(file, []byte(text), 0o644))
	}
	want, err := os.ReadFile(file)
	require.NoError(h.t, err)
	assert.Equal(h.t, string(want), text, name)
}

func TestAllSixHosts(t *testing.T) {
	h := newHome(t)
	h.fill()
	before := h.all()
	p := h.prepare()
	assert.Equal(t, before, h.all(), "a plan changes nothing")
	assert.Len(t, p.Hosts, 6)
	for _, c := range p.Hosts {
		assert.NoError(t, c.Err, c.Host)
	}
	require.NoError(t, p.Apply(h.backups(), anything))
	for host, name := range where {
		h.golden(host+".after", h.read(name))
	}
	h.golden("tis.json.after", h.read(".config/tis/tis.json"))
	fi, err := os.Stat(h.path(".config/tis/tis.json"))
	require.NoError(t, err)
	assert.Equal(t, os.FileMode(0o600), fi.Mode().Perm())

	assert.Equal(t, []hosts.Stay{{Name: "old", Why: "its transport is \"sse\", and tis speaks stdio and streamable HTTP"}}, change(t, p, "claude-code").Stay)
	assert.Equal(t, "2 servers of single projects stay as they are", change(t, p, "claude-code").Note)
	assert.Contains(t, change(t, p, "claude-code").Moved, hosts.Move{From: "My Notes", To: "My-Notes"})
	assert.Contains(t, change(t, p, "cursor").Moved, hosts.Move{From: "github", To: "github-cursor"})
	assert.Contains(t, change(t, p, "codex").Moved, hosts.Move{From: "filesystem", To: "filesystem"})
	whys := ""
	for _, c := range p.Hosts {
		for _, s := range c.Stay {
			whys += c.Host + " " + s.Name + ": " + s.Why + "\n"
		}
	}
	h.golden("stay.txt", whys)

	// Once more changes nothing.
	after := h.all()
	again := h.apply()
	assert.Zero(t, again.Moves())
	assert.Equal(t, after, h.all())
	assert.Contains(t, change(t, again, "gemini").Note, "behind tis already")

	for _, u := range h.undo() {
		assert.Contains(t, []string{"restored", "removed"}, u.What, u.Path)
	}
	assert.Equal(t, before, h.all(), "byte for byte, and the modes")
	_, err = hosts.Undo(h.backups())
	require.ErrorIs(t, err, hosts.ErrNothing)
}

func TestSecretsAreNoPartOfAPlan(t *testing.T) {
	h := newHome(t)
	h.fill()
	shown := ""
	for _, c := range h.prepare().Hosts {
		for _, m := range c.Moved {
			shown += m.From + m.To
		}
		for _, s := range c.Stay {
			shown += s.Name + s.Why
		}
		shown += c.Note + c.Path
	}
	for _, secret := range []string{"ghp_s3cret", "t0ken", "secret\\", "a${b}c", "it's"} {
		assert.NotContains(t, shown, secret)
	}
}

func TestTheFilesOfAPersonOnEverySystem(t *testing.T) {
	const list = `{"mcpServers": {"a": {"command": "a"}}, "servers": {"a": {"command": "a"}}}`
	for system, files := range map[string][]string{
		"linux":   {".claude.json", ".config/Claude/claude_desktop_config.json", ".config/Code/User/mcp.json", ".cursor/mcp.json", ".gemini/settings.json"},
		"darwin":  {".claude.json", "Library/Application Support/Claude/claude_desktop_config.json", "Library/Application Support/Code/User/mcp.json"},
		"windows": {".claude.json", "appdata/Claude/claude_desktop_config.json", "appdata/Code/User/mcp.json"},
	} {
		h := newHome(t)
		h.o.Machine.OS = system
		h.env["USERPROFILE"], h.env["APPDATA"] = h.dir, h.path("appdata")
		for _, name := range files {
			h.write(name, list)
		}
		assert.Equal(t, len(files), h.prepare().Moves(), system)
	}
	h := newHome(t)
	h.env["CLAUDE_CONFIG_DIR"], h.env["CODEX_HOME"], h.env["XDG_CONFIG_HOME"] = h.path("c"), h.path("x"), h.path("cfg")
	h.write("c/.claude.json", list)
	h.write("x/config.toml", "[mcp_servers.a]\ncommand = 'a'\n")
	h.write("cfg/Code/User/mcp.json", list)
	assert.Equal(t, 3, h.prepare().Moves())
}
