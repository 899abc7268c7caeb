package config_test

import (
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tools-in-shell/tis/config"
)

func TestHowToSignIn(t *testing.T) {
	for text, want := range map[string]config.OAuth{
		`{}`:    {},
		`false`: {},
		`{"client_id": "a", "client_secret": "${SECRET}", "scopes": ["r", "w"]}`: {ClientID: "a", ClientSecret: "s3", Scopes: []string{"r", "w"}},
		`{"clientId": "a", "callbackPort": 8080, "scope": "r w"}`:                {ClientID: "a", CallbackPort: 8080, Scopes: []string{"r", "w"}},
	} {
		cfg, err := load(t, `{"mcpServers": {"x": {"url": "https://x", "oauth": `+text+`}}}`, map[string]string{"SECRET": "s3"})
		require.NoError(t, err, text)
		assert.Equal(t, want, cfg.Servers[0].OAuth, text)
		assert.Empty(t, cfg.Warnings)
	}
}

func TestHowNotToSignIn(t *testing.T) {
	for text, want := range map[string]string{
		`true`:                                "$.mcpServers.x.oauth: want an object",
		`{"client_secret": "x"}`:              "client_secret without a client_id",
		`{"callback_port": 70000}`:            "callback_port: it is no port",
		`{"client_id": "a", "clientId": "b"}`: "both of its spellings",
		`{"scopes": 3}`:                       "$.mcpServers.x.oauth.scopes",
		`{"client_id": 7}`:                    "it is a number; want a string",
	} {
		_, err := load(t, `{"mcpServers": {"x": {"url": "https://x", "oauth": `+text+`}}}`, nil)
		require.ErrorContains(t, err, want, text)
	}
	cfg, err := load(t, `{"mcpServers": {"x": {"url": "https://x", "oauth": {"clientid": "a"}}}}`, nil)
	require.NoError(t, err)
	require.Len(t, cfg.Warnings, 1)
	assert.Contains(t, cfg.Warnings[0], "did you mean client")
}

func TestRootsAreTheWorkingFolder(t *testing.T) {
	cfg, err := load(t, `{"mcpServers": {"x": {"command": "x", "roots": true}, "y": {"command": "y"}}}`, nil)
	require.NoError(t, err)
	dir, err := os.Getwd()
	require.NoError(t, err)
	assert.Equal(t, []string{dir}, cfg.Servers[0].Roots)
	assert.Nil(t, cfg.Servers[1].Roots)
}
