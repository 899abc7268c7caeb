package config_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tools-in-shell/tis/approvals"
	"github.com/tools-in-shell/tis/config"
)

func load(t *testing.T, text string, env map[string]string) (*config.Config, error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "tis.json")
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	return config.Load(path, func(k string) (string, bool) { v, ok := env[k]; return v, ok })
}

func TestAWholeConfig(t *testing.T) {
	cfg, err := load(t, `{"mcpServers":{"gh":{"command":"${BIN:-gh-mcp}","args":["--x","${A}"],"env":{"T":"${TOKEN}"},"load":"on_demand","odd":1},"docs":{"type":"http","url":"https://x/${A}","headers":{"Authorization":"Bearer ${TOKEN}"}}},
		"tools":[{"name":"web_fetch","description":"d","inputSchema":{"type":"object"},"annotations":{"readOnlyHint":true},"command":["fetch","${A}"]}],
		"capabilities":[{"ref":"tools_in_shell","config":{"keep_visible":["web_fetch"]}},{"ref":"tool_approval","config":{"mode":"protective","timeout_seconds":60}},{"ref":"tool_search"}],
		"rules":[{"tool":"gh *","decision":"deny","message":"no"}],"store":"sqlite:a.db","limits":{"calls":7}}`, map[string]string{"A": "a", "TOKEN": "secret"})
	require.NoError(t, err)
	require.Equal(t, []string{"--x", "a"}, cfg.Servers[0].Args)
	require.Equal(t, "gh-mcp", cfg.Servers[0].Command)
	require.True(t, cfg.Servers[0].OnDemand)
	require.Equal(t, "Bearer secret", cfg.Servers[1].Headers["Authorization"])
	require.Equal(t, []string{"fetch", "a"}, cfg.Tools[0].Command)
	require.Equal(t, config.Approval{Mode: approvals.Protective, Timeout: time.Minute}, cfg.Approval)
	require.Equal(t, 7, cfg.Limits.Calls)
	require.True(t, filepath.IsAbs(cfg.Store[len("sqlite:"):]))
	require.Equal(t, "capabilities.superseded", cfg.Superseded[0].Code)
	require.Len(t, cfg.Warnings, 2)
}

