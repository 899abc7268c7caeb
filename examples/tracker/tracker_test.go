package main

import (
	"bytes"
	"context"
	"encoding/json"
	"image/color"
	"image/png"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"
)

// asServer makes the test's own program the tracker.
const asServer = "TRACKER_TEST_SERVE"

func TestMain(m *testing.M) {
	if os.Getenv(asServer) != "" {
		main()
		return
	}
	os.Exit(m.Run())
}

// serverCommand is the tracker as a process of its own.
func serverCommand(t *testing.T, env []string, args ...string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	require.NoError(t, err)
	cmd := exec.Command(self, args...)
	cmd.Env = append(append(os.Environ(), asServer+"=1"), env...)
	return cmd
}

// connect starts a tracker and returns a client that talks to it.
func connect(t *testing.T, cmd *exec.Cmd) *mcp.ClientSession {
	t.Helper()
	client := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil)
	session, err := client.Connect(t.Context(), &mcp.CommandTransport{Command: cmd}, nil)
	require.NoError(t, err)
	return session
}

func tracker(t *testing.T) *mcp.ClientSession {
	t.Helper()
	session := connect(t, serverCommand(t, nil, filepath.Join(t.TempDir(), "tracker.db")))
	t.Cleanup(func() { require.NoError(t, session.Close()) })
	return session
}

func call(t *testing.T, s *mcp.ClientSession, tool, input string) *mcp.CallToolResult {
	t.Helper()
	res, err := s.CallTool(t.Context(), &mcp.CallToolParams{Name: tool, Arguments: json.RawMessage(input)})
	require.NoError(t, err)
	return res
}

// get calls a tool that must succeed and returns its structured result.
func get[T any](t *testing.T, s *mcp.ClientSession, tool, input string) (out T) {
	t.Helper()
	res := call(t, s, tool, input)
	require.False(t, res.IsError, "%s %s: %s", tool, input, text(res))
	raw, err := json.Marshal(res.StructuredContent)
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(raw, &out))
	return out
}

func text(res *mcp.CallToolResult) (all string) {
	for _, part := range res.Content {
		if p, ok := part.(*mcp.TextContent); ok {
			all += p.Text
		}
	}
	return all
}

func TestEveryToolSaysWhatItDoes(t *testing.T) {
	const reads, changes, destroys = "reads", "changes", "destroys"
	want := map[string]string{
		"list_issues": reads, "get_issue": reads, "list_comments": reads, "list_branches": reads, "burndown": reads,
		"add_label": changes, "create_comment": changes, "create_issue": changes, "close_issue": changes,
		"delete_branch": destroys,
	}
	list, err := tracker(t).ListTools(t.Context(), nil)
	require.NoError(t, err)
	got := map[string]string{}
	for _, tool := range list.Tools {
		a := tool.Annotations
		require.NotNil(t, a, tool.Name)
		require.NotEmpty(t, tool.Description, tool.Name)
		require.Equal(t, new(false), a.OpenWorldHint, tool.Name)
		switch {
		case a.ReadOnlyHint:
			require.Nil(t, a.DestructiveHint, tool.Name)
			got[tool.Name] = reads
		case *a.DestructiveHint:
			got[tool.Name] = destroys
		default:
			got[tool.Name] = changes
		}
	}
	require.Equal(t, want, got)
}

func TestAFreshDatabaseHasAProjectInIt(t *testing.T) {
	s := tracker(t)
	numbers := func(input string) (n []int) {
		for _, i := range get[issueList](t, s, "list_issues", input).Issues {
			n = append(n, i.Number)
		}
		return n
	}
	require.Equal(t, []int{2, 3, 5, 7, 8, 9}, numbers(`{}`))
	require.Equal(t, []int{1, 4, 6}, numbers(`{"state":"closed"}`))
	require.Len(t, numbers(`{"state":"all"}`), 9)

	crash := get[issue](t, s, "get_issue", `{"number":3}`)
	require.Equal(t, "Export crashes on an empty project", crash.Title)
	require.Equal(t, []string{}, crash.Labels)
	require.Equal(t, 47, crash.AgeDays)
	comments := get[commentList](t, s, "list_comments", `{"number":3}`).Comments
	require.Len(t, comments, crash.Comments)
	require.Equal(t, "Happens every time.", comments[0].Body)
	require.Contains(t, get[branchList](t, s, "list_branches", `{}`).Branches, branch{Name: "pg-driver", Issue: 4, Author: "dee", Merged: true})
}

