package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tools-in-shell/tis/signin/signintest"
)

// guarded is a place whose only server wants a sign-in.
func guarded(t *testing.T) (*place, *signintest.World) {
	t.Helper()
	w := signintest.New()
	t.Cleanup(w.Close)
	p := &place{t: t, dir: t.TempDir()}
	p.servers = map[string]any{"docs": map[string]any{"url": w.URL()}}
	p.config = map[string]any{"mcpServers": p.servers}
	p.save()
	return p, w
}

// run runs tis to its end.
func (p *place) run(args ...string) (exit int, stdout, stderr string) {
	p.t.Helper()
	cmd := p.command(args...)
	var out, errOut bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errOut
	err := cmd.Run()
	if _, failed := err.(*exec.ExitError); !failed {
		require.NoError(p.t, err)
	}
	return cmd.ProcessState.ExitCode(), out.String(), errOut.String()
}

// login runs `tis login` and is the person's browser: it goes where it is told
// and follows every redirect. said is what the last page says.
func (p *place) login(args ...string) (exit int, said, stderr string) {
	p.t.Helper()
	cmd := p.command(append([]string{"login", "docs"}, args...)...)
	stdout, err := cmd.StdoutPipe()
	require.NoError(p.t, err)
	var errOut bytes.Buffer
	cmd.Stderr = &errOut
	require.NoError(p.t, cmd.Start())
	lines := bufio.NewScanner(stdout)
	if lines.Scan() {
		resp, err := (&http.Client{Timeout: 10 * time.Second}).Get(lines.Text())
		require.NoError(p.t, err)
		page, err := io.ReadAll(resp.Body)
		require.NoError(p.t, err)
		resp.Body.Close()
		said = string(page)
	}
	for lines.Scan() {
		p.t.Errorf("one address is printed, and nothing else: %s", lines.Text())
	}
	cmd.Wait()
	return cmd.ProcessState.ExitCode(), said, errOut.String()
}

const whoami = "tools docs whoami"

// work is a folder for scripts.
func (p *place) work() string {
	p.t.Helper()
	require.NoError(p.t, os.MkdirAll(p.file("work"), 0o700))
	return p.file("work")
}

// script writes a script and runs it.
func (p *place) script(text string) (exit int, stdout, stderr string) {
	p.t.Helper()
	p.write("script.sh", text)
	return p.run("run", "-c", p.file("tis.json"), "--dir", p.work(), p.file("script.sh"))
}

func TestSigningInAndOut(t *testing.T) {
	p, w := guarded(t)
	exit, _, stderr := p.script(whoami)
	require.Equal(t, 1, exit)
	var envelope struct {
		Error struct {
			Code, Message string
			Retryable     bool
		}
	}
	require.NoError(t, json.Unmarshal([]byte(strings.SplitN(stderr, "\n", 2)[0]), &envelope), stderr)
	assert.Equal(t, "connection_required", envelope.Error.Code)
	assert.Contains(t, envelope.Error.Message, "run: tis login docs")
	assert.False(t, envelope.Error.Retryable)

	exit, said, stderr := p.login()
	require.Equal(t, 0, exit, stderr)
	assert.Contains(t, said, "close this window")
	assert.Contains(t, stderr, "docs has 1 tools")

	exit, stdout, stderr := p.script(whoami)
	require.Equal(t, 0, exit, stderr)
	assert.Equal(t, "a person\n", stdout)
	_, stdout, _ = p.run("doctor")
	assert.Contains(t, stdout, "docs: signed in at "+w.Auth.URL)
	assert.Contains(t, stdout, "refreshes itself")

	secrets := w.Secrets()
	require.Len(t, secrets, 2)
	for _, s := range secrets {
		assert.NotContains(t, stdout+stderr, s)
	}
	files := p.signIns()
	require.Len(t, files, 1)
	fi, err := os.Stat(files[0])
	require.NoError(t, err)
	assert.Equal(t, os.FileMode(0o600), fi.Mode().Perm())
	fi, err = os.Stat(filepath.Dir(files[0]))
	require.NoError(t, err)
	assert.Equal(t, os.FileMode(0o700), fi.Mode().Perm())

	exit, _, stderr = p.run("logout", "docs")
	require.Equal(t, 0, exit)
	assert.Contains(t, stderr, "signed out of docs")
	assert.Equal(t, 1, w.Count("/revoke"))
	assert.Empty(t, p.signIns())
	exit, _, stderr = p.script(whoami)
	require.Equal(t, 1, exit)
	assert.Contains(t, stderr, "connection_required")
	_, _, stderr = p.run("logout", "docs")
	assert.Contains(t, stderr, "not signed in to docs")
	assert.Empty(t, w.Wrong())
}

// signIns are the files of the sign-ins.
func (p *place) signIns() []string {
	p.t.Helper()
	files, err := filepath.Glob(p.file(".local/state/tis/signins/*.json"))
	require.NoError(p.t, err)
	return files
}

// Two processes must not use one refresh token twice: a server takes that for a
// theft, and revokes everything.
func TestProcessesThatRefreshAtOnce(t *testing.T) {
	p, w := guarded(t)
	exit, _, stderr := p.login("--no-browser")
	require.Equal(t, 0, exit, stderr)
	p.write("script.sh", whoami)
	for range 3 {
		w.RevokeAccess()
		var all []*exec.Cmd
		var outs [4]bytes.Buffer
		for i := range outs {
			cmd := p.command("run", "-c", p.file("tis.json"), "--dir", p.work(), p.file("script.sh"))
			cmd.Stdout, cmd.Stderr = &outs[i], &outs[i]
			require.NoError(t, cmd.Start())
			all = append(all, cmd)
		}
		for i, cmd := range all {
			require.NoError(t, cmd.Wait(), outs[i].String())
			assert.Equal(t, "a person\n", outs[i].String())
		}
	}
	assert.Empty(t, w.Wrong())
	assert.Equal(t, 4, w.Count("/token"), "each time one process refreshed, for all")
}

