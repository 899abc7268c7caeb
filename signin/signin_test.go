package signin_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/tools-in-shell/tis/signin"
	"github.com/tools-in-shell/tis/signin/signintest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// world is an MCP server with its authorization server, and a store for it.
func world(t *testing.T) (*signintest.World, *signin.Store, signin.Server) {
	t.Helper()
	w := signintest.New()
	t.Cleanup(w.Close)
	t.Cleanup(http.DefaultClient.CloseIdleConnections)
	dir := filepath.Join(t.TempDir(), "signins")
	t.Cleanup(func() { assert.Empty(t, left(dir), "nothing half written stays") })
	return w, signin.NewStore(dir), signin.Server{Name: "docs", URL: w.URL()}
}

// left are files that should not be there.
func left(dir string) []string {
	files, _ := filepath.Glob(filepath.Join(dir, ".signin-*"))
	return files
}

// browse is a person's browser: it follows every redirect.
func browse(address string) string {
	client := &http.Client{Timeout: 10 * time.Second, Transport: &http.Transport{DisableKeepAlives: true}}
	resp, err := client.Get(address)
	if err != nil {
		return err.Error()
	}
	defer resp.Body.Close()
	page, _ := io.ReadAll(resp.Body)
	return string(page)
}

// login signs in with a browser that goes where it is told.
func login(t *testing.T, st *signin.Store, s signin.Server, wait time.Duration) (signin.State, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), wait)
	defer cancel()
	var browser sync.WaitGroup
	defer browser.Wait()
	return st.Login(ctx, s, func(address string) { browser.Go(func() { browse(address) }) })
}

func mustLogin(t *testing.T, st *signin.Store, s signin.Server) {
	t.Helper()
	state, err := login(t, st, s, 20*time.Second)
	require.NoError(t, err)
	require.True(t, state.In)
}

// change changes the file of a sign-in as time would.
func change(t *testing.T, dir string, f func(map[string]any)) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*.json"))
	require.NoError(t, err)
	require.Len(t, files, 1)
	raw, err := os.ReadFile(files[0])
	require.NoError(t, err)
	var r map[string]any
	require.NoError(t, json.Unmarshal(raw, &r))
	f(r)
	raw, err = json.Marshal(r)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(files[0], raw, 0o600))
}

func storeIn(t *testing.T) (string, *signin.Store) {
	dir := filepath.Join(t.TempDir(), "signins")
	return dir, signin.NewStore(dir)
}

// accepted reports whether the MCP server takes a token.
func accepted(t *testing.T, w *signintest.World, token string) bool {
	t.Helper()
	req, err := http.NewRequest(http.MethodGet, w.URL(), nil)
	require.NoError(t, err)
	req.Header.Set("Authorization", "Bearer "+token)
	resp, err := http.DefaultClient.Do(req)
	require.NoError(t, err)
	resp.Body.Close()
	return resp.StatusCode != http.StatusUnauthorized
}

func TestEveryKindOfClient(t *testing.T) {
	for name, set := range map[string]func(w *signintest.World, s *signin.Server){
		"a registered client without a secret": func(*signintest.World, *signin.Server) {},
		"a registered client with a secret":    func(w *signintest.World, _ *signin.Server) { w.Methods = []string{"client_secret_post"} },
		"a registered client that says its secret in a header": func(w *signintest.World, _ *signin.Server) {
			w.Methods = []string{"client_secret_basic"}
		},
		"the config's client": func(w *signintest.World, s *signin.Server) {
			w.Clients["mine"], w.NoRegister, s.Client = "", true, signin.Client{ID: "mine"}
		},
		"the config's client with a secret": func(w *signintest.World, s *signin.Server) {
			w.Clients["mi ne"], w.Methods, s.Client = "p&ss w+rd", []string{"client_secret_basic"}, signin.Client{ID: "mi ne", Secret: "p&ss w+rd"}
		},
	} {
		t.Run(name, func(t *testing.T) {
			w, _, s := world(t)
			dir, st := storeIn(t)
			w.Change(func(w *signintest.World) { set(w, &s) })
			mustLogin(t, st, s)
			token, err := st.Source(s).Token(t.Context())
			require.NoError(t, err)
			assert.True(t, accepted(t, w, token))
			w.RevokeAccess()
			fresh, err := st.Source(s).Renew(t.Context(), token)
			require.NoError(t, err)
			assert.True(t, accepted(t, w, fresh))
			assert.Empty(t, w.Wrong())
			if s.Client.Secret != "" {
				change(t, dir, func(r map[string]any) { assert.NotContains(t, fmt.Sprint(r), s.Client.Secret) })
			}
			other := s
			other.Client = signin.Client{ID: "another"}
			token, err = st.Source(other).Token(t.Context())
			require.NoError(t, err)
			assert.Empty(t, token, "another client has not signed in")
		})
	}
}

