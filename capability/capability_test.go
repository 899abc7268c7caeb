package capability_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tools-in-shell/tis/approvals"
	"github.com/tools-in-shell/tis/capability"
	"github.com/tools-in-shell/tis/catalog"
)

func TestWhoMayAssignIt(t *testing.T) {
	for _, c := range []struct {
		has   []string
		admin bool
		want  []error
	}{
		{[]string{"bashkit_shell"}, true, nil},
		{[]string{"lua", "bashkit_shell", "tool_search"}, true, nil},
		{[]string{"bashkit_shell"}, false, []error{capability.ErrNotAdmin}},
		{[]string{"bash"}, true, []error{capability.ErrNoShell}},
		{nil, false, []error{capability.ErrNotAdmin, capability.ErrNoShell}},
	} {
		err := capability.Assign(c.has, c.admin)
		for _, known := range []error{capability.ErrNotAdmin, capability.ErrNoShell} {
			if want := contains(c.want, known); want {
				require.ErrorIs(t, err, known)
			} else {
				require.NotErrorIs(t, err, known)
			}
		}
		require.Equal(t, len(c.want) == 0, err == nil)
	}
	require.ErrorContains(t, capability.Assign(nil, true), "tools_in_shell: it depends on bashkit_shell")
}

func contains(list []error, err error) bool {
	for _, e := range list {
		if e == err {
			return true
		}
	}
	return false
}

func TestRollout(t *testing.T) {
	for _, c := range []struct {
		value string
		set   bool
		want  string
	}{{"", false, "adoption"}, {"", true, "adoption"}, {"preview", true, "preview"}} {
		require.Equal(t, c.want, capability.Rollout(func(name string) (string, bool) {
			require.Equal(t, "FEATURE_TOOLS_IN_SHELL", name)
			return c.value, c.set
		}))
	}
}

func TestSuperseded(t *testing.T) {
	for _, c := range []struct{ refs, superseded, contributing []string }{
		{nil, nil, nil},
		{[]string{"tools_in_shell"}, nil, []string{"tools_in_shell"}},
		{[]string{"tool_search", "lua"}, nil, []string{"tool_search", "lua"}},
		{[]string{"claude_tool_search", "tools_in_shell", "openai_tool_search", "auto_tool_search", "tool_search", "web_search"},
			[]string{"claude_tool_search", "openai_tool_search", "auto_tool_search", "tool_search"}, []string{"tools_in_shell", "web_search"}},
		{[]string{"tool_search", "tool_search", "tools_in_shell"}, []string{"tool_search"}, []string{"tools_in_shell"}},
	} {
		var names []string
		for _, s := range capability.Superseded(c.refs) {
			require.Equal(t, "capabilities.superseded", s.Code)
			require.Equal(t, s.Capability+" contributes nothing while tools_in_shell is enabled; remove it", s.Message)
			names = append(names, s.Capability)
		}
		require.Equal(t, c.superseded, names)
		require.Equal(t, c.contributing, capability.Contributing(c.refs))
	}
}

func TestApprovalConfig(t *testing.T) {
	for _, c := range []struct {
		give capability.ApprovalConfig
		want capability.ApprovalConfig
		says string
	}{
		{capability.ApprovalConfig{}, capability.ApprovalConfig{Mode: approvals.Normal, TimeoutSeconds: 900}, ""},
		{capability.ApprovalConfig{Mode: "off", TimeoutSeconds: 60}, capability.ApprovalConfig{Mode: approvals.Off, TimeoutSeconds: 60}, ""},
		{capability.ApprovalConfig{Mode: "protective", TimeoutSeconds: 86400}, capability.ApprovalConfig{Mode: approvals.Protective, TimeoutSeconds: 86400}, ""},
		{give: capability.ApprovalConfig{Mode: "Normal"}, says: `mode: it is "Normal"; want off, normal or protective`},
		{give: capability.ApprovalConfig{TimeoutSeconds: 59}, says: "timeout_seconds: it is 59; want 60 to 86400"},
		{give: capability.ApprovalConfig{TimeoutSeconds: 86401}, says: "timeout_seconds: it is 86401; want 60 to 86400"},
		{give: capability.ApprovalConfig{TimeoutSeconds: -1}, says: "timeout_seconds: it is -1; want 60 to 86400"},
	} {
		got := c.give
		err := got.Check()
		if c.says != "" {
			require.EqualError(t, err, c.says)
			continue
		}
		require.NoError(t, err)
		require.Equal(t, c.want, got)
		require.Equal(t, time.Duration(got.TimeoutSeconds)*time.Second, got.Timeout())
	}
	// The gate keeps to the same bounds.
	require.Equal(t, approvals.MinTimeout, capability.MinTimeout*time.Second)
	require.Equal(t, approvals.MaxTimeout, capability.MaxTimeout*time.Second)
	require.Equal(t, approvals.DefaultTimeout, capability.DefaultTimeout*time.Second)
}

func top(t *testing.T, raw string) *catalog.Tool {
	t.Helper()
	tool, err := catalog.ToolFromMCP("", json.RawMessage(raw))
	require.NoError(t, err)
	return tool
}

