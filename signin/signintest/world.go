// Package signintest is a remote MCP server with its authorization server, for
// tests: both real, on sockets of this machine, strict about what the standards
// ask of a client, and able to misbehave. Start reading at World.
package signintest

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// World is an MCP server that wants a sign-in, and the authorization server
// that it trusts. The fields may be set before the first request, or under
// Change.
type World struct {
	MCP  *httptest.Server // the MCP server is at /mcp
	Auth *httptest.Server

	mu sync.Mutex

	Lifetime    time.Duration // of tokens
	NoRefresh   bool          // no refresh tokens are given
	TokenStatus int           // when not 0, the token endpoint fails with it
	Scope       string        // that the MCP server wants
	Methods     []string      // of client authentication
	Clients     map[string]string
	NoRegister  bool

	// What the documents say, changed at the last moment.
	EditResource func(map[string]any)
	EditIssuer   func(map[string]any)
	// EditCallback changes the parameters of the way back from the browser.
	EditCallback func(map[string]string)
	// Challenge replaces the MCP server's own.
	Challenge string

	Counts    map[string]int // of requests, by path
	Faults    []string       // what the client did wrong
	Registers []map[string]any

	codes   map[string]grant
	tokens  map[string]grant // by access token
	refresh map[string]grant
	used    map[string]bool // refresh tokens that were used before
	redirs  map[string]string
	next    int
	tools   *mcp.Server
}

// grant is what a person agreed to.
type grant struct {
	client, redirect, challenge, resource, scope string
	until                                        time.Time
}

// New starts both servers.
func New() *World {
	w := &World{
		Lifetime: time.Hour, Scope: "read", Methods: []string{"none"}, Clients: map[string]string{}, Counts: map[string]int{},
		codes: map[string]grant{}, tokens: map[string]grant{}, refresh: map[string]grant{}, used: map[string]bool{}, redirs: map[string]string{},
	}
	w.tools = mcp.NewServer(&mcp.Implementation{Name: "guarded", Version: "1"}, nil)
	mcp.AddTool(w.tools, &mcp.Tool{Name: "whoami", Description: "Say who asks.", Annotations: &mcp.ToolAnnotations{ReadOnlyHint: true}},
		func(context.Context, *mcp.CallToolRequest, struct{}) (*mcp.CallToolResult, any, error) {
			return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: "a person"}}}, nil, nil
		})
	w.Auth = httptest.NewServer(w.counted(w.authorization()))
	w.MCP = httptest.NewServer(w.counted(w.guarded()))
	return w
}

// Close ends both.
func (w *World) Close() {
	for s := range w.tools.Sessions() {
		s.Close()
	}
	w.MCP.Close()
	w.Auth.Close()
}

// URL is the MCP server's.
func (w *World) URL() string { return w.MCP.URL + "/mcp" }

// Change changes the world.
func (w *World) Change(f func(w *World)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	f(w)
}

// Count is how often a path was asked for.
func (w *World) Count(path string) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.Counts[path]
}

// Wrong is what the client did wrong.
func (w *World) Wrong() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return append([]string{}, w.Faults...)
}

// RevokeAccess makes the access tokens worthless; refresh tokens go on.
func (w *World) RevokeAccess() { w.Change(func(w *World) { clear(w.tokens) }) }

// RevokeAll makes every token worthless.
func (w *World) RevokeAll() { w.Change(func(w *World) { clear(w.tokens); clear(w.refresh) }) }

// Secrets are all tokens that are good now.
func (w *World) Secrets() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	var out []string
	for t := range w.tokens {
		out = append(out, t)
	}
	for t := range w.refresh {
		out = append(out, t)
	}
	return out
}

func (w *World) counted(h http.Handler) http.Handler {
	return http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		w.mu.Lock()
		w.Counts[r.URL.Path]++
		if r.URL.Path != "/mcp" && strings.HasPrefix(r.Header.Get("Authorization"), "Bearer ") {
			w.Faults = append(w.Faults, "a token was sent to "+r.URL.Path)
		}
		w.mu.Unlock()
		h.ServeHTTP(rw, r)
	})
}

// guarded is the MCP server and its document.
func (w *World) guarded() http.Handler {
	mux := http.NewServeMux()
	inner := mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return w.tools }, nil)
	mux.HandleFunc("/mcp", func(rw http.ResponseWriter, r *http.Request) {
		token, _ := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
		w.mu.Lock()
		g, ok := w.tokens[token]
		challenge, scope := w.Challenge, w.Scope
		w.mu.Unlock()
		if challenge == "" {
			challenge = `Bearer resource_metadata="` + w.MCP.URL + `/.well-known/oauth-protected-resource/mcp", scope="` + scope + `"`
		}
		switch {
		case !ok || time.Now().After(g.until) || g.resource != w.URL():
			rw.Header().Set("WWW-Authenticate", challenge)
			http.Error(rw, "sign in; your token was "+token, http.StatusUnauthorized)
		case !covers(g.scope, scope):
			rw.Header().Set("WWW-Authenticate", `Bearer error="insufficient_scope", scope="`+scope+`"`)
			http.Error(rw, "more rights", http.StatusForbidden)
		default:
			inner.ServeHTTP(rw, r)
		}
	})
	mux.HandleFunc("GET /.well-known/oauth-protected-resource/mcp", func(rw http.ResponseWriter, _ *http.Request) {
		doc := map[string]any{"resource": w.URL(), "authorization_servers": []string{w.Auth.URL}, "scopes_supported": []string{"read"}}
		w.edited(rw, doc, func(w *World) func(map[string]any) { return w.EditResource })
	})
	return mux
}

func covers(have, want string) bool {
	all := " " + have + " "
	for s := range strings.FieldsSeq(want) {
		if !strings.Contains(all, " "+s+" ") {
			return false
		}
	}
	return true
}