func TestTheClientIsRegisteredForItsRedirect(t *testing.T) {
	w, st, s := world(t)
	mustLogin(t, st, s)
	require.Len(t, w.Registers, 1)
	r := w.Registers[0]
	assert.Regexp(t, `^http://127\.0\.0\.1:\d+/callback$`, r["redirect_uris"].([]any)[0])
	assert.Equal(t, "native", r["application_type"])
	assert.Equal(t, []any{"authorization_code", "refresh_token"}, r["grant_types"])
}

func TestAFixedCallbackPort(t *testing.T) {
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	require.NoError(t, err)
	port := l.Addr().(*net.TCPAddr).Port
	require.NoError(t, l.Close())
	w, st, s := world(t)
	w.Change(func(w *signintest.World) { w.Clients["mine"] = "" })
	s.Client = signin.Client{ID: "mine", CallbackPort: port, Scopes: []string{"read", "more"}}
	var seen string
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	_, err = st.Login(ctx, s, func(address string) { seen = address; go browse(address) })
	require.NoError(t, err)
	u, err := url.Parse(seen)
	require.NoError(t, err)
	assert.Equal(t, fmt.Sprintf("http://localhost:%d/callback", port), u.Query().Get("redirect_uri"))
	assert.Equal(t, "read more", u.Query().Get("scope"))
	assert.Equal(t, s.URL, u.Query().Get("resource"))
	assert.Equal(t, "1", u.Query().Get("tenant"), "the endpoint's own query stays")
}