func TestFaultsNameThePlace(t *testing.T) {
	for text, says := range map[string]string{
		"{\n  \"mcpServers\": {,}\n}": "tis.json:2:18: not JSON",
		``:                            "tis.json:1:1: not JSON",
		`[]`:                          "$: want an object",
		`{"mcpServer":{}}`:            "$.mcpServer: unknown key (did you mean mcpServers?)",
		`{"limits":{"call":1}}`:       "$.limits.call: unknown key (did you mean calls?)",
		`{"limits":{"calls":"x"}}`:    "$.limits.calls: it is a string; want a whole number",
		`{"mcpServers":{"a":{}}}`:     "$.mcpServers.a: it has neither command nor url",
		`{"mcpServers":{"a":{"command":"x"},"a":{"command":"y"}}}`:                                  "$.mcpServers.a: the key is given twice",
		`{"mcpServers":{"a-b":{"command":"x"},"a_b":{"command":"y"}}}`:                              "typed alike",
		`{"mcpServers":{"a b":{"command":"x"}}}`:                                                    "$.mcpServers.a b",
		`{"mcpServers":{"a":{"command":"x","load":"later"}}}`:                                       "$.mcpServers.a.load",
		`{"mcpServers":{"a":{"command":["x"]}}}`:                                                    "$.mcpServers.a.command: it is an array; want a string",
		`{"capabilities":[{"ref":"tool_approval","config":{"mode":"x"}}]}`:                          "want off, normal or protective",
		`{"capabilities":[{"ref":"tool_approval","config":{"timeout_seconds":5}}]}`:                 "want 60 to 86400",
		`{"capabilities":[{"ref":"tools_in_shell","config":{"keepvisible":["x"]}}]}`:                "did you mean keep_visible?",
		`{"capabilities":[{"ref":"tool_approval","config":{"mode":""}}]}`:                           "$.capabilities[0].config.mode: it is empty",
		`{"capabilities":[{"ref":"tool_approval","config":{"timeout_seconds":0}}]}`:                 "$.capabilities[0].config.timeout_seconds: it is 0; want 60 to 86400",
		`{"capabilities":[{"ref":"tool_approval","config":{"timeout_seconds":60.5}}]}`:              "$.capabilities[0].config.timeout_seconds: it is a number 60.5; want a whole number",
		`{"capabilities":[{"ref":"x"},{"ref":"tool_approval","config":{"mod":"off"}}]}`:             "$.capabilities[1].config.mod: unknown key (did you mean mode?)",
		`{"capabilities":[{"ref":"tool_approval","config":{"Mode":"off"}}]}`:                        "$.capabilities[0].config.Mode: unknown key (did you mean mode?)",
		`{"capabilities":[{"ref":"tool_aproval","config":{"mode":"protective"}}]}`:                  `$.capabilities[0].ref: tis has no capability "tool_aproval" (did you mean tool_approval?)`,
		`{"capabilities":[{"ref":"tools_in_a_shell"}]}`:                                             "did you mean tools_in_shell?",
		`{"capabilities":[{"ref":"tool_approval"},{"ref":"tool_approval"}]}`:                        "$.capabilities[1].ref: tool_approval is given twice",
		`{"capabilities":[{"config":{}}]}`:                                                          "$.capabilities[0].ref: it is missing",
		`{"capabilities":[{"ref":"tools_in_shell","config":{"keep_visible":"x"}}]}`:                 "$.capabilities[0].config.keep_visible: it is a string; want an array",
		`{"capabilities":[{"ref":"tools_in_shell","config":{"keep_visible":[1]}}]}`:                 "$.capabilities[0].config.keep_visible",
		`{"capabilities":[{"ref":"tools_in_shell","risk":"low"}]}`:                                  "$.capabilities[0].risk: unknown key",
		`{"capabilities":["tools_in_shell"]}`:                                                       "$.capabilities[0]: want an object",
		`{"capabilities":{"ref":"tools_in_shell"}}`:                                                 "$.capabilities: it is an object; want an array",
		`{"rules":[{"tool":"x","decision":"ask","examples":{"matches":[]}}]}`:                       "$.rules[0].examples.matches: unknown key (did you mean match?)",
		`{"rules":[{"tool":"x","decision":"ask","examples":{"match":[{"tool":"x","inputs":{}}]}}]}`: "$.rules[0].examples.match[0].inputs: unknown key (did you mean input?)",
		`{"limits":{"timeout_seconds":9223372036854775807}}`:                                        "$.limits.timeout_seconds: it is 9223372036854775807; want at most 604800",
		`{"limits":{"calls":-1}}`:                                                                   "$.limits: a limit is below zero",
		`{"rules":[{"tool":"x","decision":"maybe"}]}`:                                               "$.rules[0].decision",
		`{"rules":[{"tool":"x","decision":"ask","when":".["}]}`:                                     "$.rules[0].when",
		`{"tools":[{"name":"x"}]}`:                                                                  "$.tools[0].command",
		`{"store":"mysql:x"}`:                                                                       "$.store",
		`{"sandbox":"on"}`:                                                                          "$.sandbox",
	} {
		_, err := load(t, text, nil)
		require.ErrorContains(t, err, says, text)
	}
	_, err := config.Load(filepath.Join(t.TempDir(), "none.json"), nil)
	require.ErrorContains(t, err, "none.json")
}

func TestAMissingVariableFailsItsServerAndShowsNoValue(t *testing.T) {
	cfg, err := load(t, `{"mcpServers":{"a":{"command":"x","env":{"A":"${HAVE}","B":"${HAVE} ${MISSING}"}},"b":{"command":"y"}}}`, map[string]string{"HAVE": "hush-hush"})
	require.NoError(t, err)
	require.Contains(t, cfg.Servers[0].Err, "MISSING")
	require.NotContains(t, cfg.Servers[0].Err, "hush")
	require.Empty(t, cfg.Servers[1].Err)
}

func TestOtherCapabilitiesAreTheAgents(t *testing.T) {
	cfg, err := load(t, `{"capabilities":[{"ref":"bashkit_shell"},{"ref":"web_approval","config":{"any":[1]}},{"ref":"lua"},{"ref":"tool_search"},{"ref":"auto_tool_search"}]}`, nil)
	require.NoError(t, err)
	require.Empty(t, cfg.Warnings)
	require.Equal(t, config.Approval{Mode: approvals.Normal, Timeout: 15 * time.Minute}, cfg.Approval)
	cfg, err = load(t, `{"capabilities":[{"ref":"tool_search"},{"ref":"tools_in_shell"},{"ref":"claude_tool_search"}]}`, nil)
	require.NoError(t, err)
	require.Len(t, cfg.Superseded, 2)
	require.Len(t, cfg.Warnings, 2)
	require.Empty(t, cfg.KeepVisible)
}
