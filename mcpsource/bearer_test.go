package mcpsource_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tools-in-shell/tis/catalog"
	"github.com/tools-in-shell/tis/mcpsource"
	"github.com/tools-in-shell/tis/signin"
	"github.com/tools-in-shell/tis/signin/signintest"
)

// signedIn is a server that wants a sign-in, and a pool that has signed in.
func signedIn(t *testing.T) (*signintest.World, *mcpsource.Pool, *signin.Store, mcpsource.ServerConfig) {
	t.Helper()
	w := signintest.New()
	t.Cleanup(w.Close)
	t.Cleanup(http.DefaultClient.CloseIdleConnections)
	cfg := mcpsource.ServerConfig{Name: "x", URL: w.URL(), StartTimeout: 10 * time.Second, CallTimeout: 10 * time.Second}
	st := signin.NewStore(filepath.Join(t.TempDir(), "signins"))
	signIn(t, st, cfg)
	p := mcpsource.NewPool([]mcpsource.ServerConfig{cfg}, mcpsource.Options{Version: "test", SignIns: st})
	t.Cleanup(func() { require.NoError(t, p.Close()) })
	p.Start(t.Context())
	return w, p, st, cfg
}

func signIn(t *testing.T, st *signin.Store, cfg mcpsource.ServerConfig) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	_, err := st.Login(ctx, cfg.SignIn(), func(address string) {
		go func() {
			if resp, err := http.Get(address); err == nil {
				resp.Body.Close()
			}
		}()
	})
	require.NoError(t, err)
}

func TestATokenThatTheServerRefusesIsRefreshedOnce(t *testing.T) {
	w, p, _, _ := signedIn(t)
	_, err := call(t, p, "whoami", `{}`)
	require.NoError(t, err)
	w.RevokeAccess()
	out, err := call(t, p, "whoami", `{}`)
	require.NoError(t, err)
	assert.Equal(t, "a person", out.Parts[0].Text)
	assert.Equal(t, 2, w.Count("/token"))

	w.RevokeAll()
	_, err = call(t, p, "whoami", `{}`)
	f := failure(t, err)
	assert.Equal(t, catalog.ConnectionRequired, f.Code)
	assert.Contains(t, f.Message, "run: tis login x")
	assert.True(t, f.NotMade)
	assert.Empty(t, w.Wrong())
}

// The authorization server is down just when the token has to be refreshed.
func TestACallWhoseTokenCannotBeRefreshedNowWasNotMade(t *testing.T) {
	w, p, _, _ := signedIn(t)
	_, err := call(t, p, "whoami", `{}`)
	require.NoError(t, err)
	w.RevokeAccess()
	w.Change(func(w *signintest.World) { w.TokenStatus = 503 })
	_, err = call(t, p, "whoami", `{}`)
	f := failure(t, err)
	assert.Equal(t, catalog.Unavailable, f.Code)
	assert.True(t, f.Retryable)
	assert.True(t, f.NotMade)
	assert.Contains(t, f.Message, "503")
	w.Change(func(w *signintest.World) { w.TokenStatus = 0 })
	_, err = call(t, p, "whoami", `{}`)
	require.NoError(t, err)
}

func TestMoreRights(t *testing.T) {
	w, p, st, cfg := signedIn(t)
	w.Change(func(w *signintest.World) { w.Scope = "read write" })
	_, err := call(t, p, "whoami", `{}`)
	f := failure(t, err)
	assert.Equal(t, catalog.ConnectionRequired, f.Code)
	assert.Contains(t, f.Message, "asks for more rights (read write); run: tis login x")
	signIn(t, st, cfg)
	_, err = call(t, p, "whoami", `{}`)
	require.NoError(t, err, "the next call uses the new token")
}