// What servers say that must not be believed. Each ends the sign-in with a
// message, before the person agrees to anything or before a token is kept.
func TestWhatIsNotBelieved(t *testing.T) {
	elsewhere := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		t.Errorf("%s %s was asked for elsewhere", r.Method, r.URL)
	}))
	defer elsewhere.Close()
	resource := func(f func(map[string]any)) func(*signintest.World) {
		return func(w *signintest.World) { w.EditResource = f }
	}
	issuer := func(f func(map[string]any)) func(*signintest.World) {
		return func(w *signintest.World) { w.EditIssuer = f }
	}
	set := func(key string, value any) func(map[string]any) { return func(d map[string]any) { d[key] = value } }
	callback := func(key, value string) func(*signintest.World) {
		return func(w *signintest.World) { w.EditCallback = func(p map[string]string) { p[key] = value } }
	}
	for name, c := range map[string]struct {
		set  func(*signintest.World)
		want string
	}{
		"a document about another server":    {resource(set("resource", elsewhere.URL+"/mcp")), "which is another server"},
		"a document about another path":      {resource(func(d map[string]any) { d["resource"] = d["resource"].(string) + "/deeper" }), "which is another server"},
		"a document about a like-named path": {resource(func(d map[string]any) { d["resource"] = strings.TrimSuffix(d["resource"].(string), "p") }), "which is another server"},
		"a document without a resource":      {resource(set("resource", "")), "which is another server"},
		"a document elsewhere":               {resource(set("redirect to", elsewhere.URL)), "which is not followed"},
		"no authorization server":            {resource(set("authorization_servers", []string{})), "names no authorization server"},
		"an authorization server over http":  {resource(set("authorization_servers", []string{"http://login.example.com"})), "is not https"},
		"an authorization server of a script": {resource(set("authorization_servers", []string{"javascript:alert(1)"})),
			"that is not the url of one"},
		"an issuer with another name":        {issuer(set("issuer", elsewhere.URL)), "does not match issuer"},
		"an issuer's document elsewhere":     {issuer(set("redirect to", elsewhere.URL)), "which is not followed"},
		"an issuer without PKCE":             {issuer(set("code_challenge_methods_supported", nil)), "does not implement PKCE"},
		"an issuer with plain PKCE":          {issuer(set("code_challenge_methods_supported", []string{"plain"})), "PKCE with S256"},
		"a token endpoint over http":         {issuer(set("token_endpoint", "http://tokens.example.com/")), "token_endpoint"},
		"no token endpoint":                  {issuer(set("token_endpoint", "")), "no token_endpoint"},
		"a page to agree at that is a file":  {issuer(set("authorization_endpoint", "file:///etc/passwd")), "authorization_endpoint"},
		"a user name in an endpoint":         {issuer(set("token_endpoint", "https://me:pw@tokens.example.com/")), "holds a user name"},
		"a document that is too long":        {resource(set("x", strings.Repeat("x", 2<<20))), "over 1 MB"},
		"an issuer's document too long":      {issuer(set("x", strings.Repeat("x", 2<<20))), "over 1 MB"},
		"no registration and no client":      {issuer(set("registration_endpoint", "")), `"client_id"`},
		"the answer of another issuer":       {callback("iss", elsewhere.URL), "from another one"},
		"an answer without its issuer":       {callback("iss", ""), "does not say who it is from"},
		"an answer without a code":           {callback("code", ""), "no code"},
		"a code that was not given":          {callback("code", "guessed"), "invalid_grant"},
		"a person who says no":               {callback("error", "access_denied"), "it refused: access_denied"},
		"a token endpoint that fails":        {func(w *signintest.World) { w.TokenStatus = 503 }, "503"},
		"a challenge that names no document": {func(w *signintest.World) { w.Challenge = `Bearer resource_metadata="` + w.MCP.URL + `/nothing"` }, "it is not there"},
		"a challenge that names a file":      {func(w *signintest.World) { w.Challenge = `Bearer resource_metadata="file:///etc/passwd"` }, "is not https"},
	} {
		t.Run(name, func(t *testing.T) {
			w, st, s := world(t)
			w.Change(c.set)
			_, err := login(t, st, s, 20*time.Second)
			require.ErrorContains(t, err, c.want)
			assert.NotContains(t, err.Error(), "\n")
			assert.Less(t, len(err.Error()), 1000)
			for _, secret := range append(w.Secrets(), "code-secret", "guessed") {
				assert.NotContains(t, err.Error(), secret)
			}
			state, err := st.State(s)
			require.NoError(t, err)
			assert.Equal(t, signin.State{}, state, "nothing is kept")
		})
	}
}

func TestAnotherStateIsNotThisSignIn(t *testing.T) {
	w, st, s := world(t)
	w.Change(func(w *signintest.World) { w.EditCallback = func(p map[string]string) { p["state"] = "forged" } })
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	pages := make(chan string, 1)
	_, err := st.Login(ctx, s, func(address string) {
		go func() { pages <- browse(address); cancel() }()
	})
	require.ErrorContains(t, err, "1 visits came back with a state that is not this sign-in's")
	assert.Contains(t, <-pages, "not the sign-in that tis waits for")
	assert.Zero(t, w.Count("/token"), "its code is worth nothing")

	// The right answer still counts after a forged one.
	w.Change(func(w *signintest.World) { w.EditCallback = nil })
	_, err = st.Login(t.Context(), s, func(address string) {
		u, _ := url.Parse(address)
		go func() {
			browse(u.Query().Get("redirect_uri") + "?code=forged&state=forged")
			browse(address)
		}()
	})
	require.NoError(t, err)
}

