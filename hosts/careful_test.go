package hosts_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pelletier/go-toml/v2"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tools-in-shell/tis/hosts"
)

const one = `{"mcpServers": {"a": {"command": "a"}}}`

func TestFilesThatDoNotParseAreLeftAlone(t *testing.T) {
	for _, c := range []struct{ file, text, want string }{
		{".cursor/mcp.json", "{\n  \"mcpServers\": {\n    \"a\" {}\n}}", "it is not JSON: line 3, column 9"},
		{".cursor/mcp.json", `[]`, "it is no JSON object"},
		{".cursor/mcp.json", `{"mcpServers": []}`, "its mcpServers is no object"},
		{".cursor/mcp.json", `{"mcpServers": {"a": 1}}`, `its server "a": it is no object`},
		{".cursor/mcp.json", `{"mcpServers": {"a": {"command": "a"}, "a": {"command": "b"}}}`, `its mcpServers has "a" twice`},
		{".cursor/mcp.json", `{"mcpServers": {}, "mcpServers": {}}`, "it has the key mcpServers twice"},
		{".cursor/mcp.json", `{"mcpServers": {"tis": {"command": "else"}, "a": {"command": "a"}}}`, `its server "tis" is something else than tis serve`},
		{".codex/config.toml", "[mcp_servers.a\ncommand = 1", "it is not TOML"},
		{".codex/config.toml", "[mcp_servers.a]\ncommand = 'a'\n[mcp_servers.a]\ncommand = 'a'", "it is not TOML"},
		{".codex/config.toml", "mcp_servers = 1", "its mcp_servers is no table"},
	} {
		h := newHome(t)
		h.write(c.file, c.text)
		h.write(".gemini/settings.json", one)
		p := h.apply()
		host := "cursor"
		if strings.HasSuffix(c.file, "toml") {
			host = "codex"
		}
		require.ErrorContains(t, change(t, p, host).Err, c.want)
		assert.Equal(t, c.text, h.read(c.file))
		assert.Equal(t, 1, p.Moves(), "the other host's servers are moved")
	}
}

func TestNothingToMove(t *testing.T) {
	for _, text := range []string{``, ` `, `{}`, `{"mcpServers": {}}`, `{"x": 1} // y`} {
		h := newHome(t)
		h.write(".cursor/mcp.json", text)
		p := h.apply()
		require.NoError(t, change(t, p, "cursor").Err, text)
		assert.Zero(t, p.Moves())
		assert.Equal(t, text, h.read(".cursor/mcp.json"))
		assert.NoFileExists(t, h.o.Config)
	}
}

// Lists in every layout, as they are before and after.
func TestLayouts(t *testing.T) {
	const tis = `"tis": {"command":"/opt/bin/tis","args":["serve","-c","CONFIG"]}`
	for before, after := range map[string]string{
		one:            `{"mcpServers": {` + tis + `}}`,
		"\ufeff" + one: "\ufeff" + `{"mcpServers": {` + tis + `}}`,
		`{"mcpServers":{"a":{"command":"a"},"k":{"command":"k","x":1}}}`:                                                                          `{"mcpServers":{` + tis + `,"k":{"command":"k","x":1}}}`,
		`{"mcpServers":{"k":{"command":"k","x":1}, "a":{"command":"a"},}}`:                                                                        `{"mcpServers":{"k":{"command":"k","x":1}, ` + tis + `,}}`,
		`{"mcpServers":{ /*1*/ "a" /*2*/ :{"command":"a"} /*3*/ , /*4*/ "b":{"command":"b"} /*5*/ }}`:                                             `{"mcpServers":{ /*1*/ ` + tis + ` /*3*/  /*4*/` + "\n" + ` /*5*/ }}`,
		"{\"mcpServers\":{\"a\":{\"command\":\"a\"}, // one\n \"b\":{\"command\":\"b\"}, // two\n \"k\":{\"command\":\"k\",\"x\":1} // three\n}}": "{\"mcpServers\":{" + tis + ", // one\n // two\n \"k\":{\"command\":\"k\",\"x\":1} // three\n}}",
	} {
		h := newHome(t)
		h.write(".cursor/mcp.json", before)
		p := h.apply()
		require.NoError(t, change(t, p, "cursor").Err, before)
		assert.Equal(t, after, strings.ReplaceAll(h.read(".cursor/mcp.json"), h.o.Config, "CONFIG"))
		h.undo()
		assert.Equal(t, before, h.read(".cursor/mcp.json"))
	}
}

