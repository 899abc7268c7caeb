package mcpsource_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tools-in-shell/tis/catalog"
	"github.com/tools-in-shell/tis/mcpsource"
)

// listen serves a handler and is a server's config for it.
func listen(t *testing.T, h http.Handler) mcpsource.ServerConfig {
	t.Helper()
	server := httptest.NewServer(h)
	t.Cleanup(server.Close)
	return mcpsource.ServerConfig{Name: "x", URL: server.URL + "/mcp", StartTimeout: 10 * time.Second, CallTimeout: 10 * time.Second}
}

func sdkHandler(t *testing.T, opts *mcp.StreamableHTTPOptions) http.Handler {
	server := newSDKServer()
	t.Cleanup(func() {
		for s := range server.Sessions() { // of clients that could not say goodbye
			s.Close()
		}
	})
	return mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return server }, opts)
}

func TestHTTPServersOfTheSDK(t *testing.T) {
	for name, opts := range map[string]*mcp.StreamableHTTPOptions{
		"streams of events":      nil,
		"answers of one message": {JSONResponse: true},
		"without sessions":       {Stateless: true},
	} {
		t.Run(name, func(t *testing.T) {
			var versions sync.Map
			h := sdkHandler(t, opts)
			p := startPool(t, listen(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				versions.Store(r.Header.Get("Mcp-Protocol-Version"), true)
				h.ServeHTTP(w, r)
			})))
			assert.ElementsMatch(t, []string{"ask_roots", "echo", "grow", "wait"}, names(source(t, p, "x")))
			const input = `{"z":1.10,"a":12345678901234567890,"t":"<&>"}`
			out, err := call(t, p, "echo", input)
			require.NoError(t, err)
			assert.Equal(t, input, out.Parts[0].Text)
			_, known := versions.Load("2025-11-25")
			assert.True(t, known, "requests after the handshake name its version")
		})
	}
}

func TestHTTPListChanges(t *testing.T) {
	p := startPool(t, listen(t, sdkHandler(t, nil)))
	_, err := call(t, p, "grow", `{}`)
	require.NoError(t, err)
	require.Eventually(t, func() bool { return len(source(t, p, "x").Tools) == 5 }, 5*time.Second, 5*time.Millisecond)
}

func TestHTTPCancellation(t *testing.T) {
	var body sync.Map
	h := sdkHandler(t, nil)
	p := startPool(t, listen(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		if strings.Contains(string(b), "notifications/cancelled") {
			body.Store("cancelled", true)
		}
		r.Body = io.NopCloser(strings.NewReader(string(b)))
		h.ServeHTTP(w, r)
	})))
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	quickly(t, 2*time.Second, func() {
		_, err := callIn(ctx, t, p, "wait", `{}`)
		assert.ErrorIs(t, err, context.DeadlineExceeded)
	})
	assert.Eventually(t, func() bool { _, ok := body.Load("cancelled"); return ok }, 5*time.Second, 5*time.Millisecond)
	_, err := call(t, p, "echo", `{}`)
	require.NoError(t, err)
}

func TestAnHTTPServerThatForgotTheSessionGetsANewOne(t *testing.T) {
	var h atomic.Value
	h.Store(sdkHandler(t, nil))
	p := startPool(t, listen(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { h.Load().(http.Handler).ServeHTTP(w, r) })))
	echo := tool(t, p, "x", "echo")
	h.Store(sdkHandler(t, nil)) // started again, it knows no session
	out, err := echo.Executor.Execute(t.Context(), json.RawMessage(`{"a":1}`))
	require.NoError(t, err)
	assert.Equal(t, `{"a":1}`, out.Parts[0].Text)
}

