//lint:file-ignore SA1019 Roots and log messages end with a later protocol version; the clients of today have them.

package main

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"
	_ "modernc.org/sqlite"

	"github.com/tools-in-shell/tis/report"
)

// trackerDir is where TestMain has the tracker built, and what it takes away.
var trackerDir = filepath.Join(os.TempDir(), fmt.Sprintf("tis-test-tracker-%d", os.Getpid()))

// trackerProgram builds the tracker, once.
var trackerProgram = sync.OnceValues(func() (string, error) {
	name := filepath.Join(trackerDir, "tracker")
	out, err := exec.Command("go", "build", "-o", name, "../../examples/tracker").CombinedOutput()
	if err != nil {
		err = fmt.Errorf("%w: %s", err, out)
	}
	return name, err
})

// place is a folder with a config over a tracker of its own.
type place struct {
	t       *testing.T
	dir     string
	config  map[string]any
	servers map[string]any
	args    []string // further flags of tis serve
	env     []string
	open    bool // over HTTP without a token
}

func newPlace(t *testing.T) *place {
	t.Helper()
	program, err := trackerProgram()
	require.NoError(t, err)
	p := &place{t: t, dir: t.TempDir()}
	p.servers = map[string]any{"tracker": map[string]any{"command": program, "args": []string{p.file("tracker.db")}, "description": "Issues, comments and branches"}}
	p.config = map[string]any{"mcpServers": p.servers}
	return p
}

func (p *place) file(name string) string { return filepath.Join(p.dir, name) }

// save writes the config.
func (p *place) save() {
	p.t.Helper()
	write(p.t, p.file("tis.json"), p.config)
}

// command is tis as a process of its own.
func (p *place) command(args ...string) *exec.Cmd {
	p.t.Helper()
	exe, err := os.Executable()
	require.NoError(p.t, err)
	require.NoError(p.t, os.MkdirAll(p.file("tmp"), 0o755))
	cmd := exec.Command(exe, args...)
	cmd.Dir = p.dir
	cmd.Env = append([]string{asProgram + "=1", "HOME=" + p.dir, "PATH=" + os.Getenv("PATH"), "TMPDIR=" + p.file("tmp"), "GORACE=atexit_sleep_ms=0"}, p.env...)
	return cmd
}

// serve is `tis serve` with the place's config and store.
func (p *place) serve() *exec.Cmd {
	p.save()
	return p.command(append([]string{"serve", "-c", p.file("tis.json"), "--store", "sqlite:" + p.file("approvals.db")}, p.args...)...)
}

// tis runs a command to its end.
func (p *place) tis(args ...string) string {
	p.t.Helper()
	out, err := p.command(append(args, "-c", p.file("tis.json"), "--store", "sqlite:"+p.file("approvals.db"))...).CombinedOutput()
	require.NoError(p.t, err, string(out))
	return string(out)
}

// branches are the tracker's branches, from its own database.
func (p *place) branches() []string {
	p.t.Helper()
	return p.query("SELECT name FROM branches ORDER BY name")
}

func (p *place) query(q string) []string {
	p.t.Helper()
	db, err := sql.Open("sqlite", p.file("tracker.db")+"?_pragma=busy_timeout(10000)")
	require.NoError(p.t, err)
	defer db.Close()
	rows, err := db.Query(q)
	require.NoError(p.t, err)
	defer rows.Close()
	out := []string{}
	for rows.Next() {
		var s string
		require.NoError(p.t, rows.Scan(&s))
		out = append(out, s)
	}
	require.NoError(p.t, rows.Err())
	return out
}

// host is an MCP host: a client with what it was asked and told.
type host struct {
	t       *testing.T
	session *mcp.ClientSession
	answer  func(*mcp.ElicitParams) (*mcp.ElicitResult, error)

	mu       sync.Mutex
	asked    []string
	progress []*mcp.ProgressNotificationParams
	logged   []string
	changes  chan struct{} // tools/list_changed
}

// protocols are the two ways in which a client is asked.
var protocols = []string{"2025-11-25", "2026-07-28"}

// connect starts tis serve over stdio for a client of a protocol version.
func (p *place) connect(version string, answer func(*mcp.ElicitParams) (*mcp.ElicitResult, error)) *host {
	p.t.Helper()
	cmd := p.serve()
	cmd.Stderr = os.Stderr
	return p.attach(&mcp.CommandTransport{Command: cmd, TerminateDuration: 20 * time.Second}, version, answer)
}

