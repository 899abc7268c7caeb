package signin

import (
	"net/url"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func parsed(t *testing.T, text string) *url.URL {
	t.Helper()
	u, err := url.Parse(text)
	require.NoError(t, err)
	return u
}

func TestWhereAServerMaySendTis(t *testing.T) {
	public := newWeb(parsed(t, "https://mcp.example.com/mcp"))
	local := newWeb(parsed(t, "http://localhost:8080/mcp"))
	for address, ok := range map[string]bool{
		"93.184.216.34:443": true, "10.1.2.3:443": true, "[2606:4700::1]:443": true,
		"127.0.0.1:443": false, "[::1]:443": false, "[::ffff:127.0.0.1]:443": false, "169.254.169.254:443": false, "0.0.0.0:443": false, "[fe80::1]:443": false,
	} {
		assert.Equal(t, ok, public.allowed("tcp", address, nil) == nil, address)
		assert.NoError(t, local.allowed("tcp", address, nil), address)
	}
	for text, ok := range map[string]bool{
		"https://login.example.com": true, "http://login.example.com": false, "http://localhost:1": false, "file:///etc/passwd": false, "https://u:p@login.example.com": false,
	} {
		assert.Equal(t, ok, public.reachable(parsed(t, text)) == nil, text)
	}
	assert.NoError(t, local.reachable(parsed(t, "http://127.0.0.1:9")))
	assert.Error(t, local.reachable(parsed(t, "http://localhost.example.com")))
}

func TestWhatADocumentCovers(t *testing.T) {
	w := newWeb(parsed(t, "https://mcp.example.com/team/mcp"))
	for resource, ok := range map[string]bool{
		"https://mcp.example.com/team/mcp": true, "https://mcp.example.com/team/mcp/": true, "https://mcp.example.com/team": true,
		"https://mcp.example.com": true, "https://MCP.example.com:443/": true,
		"https://mcp.example.com/tea": false, "https://mcp.example.com/team/mcp/x": false, "https://mcp.example.com/other/../team/mc": false,
		"http://mcp.example.com/team/mcp": false, "https://example.com/team/mcp": false, "https://mcp.example.com:444/": false,
		"https://mcp.example.com/team/mcp#x": false, "https://x@mcp.example.com/team/mcp": false, "https://mcp.example.com/team/mcp?t=2": false, "": false, "%": false,
	} {
		assert.Equal(t, ok, w.covers(resource) == nil, resource)
	}
}

// What servers say stands in messages of one line, whatever it is.
func FuzzWhatServersSay(f *testing.F) {
	f.Add([]byte(`{"error":"a\nb","error_description":"\u0000"}`), 400)
	f.Fuzz(func(t *testing.T, answer []byte, status int) {
		text := refusalOf(status, answer).Error()
		assert.NotContains(t, text, "\n")
		assert.Less(t, len(text), 500)
		assert.True(t, utf8.ValidString(text))
	})
}
