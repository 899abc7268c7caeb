package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"
)

const token = "a-token-of-the-tests"

// web is `tis serve --http` as a process.
type web struct {
	*place
	cmd *exec.Cmd
	url string
}

func (p *place) web() *web {
	p.t.Helper()
	p.args = append(p.args, "--http", "127.0.0.1:0")
	if !p.open {
		p.env = append(p.env, "TIS_HTTP_TOKEN="+token)
	}
	w := &web{place: p, cmd: p.serve()}
	stderr, err := w.cmd.StderrPipe()
	require.NoError(p.t, err)
	require.NoError(p.t, w.cmd.Start())
	lines := bufio.NewReader(stderr)
	for w.url == "" {
		line, err := lines.ReadString('\n')
		require.NoError(p.t, err, line)
		if url, ok := strings.CutPrefix(strings.TrimSpace(line), "tis: serving "); ok {
			w.url = url
		}
	}
	go io.Copy(os.Stderr, lines)
	p.t.Cleanup(w.stop)
	return w
}

// stop ends the process as a service manager does.
func (w *web) stop() {
	if w.cmd.ProcessState == nil {
		w.cmd.Process.Signal(syscall.SIGTERM)
		require.NoError(w.t, w.cmd.Wait())
	}
}

// bearer adds the token to every request.
type bearer string

func (b bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+string(b))
	return http.DefaultTransport.RoundTrip(r)
}

func (w *web) connect(answer func(*mcp.ElicitParams) (*mcp.ElicitResult, error)) *host {
	w.t.Helper()
	return w.attach(&mcp.StreamableClientTransport{Endpoint: w.url, HTTPClient: &http.Client{Transport: bearer(token)}, MaxRetries: -1}, "", answer)
}

func TestServeOverHTTPSessionsAreApart(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.grows("on_demand")
	w := p.web()
	a, b := w.connect(decides("allow_always")), w.connect(decides("decline"))
	require.NotEqual(t, a.session.ID(), b.session.ID())
	require.True(t, a.bash("echo a > mine").Success)
	require.Equal(t, "no\n", b.bash("[ -e mine ] && echo yes || echo no").Stdout)
	require.NotEqual(t, a.bash("pwd").Stdout, b.bash("pwd").Stdout)

	require.True(t, a.bash(deleteTypo).Success)
	r := b.bash("tools tracker delete-branch branch=pg-driver")
	require.True(t, r.Tools.Stopped.BeforeStart, "an answer counts in its own session")
	require.Contains(t, p.branches(), "pg-driver")
	require.Len(t, b.questions(), 1)

	require.Equal(t, "ok\n", a.bash("tools growing grow").Stdout)
	<-a.changes
	require.Contains(t, description(t, a), "growing (")
	require.NotContains(t, description(t, a), "growing (not loaded)")
	require.Contains(t, description(t, b), "growing (not loaded)")
	require.Equal(t, "ok\n", b.bash("tools growing grow").Stdout)

	require.Len(t, left(p), 2)
	require.NoError(t, a.session.Close())
	require.Eventually(t, func() bool { return len(left(p)) == 1 }, 10*time.Second, 20*time.Millisecond)
	require.Equal(t, "still here\n", b.bash("echo still here").Stdout)
	w.stop()
	require.Empty(t, left(p))
}

func TestServeOverHTTPEveryAnswer(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	w := p.web()
	for word, stdout := range map[string]string{"allow": "{\"deleted\":\"%s\"}\n", "allow_always": "{\"deleted\":\"%s\"}\n", "reject": "refused\n", "reject_always": "refused\n"} {
		branch := map[string]string{"allow": "fix-typo", "allow_always": "pg-driver"}[word]
		if branch == "" {
			branch = "dark-mode"
		} else {
			stdout = fmt.Sprintf(stdout, branch)
		}
		h := w.connect(decides(word))
		r := h.bash("tools tracker delete-branch branch=" + branch + " || echo refused")
		require.Equal(t, stdout, r.Stdout, word)
		require.Len(t, h.questions(), 1)
	}
	require.Equal(t, []string{"dark-mode", "fix-login", "main"}, p.branches())
}

