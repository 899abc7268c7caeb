//lint:file-ignore SA1019 servers of older versions use what is deprecated

package mcpsource_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tools-in-shell/tis/catalog"
	"github.com/tools-in-shell/tis/mcpsource"
)

// newLibrary is a server with resources, and tools that ask back and tell much.
func newLibrary() *mcp.Server {
	s := mcp.NewServer(&mcp.Implementation{Name: "library", Version: "1"}, &mcp.ServerOptions{PageSize: 2})
	read := func(contents ...*mcp.ResourceContents) mcp.ResourceHandler {
		return func(context.Context, *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
			return &mcp.ReadResourceResult{Contents: contents}, nil
		}
	}
	for uri, contents := range map[string][]*mcp.ResourceContents{
		"docs://text":  {{URI: "docs://text", Text: "line <one>\nline two", MIMEType: "text/plain"}},
		"docs://empty": {{URI: "docs://empty", Text: "", MIMEType: "text/plain"}},
		"docs://image": {{URI: "docs://image", Blob: []byte("\x89PNG"), MIMEType: "image/png"}},
		"docs://zip":   {{URI: "docs://zip", Blob: []byte("PK"), MIMEType: "application/zip"}},
		"docs://both":  {{URI: "docs://both", Text: "a"}, {URI: "docs://both/2", Text: "b"}},
		"docs://none":  {},
	} {
		s.AddResource(&mcp.Resource{URI: uri, Name: "The " + uri[7:]}, read(contents...))
	}
	s.AddResourceTemplate(&mcp.ResourceTemplate{URITemplate: "docs://page/{n}", Name: "A page"}, func(_ context.Context, r *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
		return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{{URI: r.Params.URI, Text: "page of " + r.Params.URI}}}, nil
	})
	tool := func(name string, do func(ctx context.Context, r *mcp.CallToolRequest) (string, error)) {
		s.AddTool(&mcp.Tool{Name: name, InputSchema: json.RawMessage(`{"type":"object"}`)}, func(ctx context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			text, err := do(ctx, r)
			if err != nil {
				text = "failed: " + err.Error()
			}
			return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: text}}}, nil
		})
	}
	tool("ask_person", func(ctx context.Context, r *mcp.CallToolRequest) (string, error) {
		res, err := r.Session.Elicit(ctx, &mcp.ElicitParams{Message: "your password?"})
		return fmt.Sprint(res), err
	})
	tool("ask_model", func(ctx context.Context, r *mcp.CallToolRequest) (string, error) {
		res, err := r.Session.CreateMessage(ctx, &mcp.CreateMessageParams{MaxTokens: 5})
		return fmt.Sprint(res), err
	})
	tool("ask_roots", func(ctx context.Context, r *mcp.CallToolRequest) (string, error) {
		res, err := r.Session.ListRoots(ctx, nil)
		if err != nil {
			return "", err
		}
		text, err := json.Marshal(res.Roots)
		return string(text), err
	})
	tool("tell", func(ctx context.Context, r *mcp.CallToolRequest) (string, error) {
		var all error
		for i := range 200 {
			all = errors.Join(all,
				r.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{ProgressToken: "nobody's", Progress: float64(-i), Total: 1, Message: "\x1b[2J"}),
				r.Session.Log(ctx, &mcp.LoggingMessageParams{Level: "emergency", Data: map[string]any{"n": i}}))
		}
		return "told", all
	})
	tool("die", func(context.Context, *mcp.CallToolRequest) (string, error) { os.Exit(3); return "", nil })
	return s
}

func serveLibrary() {
	if err := newLibrary().Run(context.Background(), &mcp.StdioTransport{}); err != nil {
		os.Exit(1)
	}
}

// libraries are the server behind each transport.
func libraries(t *testing.T) map[string]mcpsource.ServerConfig {
	t.Helper()
	s := newLibrary()
	t.Cleanup(func() {
		for session := range s.Sessions() {
			session.Close()
		}
	})
	return map[string]mcpsource.ServerConfig{
		"a program": program(t, "library"),
		"a url":     listen(t, mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return s }, nil)),
	}
}

func read(t *testing.T, p *mcpsource.Pool, uri string) (catalog.Output, error) {
	t.Helper()
	input, err := json.Marshal(map[string]string{"uri": uri})
	require.NoError(t, err)
	return source(t, p, "x").Resources.Execute(t.Context(), input)
}