func (p *place) attach(transport mcp.Transport, version string, answer func(*mcp.ElicitParams) (*mcp.ElicitResult, error)) *host {
	p.t.Helper()
	h := &host{t: p.t, answer: answer, changes: make(chan struct{}, 100)}
	o := &mcp.ClientOptions{
		Capabilities:           &mcp.ClientCapabilities{},
		ToolListChangedHandler: func(context.Context, *mcp.ToolListChangedRequest) { h.changes <- struct{}{} },
		ProgressNotificationHandler: func(_ context.Context, r *mcp.ProgressNotificationClientRequest) {
			h.note(func() { h.progress = append(h.progress, r.Params) })
		},
		LoggingMessageHandler: func(_ context.Context, r *mcp.LoggingMessageRequest) {
			h.note(func() { h.logged = append(h.logged, fmt.Sprint(r.Params.Data)) })
		},
	}
	if answer != nil {
		o.Capabilities.Elicitation = &mcp.ElicitationCapabilities{Form: &mcp.FormElicitationCapabilities{}}
		o.ElicitationHandler = func(_ context.Context, r *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
			h.note(func() { h.asked = append(h.asked, r.Params.Message) })
			return answer(r.Params)
		}
	}
	client := mcp.NewClient(&mcp.Implementation{Name: "test host", Version: "1"}, o)
	var err error
	h.session, err = client.Connect(context.Background(), transport, &mcp.ClientSessionOptions{ProtocolVersion: version})
	require.NoError(p.t, err)
	p.t.Cleanup(func() { h.session.Close() })
	return h
}

func (h *host) note(f func()) {
	h.mu.Lock()
	defer h.mu.Unlock()
	f()
}

func (h *host) questions() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return append([]string{}, h.asked...)
}

// ran is what the bash tool answers.
type ran struct {
	report.Result
	Note    string
	Earlier []struct {
		Commands string
		Tools    *report.Tools
	}
	text string
}

func (h *host) bash(commands string) ran {
	h.t.Helper()
	r, err := h.try(context.Background(), commands)
	require.NoError(h.t, err)
	return r
}

func (h *host) try(ctx context.Context, commands string) (ran, error) {
	res, err := h.session.CallTool(ctx, &mcp.CallToolParams{Name: "bash", Arguments: map[string]any{"commands": commands}})
	if err != nil {
		return ran{}, err
	}
	return readRan(res)
}

func readRan(res *mcp.CallToolResult) (r ran, err error) {
	if res.IsError {
		return r, fmt.Errorf("refused: %s", res.Content[0].(*mcp.TextContent).Text)
	}
	b, err := json.Marshal(res.StructuredContent)
	if err != nil {
		return r, err
	}
	r.text = res.Content[0].(*mcp.TextContent).Text
	return r, json.Unmarshal(b, &r)
}

// decides answers every question alike.
func decides(word string) func(*mcp.ElicitParams) (*mcp.ElicitResult, error) {
	return func(*mcp.ElicitParams) (*mcp.ElicitResult, error) {
		return &mcp.ElicitResult{Action: "accept", Content: map[string]any{"decision": word}}, nil
	}
}

const deleteTypo = "tools tracker delete-branch branch=fix-typo"

func eachProtocol(t *testing.T, f func(t *testing.T, version string)) {
	for _, v := range protocols {
		t.Run(v, func(t *testing.T) { t.Parallel(); f(t, v) })
	}
}

func TestServeListsBashAndRunsAScript(t *testing.T) {
	eachProtocol(t, func(t *testing.T, version string) {
		p := newPlace(t)
		h := p.connect(version, nil)
		list, err := h.session.ListTools(context.Background(), nil)
		require.NoError(t, err)
		require.Len(t, list.Tools, 1)
		require.Equal(t, "bash", list.Tools[0].Name)
		require.Contains(t, list.Tools[0].Description, "tracker (10)")
		r := h.bash("tools tracker list-branches | jq -r '.branches[].name' | sort | tee names; echo done")
		require.Equal(t, "dark-mode\nfix-login\nfix-typo\nmain\npg-driver\ndone\n", r.Stdout, r.Stderr)
		require.True(t, r.Success)
		require.Nil(t, r.Tools)
		require.JSONEq(t, jsonOf(t, r.Result), r.text)
		require.Equal(t, "5\n", h.bash("wc -l < names | tr -d ' '").Stdout, "files stay between the calls of a session")
	})
}

func TestServeAsksInsideTheCallAndStartsTheHeldScriptAtOnce(t *testing.T) {
	eachProtocol(t, func(t *testing.T, version string) {
		p := newPlace(t)
		h := p.connect(version, decides("allow"))
		r := h.bash(deleteTypo)
		require.True(t, r.Success, r.Stderr)
		require.Nil(t, r.Tools)
		require.NotContains(t, p.branches(), "fix-typo")
		require.Len(t, h.questions(), 1)
		for _, part := range []string{"tools tracker delete-branch", "Delete a branch, merged or not.", "it declares that it is destructive", `"branch": "fix-typo"`} {
			require.Contains(t, h.questions()[0], part)
		}
		// The answer was for one call.
		require.Equal(t, 1, strings.Count(p.tis("approvals", "history", "--session", "", "--json"), `"what":"used"`))
	})
}