// A person who signs in while tis runs is not kept waiting.
func TestASignInWhileTisRuns(t *testing.T) {
	w := signintest.New()
	t.Cleanup(w.Close)
	t.Cleanup(http.DefaultClient.CloseIdleConnections)
	cfg := mcpsource.ServerConfig{Name: "x", URL: w.URL(), OnDemand: true, StartTimeout: 10 * time.Second}
	st := signin.NewStore(filepath.Join(t.TempDir(), "signins"))
	p := mcpsource.NewPool([]mcpsource.ServerConfig{cfg}, mcpsource.Options{SignIns: st})
	t.Cleanup(func() { require.NoError(t, p.Close()) })
	for range 5 {
		_, err := source(t, p, "x").Load(t.Context())
		assert.Equal(t, catalog.ConnectionRequired, failure(t, err).Code)
	}
	assert.False(t, source(t, p, "x").Loaded)
	signIn(t, st, cfg)
	tools, err := source(t, p, "x").Load(t.Context())
	require.NoError(t, err)
	assert.Len(t, tools, 1)
}

// The config's own header is the only token then.
func TestAnAuthorizationHeaderOfTheConfigComesFirst(t *testing.T) {
	w, _, st, cfg := signedIn(t)
	cfg.Headers = map[string]string{"authorization": "Bearer mine-and-only-mine"}
	p := mcpsource.NewPool([]mcpsource.ServerConfig{cfg}, mcpsource.Options{SignIns: st})
	defer p.Close()
	p.Start(t.Context())
	f := source(t, p, "x").Unavailable
	require.NotNil(t, f)
	assert.Contains(t, f.Message, "Authorization header in the config")
	assert.NotContains(t, f.Message, "mine-and-only-mine")
	assert.Empty(t, w.Wrong())
}

// front stands in front of the MCP server of a world, at its URL.
func front(t *testing.T, w *signintest.World, h func(rw http.ResponseWriter, r *http.Request, next http.Handler)) {
	t.Helper()
	next := w.MCP.Config.Handler
	w.MCP.Config.Handler = http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) { h(rw, r, next) })
}

func TestATokenGoesToNoOtherHostAndIntoNoMessage(t *testing.T) {
	var elsewhere atomic.Int32
	other := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		elsewhere.Add(1)
		t.Errorf("%s was sent to another host, with the token %q", r.Method, r.Header.Get("Authorization"))
	}))
	defer other.Close()
	w := signintest.New()
	t.Cleanup(w.Close)
	t.Cleanup(http.DefaultClient.CloseIdleConnections)
	var mode atomic.Value
	mode.Store("")
	front(t, w, func(rw http.ResponseWriter, r *http.Request, next http.Handler) {
		if r.Header.Get("Authorization") == "" || r.Method != http.MethodPost {
			next.ServeHTTP(rw, r)
			return
		}
		body, _ := io.ReadAll(r.Body)
		var msg struct {
			ID     json.RawMessage
			Method string
		}
		json.Unmarshal(body, &msg)
		switch m := mode.Load(); {
		case m == "redirect":
			http.Redirect(rw, r, other.URL+"/mcp", http.StatusTemporaryRedirect)
			return
		case m == "repeat" && msg.Method == "tools/call":
			rw.Header().Set("Content-Type", "application/json")
			fmt.Fprintf(rw, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32000,"message":%q}}`, msg.ID, "not with "+r.Header.Get("Authorization"))
			return
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		next.ServeHTTP(rw, r)
	})
	cfg := mcpsource.ServerConfig{Name: "x", URL: w.URL(), StartTimeout: 10 * time.Second, CallTimeout: 10 * time.Second}
	st := signin.NewStore(filepath.Join(t.TempDir(), "signins"))
	signIn(t, st, cfg)
	p := mcpsource.NewPool([]mcpsource.ServerConfig{cfg}, mcpsource.Options{SignIns: st})
	defer p.Close()
	p.Start(t.Context())
	_, err := call(t, p, "whoami", `{}`)
	require.NoError(t, err)
	for _, m := range []string{"repeat", "redirect"} {
		mode.Store(m)
		_, err = call(t, p, "whoami", `{}`)
		require.Error(t, err, m)
		for _, s := range w.Secrets() {
			assert.NotContains(t, err.Error(), s, m)
		}
	}
	assert.Zero(t, elsewhere.Load())
}