func TestTablesOfEveryForm(t *testing.T) {
	h := newHome(t)
	text := "mcp_servers.dotted.command = 'd'\n[mcp_servers]\ninline = {command = 'i'}\nhalf.command = 'h'\n" +
		"[mcp_servers.half.env]\nA = 'b'\n[mcp_servers.tools]\ncommand = 't'\n[[mcp_servers.tools.rules]]\nx = 1\n[other]\ny = '''\n[mcp_servers.fake]\n'''\n" +
		"[mcp_servers.good]\ncommand = 'g'\nargs = ['''\n[mcp_servers.x]\n''']"
	text = strings.ReplaceAll(text, "mcp_servers.dotted.command = 'd'\n[mcp_servers]", "[mcp_servers]")
	h.write(".codex/config.toml", text)
	p := h.apply()
	c := change(t, p, "codex")
	require.NoError(t, c.Err)
	assert.Equal(t, []hosts.Move{{From: "good", To: "good"}}, c.Moved)
	assert.Equal(t, text[:strings.Index(text, "[mcp_servers.good]")]+"[mcp_servers.tis]\ncommand = '/opt/bin/tis'\nargs = ['serve', '-c', '"+h.o.Config+"']\n", h.read(".codex/config.toml"))
	h.undo()
	assert.Equal(t, text, h.read(".codex/config.toml"))
}

func TestNamesThatAreTaken(t *testing.T) {
	h := newHome(t)
	h.write(".config/tis/tis.json", `{
 "mcpServers": {
  "a": {"command": "mine"}
 },
 "limits": {"calls": 9}
}
`)
	h.write(".cursor/mcp.json", `{"mcpServers": {"A": {"command": "x"}, "b c": {"command": "b"}, "b-c": {"command": "b2"}, "***": {"command": "s"}}}`)
	h.write(".gemini/settings.json", `{"mcpServers": {"A": {"command": "y"}, "a_cursor": {"command": "z"}, "b-c": {"command": "b"}}}`)
	p := h.apply()
	assert.Equal(t, []hosts.Move{{"A", "A-cursor"}, {"b c", "b-c"}, {"b-c", "b-c-cursor"}, {"***", "server"}}, change(t, p, "cursor").Moved)
	assert.Equal(t, []hosts.Move{{"A", "A-gemini"}, {"a_cursor", "a_cursor-gemini"}, {"b-c", "b-c"}}, change(t, p, "gemini").Moved)
	text := h.read(".config/tis/tis.json")
	assert.True(t, strings.HasPrefix(text, "{\n \"mcpServers\": {\n  \"a\": {\"command\": \"mine\"},\n  \"A-cursor\": {\n   \"command\": \"x\"\n  },"), text)
	assert.True(t, strings.HasSuffix(text, "\n },\n \"limits\": {\"calls\": 9}\n}\n"), text)
}

func TestAConfigWithoutServersGetsThem(t *testing.T) {
	for _, before := range []string{"", "{}", "{\n}\n", `{"limits": {"calls": 9}}`, "{\n  \"limits\": {\"calls\": 9}\n}\n", `{"mcpServers": {}}`, `{"servers": {"b": {"command": "b"}}}`} {
		h := newHome(t)
		h.write(".config/tis/tis.json", before)
		h.write(".cursor/mcp.json", one)
		h.apply()
		after := h.read(".config/tis/tis.json")
		assert.Contains(t, after, `"a": {`)
		if strings.Contains(before, "limits") {
			assert.Contains(t, after, `"limits": {"calls": 9}`)
		}
		again := h.apply()
		assert.Zero(t, again.Moves())
		h.undo()
		assert.Equal(t, before, h.read(".config/tis/tis.json"))
	}
	h := newHome(t)
	h.write(".config/tis/tis.json", `{`)
	h.write(".cursor/mcp.json", one)
	_, err := hosts.Prepare(h.o)
	require.ErrorContains(t, err, "it is not JSON")
}

