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

// script writes a script and runs it.
func (p *place) script(text string) (exit int, stdout, stderr string) {
	p.t.Helper()
	require.NoError(p.t, os.WriteFile(p.file("script.sh"), []byte(text), 0o600))
	return p.run("run", "-c", p.file("tis.json"), "--dir", p.dir, p.file("script.sh"))
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