func TestServeOverHTTPTellsProgressAndChanges(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.grows("start")
	h := p.web().connect(nil)
	params := &mcp.CallToolParams{Name: "bash", Arguments: map[string]any{"commands": "tools tracker list-branches >/dev/null; tools growing grow"}}
	params.SetProgressToken("x")
	_, err := h.session.CallTool(context.Background(), params)
	require.NoError(t, err)
	require.Eventually(t, func() bool { h.mu.Lock(); defer h.mu.Unlock(); return len(h.progress) == 2 }, 10*time.Second, 10*time.Millisecond)
	select {
	case <-h.changes:
	case <-time.After(20 * time.Second):
		t.Fatal("the client was not told")
	}
}

func TestServeOverHTTPTheEndOfASessionEndsItsScript(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	w := p.web()
	h := w.connect(nil)
	gone := make(chan error, 1)
	go func() {
		_, err := h.try(context.Background(), "tools tracker create-comment number=2 body=begun; sleep 100; tools tracker create-comment number=2 body=after")
		gone <- err
	}()
	require.Eventually(t, func() bool { return len(p.query("SELECT body FROM comments WHERE body = 'begun'")) == 1 }, 20*time.Second, 50*time.Millisecond)
	req, err := http.NewRequest(http.MethodDelete, w.url, nil)
	require.NoError(t, err)
	req.Header.Set("Authorization", "Bearer "+token)
	req.Header.Set("Mcp-Session-Id", h.session.ID())
	began := time.Now()
	res, err := http.DefaultClient.Do(req)
	require.NoError(t, err)
	res.Body.Close()
	require.Equal(t, http.StatusNoContent, res.StatusCode)
	require.Less(t, time.Since(began), 30*time.Second)
	<-gone
	require.Eventually(t, func() bool { return len(left(p)) == 0 }, 10*time.Second, 20*time.Millisecond)
	require.Empty(t, p.query("SELECT body FROM comments WHERE body = 'after'"))
}

const initialize = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","clientInfo":{"name":"x","version":"1"},"capabilities":{}}}`

func TestServeOverHTTPRefusesWhatItShould(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.args = []string{"--allow-origin", "https://app.example.com", "--allow-host", "tis.example.com"}
	w := p.web()
	addr := strings.TrimPrefix(w.url, "http://")
	port := addr[strings.LastIndex(addr, ":"):]
	for name, c := range map[string]struct {
		header map[string]string
		host   string
		body   string
		status int
	}{
		"as it should be":               {nil, "", initialize, 200},
		"the scheme in small letters":   {map[string]string{"Authorization": "bearer " + token}, "", initialize, 200},
		"no token":                      {map[string]string{"Authorization": ""}, "", initialize, 401},
		"another token":                 {map[string]string{"Authorization": "Bearer " + token + "x"}, "", initialize, 401},
		"a part of the token":           {map[string]string{"Authorization": "Bearer " + token[:len(token)-1]}, "", initialize, 401},
		"another scheme":                {map[string]string{"Authorization": "Basic " + token}, "", initialize, 401},
		"localhost":                     {nil, "localhost" + port, initialize, 200},
		"an allowed host":               {nil, "tis.example.com", initialize, 403}, // over a loopback address, the SDK's own check
		"a host of somebody's":          {nil, "evil.example.com", initialize, 403},
		"a host that looks like ours":   {nil, "localhost.evil.example.com" + port, initialize, 403},
		"a page of somebody's":          {map[string]string{"Origin": "https://evil.example.com"}, "", initialize, 403},
		"a page without an origin":      {map[string]string{"Origin": "null"}, "", initialize, 403},
		"a local page on another port":  {map[string]string{"Origin": "http://127.0.0.1:1"}, "", initialize, 403},
		"its own page":                  {map[string]string{"Origin": w.url}, "", initialize, 200},
		"an allowed page":               {map[string]string{"Origin": "https://app.example.com"}, "", initialize, 200},
		"an allowed page's other port":  {map[string]string{"Origin": "https://app.example.com:8443"}, "", initialize, 403},
		"a session that is none":        {map[string]string{"Mcp-Session-Id": "tis-nothing"}, "", initialize, 404},
		"a message that is too large":   {nil, "", `{"x":"` + strings.Repeat("x", 25<<20) + `"}`, 413},
		"a message that is no message":  {nil, "", "hello", 400},
		"a call before the handshake":   {nil, "", `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{}}`, 200},
		"an origin that is given twice": {map[string]string{"Origin": w.url + "," + w.url}, "", initialize, 403},
	} {
		t.Run(name, func(t *testing.T) {
			req, err := http.NewRequest(http.MethodPost, w.url, strings.NewReader(c.body))
			require.NoError(t, err)
			req.Header.Set("Content-Type", "application/json")
			req.Header.Set("Accept", "application/json, text/event-stream")
			req.Header.Set("Authorization", "Bearer "+token)
			for k, v := range c.header {
				req.Header.Set(k, v)
			}
			if c.host != "" {
				req.Host = c.host
			}
			res, err := http.DefaultClient.Do(req)
			require.NoError(t, err)
			defer res.Body.Close()
			body, err := io.ReadAll(res.Body)
			require.NoError(t, err)
			require.Equal(t, c.status, res.StatusCode, string(body))
			require.NotContains(t, string(body), token)
			if c.status == 401 {
				require.Contains(t, res.Header.Get("WWW-Authenticate"), "Bearer")
			}
		})
	}
	require.Empty(t, left(p), "a session that only begins has no folder yet")
}