func TestAHostThatChangedMeanwhileIsNotWritten(t *testing.T) {
	h := newHome(t)
	h.write(".cursor/mcp.json", one)
	h.write(".gemini/settings.json", one)
	p := h.prepare()
	h.write(".gemini/settings.json", one+"\n")
	before := h.all()
	err := p.Apply(h.backups(), anything)
	require.ErrorContains(t, err, "settings.json was changed in the meantime; run tis init again")
	assert.Equal(t, before, h.all())

	// A config that appears meanwhile is not overwritten either.
	p = h.prepare()
	h.write(".config/tis/tis.json", "{}")
	before = h.all()
	require.ErrorContains(t, p.Apply(h.backups(), anything), "tis.json was changed in the meantime")
	assert.Equal(t, before, h.all())
}

func TestAFailureHalfWayPutsEverythingBack(t *testing.T) {
	h := newHome(t)
	h.write(".cursor/mcp.json", one)
	h.write(".gemini/settings.json", one)
	before := h.all()
	err := h.prepare().Apply(h.backups(), func(string) error { return errors.New("not a config") })
	require.ErrorContains(t, err, "not a config; nothing was changed")
	assert.Equal(t, before, h.all())

	// The last host's file changes while the first ones are written.
	p := h.prepare()
	err = p.Apply(h.backups(), func(string) error { h.write(".gemini/settings.json", "{}"); return nil })
	require.ErrorContains(t, err, "nothing was changed")
	h.write(".gemini/settings.json", one)
	assert.Equal(t, before, h.all())
	_, err = hosts.Undo(h.backups())
	require.ErrorIs(t, err, hosts.ErrNothing)
}

func TestLinksAreFollowedAndModesKept(t *testing.T) {
	h := newHome(t)
	h.write("dotfiles/cursor.json", one)
	require.NoError(t, os.Chmod(h.path("dotfiles/cursor.json"), 0o640))
	require.NoError(t, os.MkdirAll(h.path(".cursor"), 0o755))
	require.NoError(t, os.Symlink(h.path("dotfiles/cursor.json"), h.path(".cursor/mcp.json")))
	h.apply()
	fi, err := os.Lstat(h.path(".cursor/mcp.json"))
	require.NoError(t, err)
	assert.NotZero(t, fi.Mode()&os.ModeSymlink, "the link stays one")
	fi, err = os.Stat(h.path("dotfiles/cursor.json"))
	require.NoError(t, err)
	assert.Equal(t, os.FileMode(0o640), fi.Mode().Perm())
	assert.Contains(t, h.read("dotfiles/cursor.json"), "serve")
	h.undo()
	assert.Equal(t, one, h.read("dotfiles/cursor.json"))
}

func TestTheBackupIsForItsOwnerAlone(t *testing.T) {
	h := newHome(t)
	h.fill()
	h.apply()
	require.NoError(t, filepath.Walk(h.backups(), func(path string, fi os.FileInfo, err error) error {
		assert.Zero(t, fi.Mode().Perm()&0o077, path)
		return err
	}))
}

func TestUndoKeepsWhatWasChangedSince(t *testing.T) {
	h := newHome(t)
	h.fill()
	claude, codex := h.read(".claude.json"), h.read(".codex/config.toml")
	h.apply()
	h.write(".claude.json", strings.Replace(h.read(".claude.json"), `"tipsHistory"`, `"new": [1],`+"\n  "+`"tipsHistory"`, 1))
	h.write(".codex/config.toml", h.read(".codex/config.toml")+"\n[projects.\"/tmp\"]\ntrust_level = \"trusted\"\n")
	done := h.undo()
	assert.Equal(t, strings.Replace(claude, `"tipsHistory"`, `"new": [1],`+"\n  "+`"tipsHistory"`, 1), h.read(".claude.json"))
	var want, got map[string]any
	require.NoError(t, toml.Unmarshal([]byte(codex), &want))
	require.NoError(t, toml.Unmarshal([]byte(h.read(".codex/config.toml")), &got))
	want["projects"].(map[string]any)["/tmp"] = map[string]any{"trust_level": "trusted"}
	assert.Equal(t, want, got)
	for _, comment := range []string{"# Codex", "# careful", "# files", "# yes", "# the token is mine", "# b", "# about limited"} {
		assert.Contains(t, h.read(".codex/config.toml"), comment)
	}
	assert.Contains(t, done, hosts.Undone{Path: h.path(".claude.json"), What: "its servers are back; what else was changed since stays"})
}