func TestNobodyComesBack(t *testing.T) {
	_, st, s := world(t)
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	_, err := st.Login(ctx, s, func(string) {})
	require.ErrorContains(t, err, "nobody signed in before the time was over")
}

func TestServersThatNeedOrGetNoSignIn(t *testing.T) {
	open := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/mcp" {
			http.NotFound(rw, r)
		}
	}))
	defer open.Close()
	_, st, _ := world(t)
	_, err := login(t, st, signin.Server{URL: open.URL + "/mcp"}, time.Second)
	assert.ErrorContains(t, err, "it asks for no sign-in")
	far := signin.Server{URL: "http://example.com/mcp"}
	_, err = login(t, st, far, time.Second)
	assert.ErrorContains(t, err, "want https://")
	assert.Nil(t, st.Source(far), "no token travels over http")
	_, err = login(t, st, signin.Server{URL: "https://"}, time.Second)
	assert.ErrorContains(t, err, "its url is not one")
}

// The first version of the chapter had no document of the resource.
func TestAServerThatIsItsOwnAuthorizationServer(t *testing.T) {
	var server *httptest.Server
	server = httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/mcp":
			rw.WriteHeader(http.StatusUnauthorized)
		case "/.well-known/oauth-authorization-server":
			rw.Header().Set("Content-Type", "application/json")
			fmt.Fprintf(rw, `{"issuer":%q,"authorization_endpoint":%q,"token_endpoint":%q,"code_challenge_methods_supported":["S256"]}`,
				server.URL, server.URL+"/authorize", server.URL+"/token")
		case "/authorize":
			q := r.URL.Query()
			http.Redirect(rw, r, q.Get("redirect_uri")+"?code=c&state="+q.Get("state"), http.StatusFound)
		case "/token":
			rw.Header().Set("Content-Type", "application/json")
			fmt.Fprint(rw, `{"access_token":"t","token_type":"bearer","expires_in":"3600"}`)
		default:
			http.NotFound(rw, r)
		}
	}))
	defer server.Close()
	_, st := storeIn(t)
	s := signin.Server{URL: server.URL + "/mcp", Client: signin.Client{ID: "mine"}}
	state, err := login(t, st, s, 20*time.Second)
	require.NoError(t, err)
	assert.WithinDuration(t, time.Now().Add(time.Hour), state.Expires, time.Minute)
	assert.False(t, state.Renewable)
}

// A server may greet everyone and guard only its tools: it is greeted until it
// says what it wants.
func TestAServerThatGuardsOnlyItsTools(t *testing.T) {
	w, st, s := world(t)
	next := w.MCP.Config.Handler
	w.MCP.Config.Handler = http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		r.Body = io.NopCloser(strings.NewReader(string(body)))
		if r.URL.Path == "/mcp" && !strings.Contains(string(body), "tools/list") {
			rw.Header().Set("Mcp-Session-Id", "s1")
			if r.Method == http.MethodDelete && r.Header.Get("Mcp-Session-Id") == "s1" {
				w.Change(func(w *signintest.World) { w.Counts["left"]++ })
			}
			return
		}
		next.ServeHTTP(rw, r)
	})
	w.Change(func(w *signintest.World) { w.Scope = "only the challenge says so" })
	var seen string
	_, err := st.Login(t.Context(), s, func(address string) { seen = address; go browse(address) })
	require.NoError(t, err)
	u, err := url.Parse(seen)
	require.NoError(t, err)
	assert.Equal(t, "only the challenge says so", u.Query().Get("scope"))
	assert.Equal(t, 1, w.Count("left"), "the session that the greeting began is over")
}