func TestResourcesAreRead(t *testing.T) {
	for name, cfg := range libraries(t) {
		t.Run(name, func(t *testing.T) {
			p := startPool(t, cfg)
			require.True(t, source(t, p, "x").Resources.Offered())
			for uri, want := range map[string][]catalog.Part{
				"docs://text":   {{Type: "text", Text: "line <one>\nline two"}},
				"docs://empty":  {{Type: "text"}},
				"docs://image":  {{Type: "image", Data: []byte("\x89PNG")}},
				"docs://zip":    {{Type: "resource", Data: []byte("PK")}},
				"docs://both":   {{Type: "text", Text: "a"}, {Type: "text", Text: "b"}},
				"docs://page/7": {{Type: "text", Text: "page of docs://page/7"}},
			} {
				out, err := read(t, p, uri)
				require.NoError(t, err, uri)
				require.Len(t, out.Parts, len(want), uri)
				for i, part := range out.Parts {
					assert.Equal(t, want[i].Type, part.Type, uri)
					assert.Equal(t, want[i].Text, part.Text, uri)
					assert.Equal(t, want[i].Data, part.Data, uri)
					assert.Empty(t, part.BadData)
				}
			}
			for _, uri := range []string{"docs://nowhere", "docs://none"} {
				_, err := read(t, p, uri)
				assert.Equal(t, catalog.ToolError, failure(t, err).Code, uri)
			}
			list, err := source(t, p, "x").Resources.List(t.Context())
			require.NoError(t, err)
			assert.Len(t, list, 7, "of all pages")
			assert.Equal(t, catalog.Resource{URI: "docs://page/{n}", Name: "A page", Template: true}, list[6])
		})
	}
}

func TestAServerWithoutResourcesOffersNone(t *testing.T) {
	p := startPool(t, program(t, "sdk"))
	assert.False(t, source(t, p, "x").Resources.Offered())
}

func TestResourcesOfAServerThatDied(t *testing.T) {
	p := startPool(t, program(t, "library"))
	_, err := call(t, p, "die", `{}`)
	require.Error(t, err)
	out, err := read(t, p, "docs://text")
	require.NoError(t, err, "it is started again")
	assert.Equal(t, "line <one>\nline two", out.Parts[0].Text)
}

func TestServersThatAskBack(t *testing.T) {
	for name, cfg := range libraries(t) {
		t.Run(name, func(t *testing.T) {
			p := startPool(t, cfg)
			for tool, want := range map[string]string{
				"ask_person": "not support elicitation", // the SDK on the other side knows already
				"ask_model":  "there is no model to ask",
				"ask_roots":  "its config names none",
			} {
				out, err := call(t, p, tool, `{}`)
				require.NoError(t, err, tool)
				assert.Contains(t, out.Parts[0].Text, "failed: ", tool)
				assert.Contains(t, out.Parts[0].Text, want, tool)
			}
		})
	}
}

// A server that asks without looking at what was agreed gets the reason, and
// nothing that it says besides does any harm.
func TestServersThatAskAndTellAtRandom(t *testing.T) {
	cfg := program(t, "plain", "TEST_PAGES", `{"-":{"tools":[{"name":"asks"},{"name":"echo"}]}}`)
	p := startPool(t, cfg)
	for range 2 {
		out, err := call(t, p, "asks", `{}`)
		require.NoError(t, err)
		assert.Equal(t, "asked", out.Parts[0].Text)
	}
	answers := func() (answers []string) {
		for line := range strings.Lines(received(t, cfg)) {
			if strings.Contains(line, `"error"`) {
				answers = append(answers, line)
			}
		}
		return answers
	}
	require.Eventually(t, func() bool { return len(answers()) >= 8 }, 10*time.Second, 5*time.Millisecond)
	all := strings.Join(answers(), "")
	for _, why := range []string{"there is no model to ask", "nobody is asked on behalf of a server", "its config names none"} {
		assert.Equal(t, 2, strings.Count(all, why), why)
	}
	out, err := call(t, p, "echo", `{"n":1}`)
	require.NoError(t, err)
	assert.Equal(t, `{"n":1}`, out.Parts[0].Text)
	assert.Equal(t, 1, asked(t, cfg, "initialize"), "none of it ends the connection")
}

func TestRootsThatTheConfigNames(t *testing.T) {
	for name, cfg := range libraries(t) {
		t.Run(name, func(t *testing.T) {
			cfg.Roots = []string{"/home/me/a b"}
			p := startPool(t, cfg)
			out, err := call(t, p, "ask_roots", `{}`)
			require.NoError(t, err)
			assert.JSONEq(t, `[{"name":"a b","uri":"file:///home/me/a%20b"}]`, out.Parts[0].Text)
			out, err = call(t, p, "ask_model", `{}`)
			require.NoError(t, err)
			assert.Contains(t, out.Parts[0].Text, "there is no model to ask", "and nothing else")
		})
	}
}

func TestWhatServersTellIsPassedOver(t *testing.T) {
	for name, cfg := range libraries(t) {
		t.Run(name, func(t *testing.T) {
			p := startPool(t, cfg)
			for range 3 {
				out, err := call(t, p, "tell", `{}`)
				require.NoError(t, err)
				assert.Equal(t, "told", out.Parts[0].Text)
			}
		})
	}
}