func TestUndoTouchesNoServersThatWereChangedSince(t *testing.T) {
	h := newHome(t)
	h.fill()
	h.apply()
	h.write(".cursor/mcp.json", strings.Replace(h.read(".cursor/mcp.json"), `"here"`, `"there"`, 1))
	before := h.all()
	_, err := hosts.Undo(h.backups())
	require.ErrorContains(t, err, ".cursor/mcp.json: its servers were changed since; nothing was undone")
	assert.Equal(t, before, h.all())
}

func TestUndoAfterTwoRounds(t *testing.T) {
	h := newHome(t)
	h.write(".cursor/mcp.json", one)
	start := h.all()
	h.apply()
	middle := h.all()
	h.write(".gemini/settings.json", one)
	h.write(".cursor/mcp.json", strings.Replace(h.read(".cursor/mcp.json"), `{"tis"`, `{"b": {"command": "b"}, "tis"`, 1))
	h.apply()
	assert.Contains(t, h.read(".config/tis/tis.json"), `"b": {`)
	assert.Equal(t, 1, strings.Count(h.read(".cursor/mcp.json"), "serve"))
	h.undo()
	h.write(".cursor/mcp.json", strings.Replace(h.read(".cursor/mcp.json"), `{"b": {"command": "b"}, "tis"`, `{"tis"`, 1))
	require.NoError(t, os.Remove(h.path(".gemini/settings.json")))
	assert.Equal(t, middle, h.all())
	h.undo()
	assert.Equal(t, start, h.all())
}

// What a person added to tis's own entry stays when more servers are moved.
func TestTisOwnEntryKeepsWhatItSays(t *testing.T) {
	h := newHome(t)
	h.write(".codex/config.toml", "[mcp_servers.tis]\ncommand = \"/opt/bin/tis\"\nargs = [\"serve\", \"-c\", \""+h.o.Config+"\"]\nstartup_timeout_sec = 60\nenv_vars = [\"MINE\"]\nenv = { A = \"b\" }\n\n[mcp_servers.n]\ncommand = \"n\"\nenv_vars = [\"N\"]\n")
	p := h.apply()
	require.NoError(t, change(t, p, "codex").Err)
	assert.Equal(t, "[mcp_servers.tis]\ncommand = '/opt/bin/tis'\nargs = ['serve', '-c', '"+h.o.Config+"']\nstartup_timeout_sec = 60\nenv_vars = ['MINE', 'N']\nenv = {A = 'b'}\n\n", sortedTail(h.read(".codex/config.toml")))
}

// sortedTail puts the lines of the only table in the order of the test.
func sortedTail(text string) string {
	order := []string{"[", "command", "args", "startup_timeout_sec", "env_vars", "env "}
	out := ""
	for _, o := range order {
		for _, line := range strings.SplitAfter(text, "\n") {
			if strings.HasPrefix(line, o) {
				out += line
			}
		}
	}
	return out + "\n"
}

func TestAnotherConfigIsNamed(t *testing.T) {
	h := newHome(t)
	h.write(".cursor/mcp.json", `{"mcpServers": {"tis": {"command": "tis", "args": ["serve", "-c", "/else.json"]}, "a": {"command": "a"}}}`)
	p := h.apply()
	assert.Zero(t, p.Moves())
	assert.Contains(t, change(t, p, "cursor").Note, `it starts tis with another config, "/else.json"`)
}

