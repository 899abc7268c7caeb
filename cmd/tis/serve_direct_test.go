package main

import (
	"context"
	"os/exec"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"
)

// keep makes tools of the tracker direct ones.
func (p *place) keep(names ...string) {
	p.config["capabilities"] = []any{map[string]any{"ref": "tools_in_shell", "config": map[string]any{"keep_visible": names}}}
}

func TestServeDirectToolsAreAsTheirServerHasThem(t *testing.T) {
	eachProtocol(t, func(t *testing.T, version string) {
		p := newPlace(t)
		p.keep("tracker list_issues", "tracker burndown", "tracker delete_branch", "tracker get_issue")
		h := p.connect(version, nil)
		program, err := trackerProgram()
		require.NoError(t, err)
		own, err := mcp.NewClient(&mcp.Implementation{Name: "own", Version: "1"}, nil).Connect(context.Background(),
			&mcp.CommandTransport{Command: exec.Command(program, p.file("own.db"))}, &mcp.ClientSessionOptions{ProtocolVersion: "2025-11-25"})
		require.NoError(t, err)
		defer own.Close()

		theirs := map[string]*mcp.Tool{}
		list, err := own.ListTools(context.Background(), nil)
		require.NoError(t, err)
		for _, tool := range list.Tools {
			theirs["mcp_tracker__"+tool.Name] = tool
		}
		list, err = h.session.ListTools(context.Background(), nil)
		require.NoError(t, err)
		require.Len(t, list.Tools, 5)
		for _, tool := range list.Tools {
			if tool.Name == "bash" {
				continue
			}
			want := *theirs[tool.Name]
			want.Name = tool.Name
			require.JSONEq(t, jsonOf(t, want), jsonOf(t, *tool))
		}
		for name, args := range map[string]map[string]any{
			"list_issues": {"state": "all"}, "burndown": {"days": 7}, "get_issue": {"number": 9},
		} {
			want, err := own.CallTool(context.Background(), &mcp.CallToolParams{Name: name, Arguments: args})
			require.NoError(t, err)
			got, err := h.session.CallTool(context.Background(), &mcp.CallToolParams{Name: "mcp_tracker__" + name, Arguments: args})
			require.NoError(t, err)
			require.False(t, got.IsError)
			require.JSONEq(t, jsonOf(t, want.Content), jsonOf(t, got.Content), name)
			require.JSONEq(t, jsonOf(t, want.StructuredContent), jsonOf(t, got.StructuredContent), name)
		}
		// A failure of the tool's, an input that its schema refuses, a name that is none.
		for name, args := range map[string]map[string]any{"get_issue": {"number": 99}, "burndown": {"days": 1}, "list_issues": {"x": 1}} {
			got, err := h.session.CallTool(context.Background(), &mcp.CallToolParams{Name: "mcp_tracker__" + name, Arguments: args})
			require.NoError(t, err)
			require.True(t, got.IsError, name)
		}
		_, err = h.session.CallTool(context.Background(), &mcp.CallToolParams{Name: "mcp_tracker__create_issue"})
		require.Error(t, err, "what is behind tools is not called directly")
		require.True(t, h.bash("tools tracker get-issue number=9 >/dev/null").Success, "kept visible tools stay in the shell too")
	})
}

func TestServeDirectCallsAreJudgedByTheSameGate(t *testing.T) {
	eachProtocol(t, func(t *testing.T, version string) {
		p := newPlace(t)
		p.keep("tracker delete_branch")
		call := func(h *host, branch string) *mcp.CallToolResult {
			res, err := h.session.CallTool(context.Background(), &mcp.CallToolParams{Name: "mcp_tracker__delete_branch", Arguments: map[string]any{"branch": branch}})
			require.NoError(t, err)
			return res
		}
		word := "decline"
		h := p.connect(version, func(q *mcp.ElicitParams) (*mcp.ElicitResult, error) {
			if word == "decline" {
				return &mcp.ElicitResult{Action: "decline"}, nil
			}
			return decides(word)(q)
		})
		res := call(h, "fix-typo")
		require.True(t, res.IsError)
		require.Contains(t, jsonOf(t, res.Content), "needs_approval")
		require.Len(t, p.branches(), 5)
		word = "reject"
		res = call(h, "fix-typo")
		require.True(t, res.IsError)
		require.Contains(t, jsonOf(t, res.Content), "denied")
		require.Len(t, p.branches(), 5)
		word = "allow"
		res = call(h, "fix-typo")
		require.False(t, res.IsError, jsonOf(t, res))
		require.NotContains(t, p.branches(), "fix-typo")
		require.Len(t, h.questions(), 3)
		word = "allow_always"
		require.False(t, call(h, "pg-driver").IsError)
		// An answer covers the tool, whichever way it is called.
		require.True(t, h.bash("tools tracker delete-branch branch=dark-mode").Success)
		require.Len(t, h.questions(), 4)

		// Without elicitation the request waits.
		h = p.connect(version, nil)
		res = call(h, "fix-login")
		require.True(t, res.IsError)
		require.Contains(t, jsonOf(t, res.Content), "tis approvals answer ")
		require.Contains(t, p.branches(), "fix-login")
	})
}