func TestASignInThatIsOver(t *testing.T) {
	p, w := guarded(t)
	exit, _, stderr := p.login()
	require.Equal(t, 0, exit, stderr)
	w.RevokeAll()
	exit, _, stderr = p.script(whoami)
	require.Equal(t, 1, exit)
	assert.Contains(t, stderr, "connection_required")
	assert.Contains(t, stderr, "run: tis login docs")
	_, stdout, _ := p.run("doctor")
	assert.Contains(t, stdout, "the sign-in is over (it refused: invalid_grant")
	assert.NotContains(t, stdout+stderr, "-secret-")
	exit, _, stderr = p.login()
	require.Equal(t, 0, exit, stderr)
	exit, _, _ = p.script(whoami)
	require.Equal(t, 0, exit)
}

func TestForgedAnswersSignNobodyIn(t *testing.T) {
	p, w := guarded(t)
	w.Change(func(w *signintest.World) { w.EditCallback = func(q map[string]string) { q["state"] = "forged" } })
	exit, said, stderr := p.login("--timeout", "1s")
	assert.Equal(t, 1, exit)
	assert.Contains(t, said, "not the sign-in that tis waits for")
	assert.Contains(t, stderr, "state that is not this sign-in's")
	w.Change(func(w *signintest.World) {
		w.EditCallback = func(q map[string]string) { q["iss"] = "https://evil.example" }
	})
	exit, _, stderr = p.login()
	assert.Equal(t, 1, exit)
	assert.Contains(t, stderr, "the answer is from another one, https://evil.example")
	w.Change(func(w *signintest.World) {
		w.EditCallback, w.EditResource = nil, func(d map[string]any) { d["resource"] = "https://other.example/mcp" }
	})
	exit, _, stderr = p.login()
	assert.Equal(t, 1, exit)
	assert.Contains(t, stderr, "it speaks of https://other.example/mcp, which is another server")
	assert.Empty(t, p.signIns())
	assert.Zero(t, w.Count("/token"))
}

func TestTheConfigsClient(t *testing.T) {
	p, w := guarded(t)
	w.Change(func(w *signintest.World) {
		w.Clients["tis-at-work"], w.Methods, w.NoRegister = "hush-hush", []string{"client_secret_post"}, true
	})
	p.servers["docs"] = map[string]any{"url": w.URL(), "oauth": map[string]any{"client_id": "tis-at-work", "client_secret": "${DOCS_SECRET}", "scopes": []string{"read"}}}
	p.save()
	exit, _, stderr := p.login()
	assert.Equal(t, exitUsage, exit)
	assert.Contains(t, stderr, "DOCS_SECRET is not set")
	p.env = []string{"DOCS_SECRET=hush-hush"}
	exit, _, stderr = p.login()
	require.Equal(t, 0, exit, stderr)
	w.RevokeAccess()
	exit, stdout, stderr := p.script(whoami)
	require.Equal(t, 0, exit, stderr)
	assert.Equal(t, "a person\n", stdout)
	raw, err := os.ReadFile(p.signIns()[0])
	require.NoError(t, err)
	assert.NotContains(t, string(raw), "hush-hush", "the secret stays where it is")
	assert.Empty(t, w.Wrong())
}

func TestServersThatCannotBeSignedInTo(t *testing.T) {
	p, w := guarded(t)
	p.servers["here"] = map[string]any{"command": "server"}
	p.servers["keyed"] = map[string]any{"url": w.URL(), "headers": map[string]any{"AUTHORIZATION": "Bearer x"}}
	p.servers["plain"] = map[string]any{"url": "http://mcp.example.com"}
	p.save()
	for name, want := range map[string]string{
		"here": "a program of this machine", "keyed": "has an Authorization header in the config", "nobody": "those with a url are ",
	} {
		exit, _, stderr := p.run("login", name)
		assert.Equal(t, exitUsage, exit, name)
		assert.Contains(t, stderr, want)
	}
	exit, _, stderr := p.run("login", "plain")
	assert.Equal(t, exitFault, exit)
	assert.Contains(t, stderr, "want https://")
}

// write writes a file.
func (p *place) write(name, text string) {
	p.t.Helper()
	require.NoError(p.t, os.MkdirAll(filepath.Dir(p.file(name)), 0o700))
	require.NoError(p.t, os.WriteFile(p.file(name), []byte(text), 0o600))
}

// A script must not read the tokens: it does not run in a folder above them.
func TestNoScriptRunsWhereItReachesTheSignIns(t *testing.T) {
	p, _ := guarded(t)
	p.write("script.sh", "cat .local/state/tis/signins/*.json")
	run := func() (int, string, string) {
		return p.run("run", "-c", p.file("tis.json"), "--dir", p.dir, p.file("script.sh"))
	}
	_, _, stderr := run()
	assert.NotContains(t, stderr, "run it in another folder", "there is nothing to read yet")
	exit, _, stderr := p.login()
	require.Equal(t, 0, exit, stderr)
	exit, stdout, stderr := run()
	assert.Equal(t, exitUsage, exit)
	assert.Empty(t, stdout)
	assert.Contains(t, stderr, "a script there could read "+p.file(".local/state/tis/signins"))
}