// A project's files are shared, so they name tis and its config from the
// project's folder.
func TestAProjectsFiles(t *testing.T) {
	h := newHome(t)
	h.o.Machine.Project, h.o.Config, h.o.Command = h.path("shop"), h.path("shop/tis.json"), "tis"
	h.write(".cursor/mcp.json", one)
	for _, name := range []string{"shop/.mcp.json", "shop/.cursor/mcp.json", "shop/.gemini/settings.json"} {
		h.write(name, `{"mcpServers": {"a": {"command": "./a", "cwd": "sub"}}}`)
	}
	h.write("shop/.vscode/mcp.json", `{"servers": {"a": {"command": "./a", "cwd": "sub"}}}`)
	h.write("shop/.codex/config.toml", "[mcp_servers.a]\ncommand = \"./a\"\ncwd = \"sub\"\n")
	p := h.apply()
	assert.Equal(t, 5, p.Moves())
	assert.Equal(t, []string{"a"}, p.Added, "the same server is there once")
	assert.Equal(t, one, h.read(".cursor/mcp.json"), "the person's own file is not the project's")
	assert.Contains(t, h.read("shop/.mcp.json"), `"tis.json"`)
	assert.Contains(t, h.read("shop/.vscode/mcp.json"), `"${workspaceFolder}/tis.json"`)
	assert.NotContains(t, h.read("shop/.cursor/mcp.json")+h.read("shop/.codex/config.toml"), h.dir)
	assert.Zero(t, h.apply().Moves())
}

func TestWhatCannotBeMoved(t *testing.T) {
	for entry, want := range map[string]string{
		`{"command": "a", "url": "https://b"}`:                     "neither a command nor a url alone",
		`{"args": []}`:                                             "neither a command nor a url alone",
		`{"command": 7}`:                                           "its command is not of the kind",
		`{"command": "a", "env": {"PORT": 8080}}`:                  "its env is not of the kind",
		`{"command": "a", "args": "x"}`:                            "its args is not of the kind",
		`{"command": "a", "disabled": true}`:                       "it is switched off",
		`{"command": "a", "envFile": ".env"}`:                      `its key "envFile" has no counterpart`,
		`{"command": "a", "cwd": "here"}`:                          "its cwd is relative",
		`{"url": "https://a", "oauth": {"tokenUrl": "https://b"}}`: `its oauth key "tokenUrl" has no counterpart`,
		`{"type": "ws", "url": "wss://a"}`:                         "its transport is",
		`{"command": "${HOME}/a"}`:                                 "${...} that tis would read otherwise",
	} {
		h := newHome(t)
		h.write(".cursor/mcp.json", `{"mcpServers": {"a": `+entry+`}}`)
		p := h.apply()
		c := change(t, p, "cursor")
		require.NoError(t, c.Err, entry)
		require.Len(t, c.Stay, 1, entry)
		assert.Contains(t, c.Stay[0].Why, want)
	}
}

// Whatever stands in a list: either it is left alone, or undo brings it back.
func FuzzLists(f *testing.F) {
	f.Add(one)
	f.Add(`{"mcpServers":{"a":{"command":"a"}, // x
"b":{"x":1},}}`)
	f.Fuzz(func(t *testing.T, text string) {
		h := newHome(t)
		h.write(".cursor/mcp.json", text)
		h.apply()
		if _, err := hosts.Undo(h.backups()); !errors.Is(err, hosts.ErrNothing) {
			require.NoError(t, err)
		}
		assert.Equal(t, text, h.read(".cursor/mcp.json"))
	})
}

func FuzzTables(f *testing.F) {
	f.Add("[mcp_servers.a]\ncommand = 'a'\n# x\n[b]\n")
	f.Fuzz(func(t *testing.T, text string) {
		h := newHome(t)
		h.write(".codex/config.toml", text)
		p := h.apply()
		if p.Moves() > 0 {
			assert.NoError(t, change(t, p, "codex").Err)
		}
		if _, err := hosts.Undo(h.backups()); !errors.Is(err, hosts.ErrNothing) {
			require.NoError(t, err)
		}
		assert.Equal(t, text, h.read(".codex/config.toml"))
	})
}
