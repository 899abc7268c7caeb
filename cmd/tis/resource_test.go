package main

import (
	"context"
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The test binary is a server with resources, too.
const asLibrary = "TIS_TEST_AS_LIBRARY"

// library is that server.
func library() {
	s := mcp.NewServer(&mcp.Implementation{Name: "library", Version: "1"}, nil)
	for uri, contents := range map[string]*mcp.ResourceContents{
		"docs://guide": {URI: "docs://guide", Text: "The guide."},
		"docs://it's":  {URI: "docs://it's", Text: "Quoted."},
		"docs://map":   {URI: "docs://map", Blob: []byte("\x89PNG"), MIMEType: "image/png"},
	} {
		s.AddResource(&mcp.Resource{URI: uri, Name: uri}, func(context.Context, *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
			return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{contents}}, nil
		})
	}
	yes := true
	s.AddTool(&mcp.Tool{Name: "find", InputSchema: json.RawMessage(`{"type":"object"}`), Annotations: &mcp.ToolAnnotations{ReadOnlyHint: true}},
		func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return &mcp.CallToolResult{Content: []mcp.Content{
				&mcp.TextContent{Text: "Found:"}, &mcp.ResourceLink{URI: "docs://guide", Name: "Guide"}, &mcp.ResourceLink{URI: "docs://it's", Name: "Quotes"},
			}}, nil
		})
	s.AddTool(&mcp.Tool{Name: "burn", InputSchema: json.RawMessage(`{"type":"object"}`), Annotations: &mcp.ToolAnnotations{DestructiveHint: &yes}},
		func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return &mcp.CallToolResult{Content: []mcp.Content{}}, nil
		})
	s.Run(context.Background(), &mcp.StdioTransport{})
}

// shelves is a place whose server is the library. Rules say what is allowed.
func shelves(t *testing.T, rules ...any) *place {
	t.Helper()
	exe, err := os.Executable()
	require.NoError(t, err)
	p := &place{t: t, dir: t.TempDir()}
	p.config = map[string]any{"rules": rules, "mcpServers": map[string]any{"lib": map[string]any{"command": exe, "env": map[string]any{asLibrary: "1"}}}}
	p.save()
	return p
}

var readable = map[string]any{"tool": "lib --resource", "decision": "allow"}

// Reading a resource is judged as a call of a read-only tool that reaches
// anywhere is: before the start where it is written out, else as it happens.
func TestReadingAResourceIsJudged(t *testing.T) {
	p := shelves(t)
	exit, stdout, stderr := p.script("echo begun\ntools lib --resource docs://guide\n")
	assert.Equal(t, 1, exit)
	assert.Empty(t, stdout, "nothing of it runs")
	assert.Contains(t, stderr, `stopped needs_approval, before the start: tools lib --resource {"uri":"docs://guide"}`)
	id := strings.Fields(stderr[strings.Index(stderr, "approvals answer "):])[2]
	_, stdout, _ = p.run("approvals", "answer", id, "allow")
	assert.Contains(t, stdout, `allow: tools lib --resource {"uri":"docs://guide"}`)
	exit, stdout, stderr = p.script("echo begun\ntools lib --resource docs://guide\n")
	assert.Equal(t, 0, exit, stderr)
	assert.Equal(t, "begun\nThe guide.\n", stdout)
	exit, _, _ = p.script("tools lib --resource docs://guide\n")
	assert.Equal(t, 1, exit, "the answer was for once")

	exit, stdout, stderr = p.script("echo begun\nu=docs://map\ntools lib --resource \"$u\"\necho after\n")
	assert.Equal(t, 1, exit)
	assert.Equal(t, "begun\n", stdout)
	assert.Contains(t, stderr, `stopped needs_approval: tools lib --resource {"uri":"docs://map"}`)
}

func TestResourcesInScripts(t *testing.T) {
	p := shelves(t, readable)
	exit, stdout, stderr := p.script(`tools lib --resource docs://guide
tools lib --resource=docs://map
tools lib find | jq -r '.[] | select(.uri) | .uri' | while read -r u; do tools lib --resource "$u"; done
tools lib --resource docs://nowhere || echo "none: $?"
tools lib burn
`)
	assert.Equal(t, 1, exit)
	assert.Empty(t, stdout, "the gated call is seen first: "+stderr)
	exit, stdout, stderr = p.script(`tools lib --resource docs://guide
tools lib --resource=docs://map
tools lib find | jq -r '.[] | select(.uri) | .uri' | while read -r u; do tools lib --resource "$u"; done
tools lib --resource docs://nowhere || echo "none: $?"
t=burn; tools lib $t
`)
	assert.Equal(t, 1, exit)
	assert.Equal(t, "The guide.\nThe guide.\nQuoted.\nnone: 1\n", stdout, stderr)
	assert.Contains(t, stderr, "tools: saved tool-images/resource-1.png\n")
	assert.Equal(t, "\x89PNG", p.readText("work/tool-images/resource-1.png"))
	assert.Contains(t, stderr, "tools: to read it: tools lib --resource docs://guide\n")
	assert.Contains(t, stderr, `tools: to read it: tools lib --resource 'docs://it'\''s'`+"\n")
	assert.Contains(t, stderr, `{"error":{"code":"tool_error"`)
	assert.Contains(t, stderr, "read    6 read-only calls\n")
}

func TestHelpAndPlanOfResources(t *testing.T) {
	p := shelves(t)
	exit, stdout, _ := p.script("tools lib --help; tools lib --resource\n")
	assert.Equal(t, 0, exit, "a list is no call, and asks nobody")
	assert.Contains(t, stdout, "tools lib --resource URI reads one")
	assert.Contains(t, stdout, "docs://guide")
	p.write("plan.sh", "tools lib --resource docs://guide")
	_, stdout, stderr := p.run("plan", "-c", p.file("tis.json"), p.file("plan.sh"))
	assert.Contains(t, stdout, `"tool":"tools lib --resource"`, stderr)
	assert.Contains(t, stdout, `"risk":"needs_approval"`)

	// The same without the server, from what it listed once.
	_, snapshot, _ := p.run("snapshot", "-c", p.file("tis.json"))
	p.write("catalog.json", snapshot)
	_, again, stderr := p.run("plan", "--catalog", p.file("catalog.json"), p.file("plan.sh"))
	assert.Equal(t, stdout, again, stderr)
}