func TestServeOverHTTPDoesNotStartUnprotected(t *testing.T) {
	t.Parallel()
	open := func(name, text string, mode os.FileMode) string {
		name = t.TempDir() + "/" + name
		require.NoError(t, os.WriteFile(name, []byte(text), mode))
		return name
	}
	for name, c := range map[string]struct {
		args []string
		env  string
		says string
	}{
		"everywhere without a token":   {[]string{"--http", "0.0.0.0:0"}, "", "no token"},
		"everywhere without a token 6": {[]string{"--http", ":0"}, "", "no token"},
		"a short token":                {[]string{"--http", "127.0.0.1:0"}, "short", "shorter than 16"},
		"a file that others can read":  {[]string{"--http", "127.0.0.1:0", "--http-token-file", open("t", token, 0o644)}, "", "chmod 600"},
		"a file that is empty":         {[]string{"--http", "127.0.0.1:0", "--http-token-file", open("t", "\n", 0o600)}, "", "empty"},
		"a file that is not there":     {[]string{"--http", "127.0.0.1:0", "--http-token-file", "/nowhere/t"}, "", "no such file"},
		"an address that is none":      {[]string{"--http", "nowhere:x"}, "", "--http nowhere:x"},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPlace(t)
			p.servers, p.config = nil, map[string]any{}
			p.args = c.args
			if c.env != "" {
				p.env = []string{"TIS_HTTP_TOKEN=" + c.env}
			}
			out, err := p.serve().CombinedOutput()
			require.Error(t, err, string(out))
			require.Contains(t, string(out), c.says)
			require.NotContains(t, string(out), token)
		})
	}
	t.Run("a token file", func(t *testing.T) {
		p := newPlace(t)
		p.args = []string{"--http-token-file", open("t", token+"\n", 0o600)}
		require.Equal(t, "1\n", p.web().connect(nil).bash("echo 1").Stdout)
	})
}

// One session's question holds up no other session, and none of its own direct
// calls.
func TestServeOverHTTPAQuestionHoldsNobodyElseUp(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.keep("tracker list_branches")
	w := p.web()
	asked, answer := make(chan bool), make(chan bool)
	a := w.connect(func(q *mcp.ElicitParams) (*mcp.ElicitResult, error) {
		asked <- true
		<-answer
		return decides("allow")(q)
	})
	var wg sync.WaitGroup
	wg.Go(func() {
		r, err := a.try(context.Background(), deleteTypo)
		require.NoError(t, err)
		require.True(t, r.Success)
	})
	<-asked
	require.Equal(t, "b\n", w.connect(nil).bash("echo b").Stdout)
	_, err := a.session.CallTool(context.Background(), &mcp.CallToolParams{Name: "mcp_tracker__list_branches"})
	require.NoError(t, err)
	require.Equal(t, "a\n", a.bash("echo a").Stdout, "a script that is held does not keep the next one from running")
	close(answer)
	wg.Wait()
	require.NotContains(t, p.branches(), "fix-typo")
}