// hand answers an HTTP server's requests by hand: the handshake and the list as
// they should be, tools/call as the test likes.
func hand(t *testing.T, call func(w http.ResponseWriter, r *http.Request, id string)) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodPost {
			w.WriteHeader(http.StatusMethodNotAllowed)
			return
		}
		var m struct {
			ID     json.RawMessage `json:"id"`
			Method string          `json:"method"`
			Params struct {
				Cursor *string `json:"cursor"`
			} `json:"params"`
		}
		if err := json.NewDecoder(r.Body).Decode(&m); err != nil {
			t.Errorf("a request is no message: %v", err)
		}
		switch {
		case m.ID == nil:
			w.WriteHeader(http.StatusAccepted)
		case m.Method == "initialize":
			answerJSON(w, string(m.ID), `"result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"h","version":"1"}}`)
		case m.Method == "tools/list" && m.Params.Cursor == nil:
			answerJSON(w, string(m.ID), `"result":{"tools":[{"name":"go"}],"nextCursor":""}`)
		case m.Method == "tools/list":
			answerJSON(w, string(m.ID), `"result":{"tools":[{"name":"second"}]}`)
		case m.Method == "tools/call":
			call(w, r, string(m.ID))
		}
	})
}

func answerJSON(w http.ResponseWriter, id, body string) {
	w.Header().Set("Content-Type", "application/json")
	fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,%s}`, id, body)
}

func TestHTTPAnswers(t *testing.T) {
	result := `"result":{"content":[],"structuredContent":{"z":1.10,"a":1e400}}`
	events := func(w http.ResponseWriter) { w.Header().Set("Content-Type", "text/event-stream") }
	for _, tc := range []struct {
		name string
		call func(w http.ResponseWriter, r *http.Request, id string)
		want string // the structured result
		err  *catalog.Error
	}{
		{"one message", func(w http.ResponseWriter, _ *http.Request, id string) { answerJSON(w, id, result) }, `{"z":1.10,"a":1e400}`, nil},
		{"an event", func(w http.ResponseWriter, _ *http.Request, id string) {
			events(w)
			fmt.Fprintf(w, "event: message\r\ndata: {\"jsonrpc\":\"2.0\",\r\ndata: \"id\":%s,%s}\r\n\r\n", id, result)
		}, `{"z":1.10,"a":1e400}`, nil},
		{"other messages first", func(w http.ResponseWriter, _ *http.Request, id string) {
			events(w)
			fmt.Fprint(w, ": hello\n\ndata: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\",\"params\":{\"progressToken\":1,\"progress\":1}}\n\n")
			fmt.Fprint(w, "data: {\"jsonrpc\":\"2.0\",\"id\":987,\"result\":{\"content\":[]}}\n\n")
			fmt.Fprintf(w, "data: {\"jsonrpc\":\"2.0\",\"id\":%s,%s}\n\n", id, result)
		}, `{"z":1.10,"a":1e400}`, nil},
		{"an error of the protocol", func(w http.ResponseWriter, _ *http.Request, id string) {
			answerJSON(w, id, `"error":{"code":-32000,"message":"bad luck"}`)
		}, "", &catalog.Error{Code: catalog.ToolError, Message: "bad luck"}},
		{"an error of the protocol with a status", func(w http.ResponseWriter, _ *http.Request, _ string) {
			w.WriteHeader(http.StatusBadRequest)
			fmt.Fprint(w, `{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"odd request"}}`)
		}, "", &catalog.Error{Code: catalog.ToolError, Message: "odd request"}},
		{"a sign-in", func(w http.ResponseWriter, _ *http.Request, _ string) { w.WriteHeader(http.StatusUnauthorized) },
			"", &catalog.Error{Code: catalog.ConnectionRequired, Message: "the server x asks for a sign-in"}},
		{"more rights", func(w http.ResponseWriter, _ *http.Request, _ string) {
			w.Header().Set("WWW-Authenticate", `Bearer error="insufficient_scope"`)
			w.WriteHeader(http.StatusForbidden)
		}, "", &catalog.Error{Code: catalog.ConnectionRequired, Message: "the server x asks for a sign-in"}},
		{"a refusal", func(w http.ResponseWriter, _ *http.Request, _ string) { http.Error(w, "no", http.StatusForbidden) },
			"", &catalog.Error{Code: catalog.ToolError, Message: "the server x refused the call: it answered 403 Forbidden"}},
		{"a fault that passes", func(w http.ResponseWriter, _ *http.Request, _ string) {
			w.WriteHeader(http.StatusServiceUnavailable)
		}, "", &catalog.Error{Code: catalog.ToolError, Message: "outcome unknown: the server x failed: it answered 503 Service Unavailable", Retryable: true}},
		{"a stream that ends early", func(w http.ResponseWriter, _ *http.Request, _ string) { events(w) },
			"", &catalog.Error{Code: catalog.ToolError, Message: "outcome unknown: the server x failed during the call", Retryable: true}},
		{"a connection that breaks", func(http.ResponseWriter, *http.Request, string) { panic(http.ErrAbortHandler) },
			"", &catalog.Error{Code: catalog.ToolError, Message: "outcome unknown: the server x closed the connection during the call", Retryable: true}},
		{"a page of a person's", func(w http.ResponseWriter, _ *http.Request, _ string) { fmt.Fprint(w, "<html>") },
			"", &catalog.Error{Code: catalog.ToolError, Message: "outcome unknown: the server x failed during the call", Retryable: true}},
		{"a message without end", func(w http.ResponseWriter, _ *http.Request, id string) {
			w.Header().Set("Content-Type", "application/json")
			flood(w)
		}, "", &catalog.Error{Code: catalog.ToolError, Message: "its answer is over the limit of 64 MiB"}},
		{"an event without end", func(w http.ResponseWriter, _ *http.Request, id string) {
			events(w)
			fmt.Fprint(w, "data: ")
			flood(w)
		}, "", &catalog.Error{Code: catalog.ToolError, Message: "its answer is over the limit of 64 MiB"}},
		{"a redirection elsewhere", func(w http.ResponseWriter, r *http.Request, _ string) {
			http.Redirect(w, r, "http://elsewhere.invalid/", http.StatusTemporaryRedirect)
		}, "", &catalog.Error{Code: catalog.ToolError, Message: "it redirects to http://elsewhere.invalid", Retryable: true}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			p := startPool(t, listen(t, hand(t, tc.call)))
			assert.Equal(t, []string{"go", "second"}, names(source(t, p, "x")), "the empty cursor is followed")
			out, err := call(t, p, "go", `{}`)
			if tc.err == nil {
				require.NoError(t, err)
				assert.Equal(t, tc.want, string(out.Structured))
				return
			}
			ce := failure(t, err)
			assert.Equal(t, tc.err.Code, ce.Code)
			assert.Equal(t, tc.err.Retryable, ce.Retryable)
			assert.Contains(t, ce.Message, tc.err.Message)
		})
	}
}

// flood writes until nobody reads.
func flood(w io.Writer) {
	part := []byte(strings.Repeat("x", 1<<20))
	for range 100 {
		if _, err := w.Write(part); err != nil {
			return
		}
	}
}

func TestHTTPServersThatNeverComeUp(t *testing.T) {
	for _, tc := range []struct {
		name string
		h    http.HandlerFunc
		code catalog.Code
		want string
	}{
		{"a sign-in", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("WWW-Authenticate", "Bearer")
			w.WriteHeader(http.StatusUnauthorized)
		}, catalog.ConnectionRequired, "the server x asks for a sign-in"},
		{"not found", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNotFound) }, catalog.Unavailable, "it answered 404 Not Found"},
		{"of the old kind", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusMethodNotAllowed) },
			catalog.Unavailable, "is this the url of a streamable HTTP server?"},
		{"a page for people", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/html")
			fmt.Fprint(w, "<html>")
		}, catalog.Unavailable, `unsupported content type "text/html"`},
		{"no message", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprint(w, "hello")
		}, catalog.Unavailable, "failed to decode"},
		{"no answer", func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }, catalog.Unavailable, "it did not answer in 1s"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			cfg := listen(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				io.Copy(io.Discard, r.Body)
				tc.h(w, r)
			}))
			cfg.StartTimeout = time.Second
			src := source(t, startPool(t, cfg), "x")
			require.NotNil(t, src.Unavailable)
			assert.Equal(t, tc.code, src.Unavailable.Code)
			assert.Equal(t, tc.code == catalog.Unavailable, src.Unavailable.Retryable)
			assert.Contains(t, src.Unavailable.Message, tc.want)
			assert.False(t, src.Loaded)
		})
	}
	t.Run("nobody there", func(t *testing.T) {
		cfg := mcpsource.ServerConfig{Name: "x", URL: "http://127.0.0.1:1/mcp?api_key=s3cr3t", StartTimeout: 5 * time.Second}
		src := source(t, startPool(t, cfg), "x")
		assert.Contains(t, src.Unavailable.Message, "it cannot be reached: dial tcp 127.0.0.1:1: connect: connection refused")
		assert.NotContains(t, src.Unavailable.Message, "s3cr3t")
	})
	t.Run("no url", func(t *testing.T) {
		src := source(t, startPool(t, mcpsource.ServerConfig{Name: "x", URL: "example.com/mcp"}), "x")
		assert.Contains(t, src.Unavailable.Message, "its url is not one")
	})
}

func TestAnOnDemandServerThatWantsASignInIsNotLoaded(t *testing.T) {
	cfg := listen(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusUnauthorized) }))
	cfg.OnDemand = true
	p := startPool(t, cfg)
	_, err := source(t, p, "x").Load(t.Context())
	assert.Equal(t, catalog.ConnectionRequired, failure(t, err).Code)
	assert.False(t, source(t, p, "x").Loaded)
}

func TestHeadersGoToTheirHostOnly(t *testing.T) {
	var stolen atomic.Bool
	other := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { stolen.Store(r.Header.Get("Authorization") != "") }))
	defer other.Close()
	var seen atomic.Value
	h := hand(t, func(w http.ResponseWriter, r *http.Request, _ string) {
		seen.Store(r.Header.Get("Authorization"))
		http.Redirect(w, r, other.URL, http.StatusPermanentRedirect)
	})
	cfg := listen(t, h)
	cfg.Headers = map[string]string{"Authorization": "Bearer s3cr3t"}
	p := startPool(t, cfg)
	_, err := call(t, p, "go", `{}`)
	require.Error(t, err)
	assert.NotContains(t, err.Error(), "s3cr3t")
	assert.Equal(t, "Bearer s3cr3t", seen.Load())
	assert.False(t, stolen.Load())
}

func TestAStreamOfNotificationsThatNeverOpensDoesNoHarm(t *testing.T) {
	h := hand(t, func(w http.ResponseWriter, _ *http.Request, id string) { answerJSON(w, id, `"result":{"content":[]}`) })
	cfg := listen(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet {
			<-r.Context().Done()
			return
		}
		h.ServeHTTP(w, r)
	}))
	cfg.StartTimeout = 15 * time.Second
	p := startPool(t, cfg)
	_, err := call(t, p, "go", `{}`)
	require.NoError(t, err)
}

func TestAStreamOfNotificationsThatBreaksEndsNoCall(t *testing.T) {
	var opened atomic.Int32
	h := hand(t, func(w http.ResponseWriter, _ *http.Request, id string) {
		time.Sleep(3 * time.Second)
		answerJSON(w, id, `"result":{"content":[],"structuredContent":1}`)
	})
	p := startPool(t, listen(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet {
			if opened.Add(1) > 1 {
				w.WriteHeader(http.StatusBadGateway)
				return
			}
			w.Header().Set("Content-Type", "text/event-stream")
			w.(http.Flusher).Flush()
			return
		}
		h.ServeHTTP(w, r)
	})))
	out, err := call(t, p, "go", `{}`)
	require.NoError(t, err)
	assert.Equal(t, "1", string(out.Structured))
	assert.Greater(t, opened.Load(), int32(1))
}