func TestChangesCanBeReadBack(t *testing.T) {
	s := tracker(t)
	for range 2 {
		require.Equal(t, []string{"bug"}, get[issue](t, s, "add_label", `{"number":9,"label":"bug"}`).Labels)
	}
	require.Equal(t, []string{"bug", "stale"}, get[issue](t, s, "add_label", `{"number":9,"label":"stale"}`).Labels)

	made := get[issue](t, s, "create_issue", `{"title":"It's \"quoted\"; DROP TABLE issues","body":"ü"}`)
	require.Equal(t, issue{Number: 10, Title: `It's "quoted"; DROP TABLE issues`, Body: "ü", Author: "agent", State: "open", Labels: []string{}}, made)

	said := get[comment](t, s, "create_comment", `{"number":10,"body":"first"}`)
	require.Equal(t, []comment{said}, get[commentList](t, s, "list_comments", `{"number":10}`).Comments)

	for range 2 {
		require.Equal(t, "closed", get[issue](t, s, "close_issue", `{"number":10}`).State)
	}
	require.Equal(t, deleted{"fix-typo"}, get[deleted](t, s, "delete_branch", `{"branch":"fix-typo"}`))
	require.Len(t, get[branchList](t, s, "list_branches", `{}`).Branches, 4)
}

func TestWhatIsNotThereIsAnError(t *testing.T) {
	s := tracker(t)
	for _, c := range []struct{ tool, input, says string }{
		{"get_issue", `{"number":99}`, "there is no issue 99"},
		{"list_comments", `{"number":99}`, "there is no issue 99"},
		{"add_label", `{"number":99,"label":"bug"}`, "there is no issue 99"},
		{"create_comment", `{"number":99,"body":"x"}`, "there is no issue 99"},
		{"close_issue", `{"number":99}`, "there is no issue 99"},
		{"delete_branch", `{"branch":"nope"}`, `there is no branch "nope"`},
		{"delete_branch", `{"branch":"main"}`, "default branch"},
		{"add_label", `{"number":9,"label":"urgent"}`, "label"},
		{"list_issues", `{"state":"opened"}`, "state"},
		{"burndown", `{"days":1}`, "days"},
	} {
		res := call(t, s, c.tool, c.input)
		require.True(t, res.IsError, "%s %s", c.tool, c.input)
		require.Contains(t, text(res), c.says, "%s %s", c.tool, c.input)
	}
	require.Len(t, get[branchList](t, s, "list_branches", `{}`).Branches, 5)
}

func TestTheBurndownIsAPicture(t *testing.T) {
	res := call(t, tracker(t), "burndown", `{}`)
	require.False(t, res.IsError, text(res))
	require.Equal(t, "6 issues are open; 89 days ago it was 0.", text(res))
	picture, ok := res.Content[1].(*mcp.ImageContent)
	require.True(t, ok)
	require.Equal(t, "image/png", picture.MIMEType)
	img, err := png.Decode(bytes.NewReader(picture.Data))
	require.NoError(t, err)
	require.Equal(t, width, img.Bounds().Dx())
	const between = height/2 + 5 // two of the lines
	require.Equal(t, palette[2], img.At(width-margin-2, between), "today's column is the highest")
	require.Equal(t, color.RGBA{0xff, 0xff, 0xff, 0xff}, img.At(margin+20, between), "little was open long ago")
}

func TestADatabaseIsKeptBetweenProcesses(t *testing.T) {
	file := filepath.Join(t.TempDir(), "kept.db")
	first := connect(t, serverCommand(t, []string{"TRACKER_DB=" + file}))
	get[deleted](t, first, "delete_branch", `{"branch":"fix-typo"}`)
	require.NoError(t, first.Close())

	second := connect(t, serverCommand(t, nil, file))
	require.Len(t, get[branchList](t, second, "list_branches", `{}`).Branches, 4)
	require.NoError(t, second.Close())
}

func TestATemporaryDatabaseIsRemoved(t *testing.T) {
	temp := t.TempDir()
	s := connect(t, serverCommand(t, []string{"TMPDIR=" + temp, "TMP=" + temp, "TRACKER_DB="}))
	get[issueList](t, s, "list_issues", `{}`)
	files, err := filepath.Glob(filepath.Join(temp, "tracker-*.db"))
	require.NoError(t, err)
	require.Len(t, files, 1)
	require.NoError(t, s.Close())
	left, err := os.ReadDir(temp)
	require.NoError(t, err)
	require.Empty(t, left)
}

func TestAFileThatIsNoDatabaseIsRefused(t *testing.T) {
	file := filepath.Join(t.TempDir(), "notes.txt")
	require.NoError(t, os.WriteFile(file, bytes.Repeat([]byte("not a database\n"), 100), 0o600))
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	cmd := serverCommand(t, nil, file)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	require.NoError(t, cmd.Start())
	stop := context.AfterFunc(ctx, func() { cmd.Process.Kill() })
	defer stop()
	require.Error(t, cmd.Wait())
	require.Contains(t, stderr.String(), "tracker: open "+file)
}