// agent is an agent's tools: a tool for each reason to stay direct, and some
// that move.
func agent(t *testing.T, keep ...string) *catalog.Catalog {
	t.Helper()
	tools := []*catalog.Tool{top(t, `{"name":"bash","description":"Runs a script.\n","inputSchema":{"type":"object"}}`)}
	for _, name := range []string{"lua", "tools", "tool_search", "computer", "browser", "spawn_agent", "ask_user", "write_todos", "read_file", "write_file", "edit_file", "screenshot", "web_fetch", "web_search", "sql_query"} {
		tools = append(tools, top(t, `{"name":"`+name+`"}`))
	}
	for policy, name := range map[string]string{`{"client_side":true}`: "open_tab", `{"never_deferrable":true}`: "pinned", `{"stays_direct":true}`: "preview"} {
		tools = append(tools, top(t, `{"name":"`+name+`","policy":`+policy+`}`))
	}
	github := catalog.Source{Name: "github", Loaded: true}
	for _, name := range []string{"list_pulls", "get_pull", "bash"} {
		tool, err := catalog.ToolFromMCP("github", json.RawMessage(`{"name":"`+name+`"}`))
		require.NoError(t, err)
		github.Tools = append(github.Tools, tool)
	}
	later := catalog.Source{Name: "my_docs", Load: func(context.Context) ([]*catalog.Tool, error) { panic("nothing is loaded to list it") }}
	broken := catalog.Source{Name: "jira", Unavailable: catalog.Errorf(catalog.Unavailable, "no")}
	return catalog.New([]catalog.Source{later, github, broken}, tools, catalog.Options{KeepVisible: keep})
}

func names(tools []*catalog.Tool) (out []string) {
	for _, t := range tools {
		out = append(out, t.RegistryName())
	}
	return out
}

var stays = []string{"bash", "lua", "tools", "tool_search", "computer", "browser", "spawn_agent", "ask_user", "write_todos", "read_file", "write_file", "edit_file", "screenshot", "open_tab", "pinned", "preview"}

func TestWhatMovesBehindTools(t *testing.T) {
	require.ElementsMatch(t, stays, names(capability.Transform(agent(t))))
	require.Equal(t, "github (3), jira (unavailable), my-docs (not loaded), sql-query, web-fetch, web-search", capability.Behind(agent(t)))
}

// What is kept visible stays direct and can be called from the shell too.
func TestKeepVisible(t *testing.T) {
	for _, keep := range []string{"web_fetch", "mcp_github__get_pull", "github get_pull", "github get-pull"} {
		cat := agent(t, keep, "none_such")
		want := "web_fetch"
		if keep != want {
			want = "mcp_github__get_pull"
		}
		require.ElementsMatch(t, append([]string{want}, stays...), names(capability.Transform(cat)), keep)
		require.Equal(t, capability.Behind(agent(t)), capability.Behind(cat))
		require.Equal(t, []string{`keep_visible names "none_such", which is no tool`}, cat.Warnings())
		_, _, err := cat.ResolveLiteral([]string{"web-fetch"})
		require.Nil(t, err)
	}
}

func TestTheDescriptionOfBash(t *testing.T) {
	cat := agent(t)
	before := cat.Tool("bash")
	for _, tool := range capability.Transform(cat) {
		if tool.Name != "bash" {
			require.NotContains(t, tool.Description, "Behind")
			continue
		}
		require.Equal(t, "Runs a script.\n\nBehind the `tools` command: "+capability.Behind(cat)+". Run `tools --help` to look around.", tool.Description)
		require.Equal(t, before.InputSchema, tool.InputSchema)
	}
	require.Equal(t, "Runs a script.\n", before.Description, "the agent's own tool is left alone")

	// With nothing behind it there is nothing to say.
	alone := catalog.New(nil, []*catalog.Tool{top(t, `{"name":"bash","description":"Runs."}`)}, catalog.Options{})
	require.Equal(t, "Runs.", capability.Transform(alone)[0].Description)
}

// What the prompt promises is what the command does.
func TestThePromptIsTrue(t *testing.T) {
	cat := agent(t)
	for says, shows := range map[string]string{
		"tools --help": "github", "tools SERVER --help": "list-pulls", "tools search WORDS": "tools github list-pulls", "tools SERVER TOOL --help": "{",
	} {
		require.Contains(t, capability.Prompt, says)
		line := strings.NewReplacer("SERVER", "github", "TOOL", "list-pulls", "WORDS", "pulls").Replace(says)
		req, err := cat.Resolve(context.Background(), strings.Fields(line)[1:], nil, nil)
		require.Nil(t, err)
		require.Contains(t, req.Text, shows, line)
	}
	require.Contains(t, capability.Prompt, `tools SERVER TOOL '{"key":"value"}', or key=value pairs`)
	for _, words := range [][]string{{"github", "list-pulls", `{"key":"value"}`}, {"github", "list-pulls", "key=value"}} {
		req, err := cat.Resolve(context.Background(), words, nil, nil)
		require.Nil(t, err)
		require.JSONEq(t, `{"key":"value"}`, string(req.Call.Input))
	}
	require.Contains(t, capability.Prompt, `exit code 1: {"error":{"code","message","retryable"}}`)
	require.Regexp(t, `^{"error":{"code":.*,"message":.*,"retryable":.*}}$`, catalog.Errorf(catalog.Denied, "no").Line())
}
