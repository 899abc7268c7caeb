package serve_test

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	_ "modernc.org/sqlite"

	"github.com/tools-in-shell/tis/approvals"
	"github.com/tools-in-shell/tis/approvals/sqlstore"
	"github.com/tools-in-shell/tis/mcpsource"
	"github.com/tools-in-shell/tis/runner"
	"github.com/tools-in-shell/tis/runner/sandbox"
	"github.com/tools-in-shell/tis/serve"
)

func TestMain(m *testing.M) {
	sandbox.Main()
	os.Exit(m.Run())
}

const (
	manySessions = 32
	manyScripts  = 5
	kills        = 2
)

// Many sessions at once over HTTP, each with several scripts and a question, in
// front of one real server that is killed now and then. Nothing is lost, done
// twice, mixed up or left behind.
func TestManySessionsAtOnce(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	dir := t.TempDir()
	tracker := filepath.Join(dir, "tracker")
	out, err := exec.Command("go", "build", "-o", tracker, "../examples/tracker").CombinedOutput()
	require.NoError(t, err, string(out))
	temp := filepath.Join(dir, "tmp")
	require.NoError(t, os.Mkdir(temp, 0o755))
	t.Setenv("TMPDIR", temp)
	before := children(t)

	ctx := context.Background()
	pool := mcpsource.NewPool([]mcpsource.ServerConfig{{Name: "tracker", Command: tracker, Args: []string{filepath.Join(dir, "tracker.db")}, StartTimeout: time.Minute}}, mcpsource.Options{})
	pool.Start(ctx)
	store, err := sqlstore.Open(ctx, "sqlite:"+filepath.Join(dir, "approvals.db"))
	require.NoError(t, err)
	server, err := serve.New(serve.Options{
		Tools:  func(context.Context) serve.Tools { return serve.Tools{Sources: pool.Sources()} },
		Gate:   approvals.NewGate(store, approvals.Config{}),
		Runner: runner.Options{Utilities: true},
	})
	require.NoError(t, err)
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	life, end := context.WithCancel(ctx)
	served := make(chan error, 1)
	go func() { served <- server.HTTP(life, ln, serve.HTTPOptions{}) }()

	var asked, cut atomic.Int64
	var wg, killer sync.WaitGroup
	stopKilling := make(chan struct{})
	killer.Go(func() {
		for range kills {
			select {
			case <-stopKilling:
				return
			case <-time.After(1500 * time.Millisecond):
				exec.Command("pkill", "-KILL", "-P", fmt.Sprint(os.Getpid()), "-f", tracker).Run()
			}
		}
	})
	transport := &http.Transport{MaxIdleConnsPerHost: manySessions * 2}
	for s := range manySessions {
		wg.Go(func() { client(t, "http://"+ln.Addr().String(), transport, s, &asked, &cut) })
	}
	wg.Wait()
	close(stopKilling)
	killer.Wait()
	end()
	require.NoError(t, <-served)
	require.NoError(t, server.Close())
	require.NoError(t, pool.Close())
	transport.CloseIdleConnections()

	// Every comment that a script was told of is there, once; one whose call was
	// cut off by a kill may be there or not, and never twice.
	db, err := sql.Open("sqlite", filepath.Join(dir, "tracker.db"))
	require.NoError(t, err)
	defer db.Close()
	var all, different int
	require.NoError(t, db.QueryRow("SELECT count(*), count(DISTINCT body) FROM comments WHERE body LIKE 'note %'").Scan(&all, &different))
	require.Equal(t, all, different)
	require.GreaterOrEqual(t, all, manySessions*manyScripts-int(cut.Load()))
	require.LessOrEqual(t, all, manySessions*manyScripts)
	require.EqualValues(t, manySessions, asked.Load())
	t.Logf("%d scripts, %d questions, %d calls cut off by a kill", manySessions*manyScripts, asked.Load(), cut.Load())

	history, err := store.History(ctx, "")
	require.NoError(t, err)
	who := map[string]int{}
	for _, e := range history {
		who[e.Session+" "+e.What]++
	}
	require.Len(t, who, 2*manySessions, "each session has an answer and a use of it")
	require.NoError(t, store.Close())
	left, err := filepath.Glob(filepath.Join(temp, "*"))
	require.NoError(t, err)
	require.Empty(t, left)
	require.Equal(t, before, children(t))
}

// client is one session: scripts that each write down what only they know, and
// a gated call that is answered.
func client(t *testing.T, url string, transport http.RoundTripper, s int, asked, cut *atomic.Int64) {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	branch := fmt.Sprintf("branch-%d", s)
	c := mcp.NewClient(&mcp.Implementation{Name: "client", Version: "1"}, &mcp.ClientOptions{
		ElicitationHandler: func(_ context.Context, r *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
			asked.Add(1)
			assert.Contains(t, r.Params.Message, `"`+branch+`"`)
			return &mcp.ElicitResult{Action: "accept", Content: map[string]any{"decision": "allow"}}, nil
		},
	})
	session, err := c.Connect(ctx, &mcp.StreamableClientTransport{Endpoint: url, HTTPClient: &http.Client{Transport: transport}}, nil)
	if !assert.NoError(t, err) {
		return
	}
	defer session.Close()
	bash := func(commands string) (r struct {
		Stdout, Stderr string
		Success        bool
		Earlier        []any
		Tools          json.RawMessage
	}) {
		res, err := session.CallTool(ctx, &mcp.CallToolParams{Name: "bash", Arguments: map[string]any{"commands": commands}})
		if assert.NoError(t, err) {
			b, err := json.Marshal(res.StructuredContent)
			assert.NoError(t, err)
			assert.NoError(t, json.Unmarshal(b, &r))
			assert.Empty(t, r.Earlier)
		}
		return r
	}
	var mine []string
	for n := range manyScripts {
		note := fmt.Sprintf("note %d %02d", s, n)
		mine = append(mine, note)
		r := bash(fmt.Sprintf("set -o pipefail; echo %q >> notes; sort notes; tools tracker create-comment number=2 body=%q | jq -r .body", note, note))
		want := strings.Join(mine, "\n") + "\n"
		if r.Success {
			assert.Equal(t, want+note+"\n", r.Stdout, r.Stderr)
		} else { // the server was killed, and the script is told so
			cut.Add(1)
			assert.Equal(t, want, r.Stdout)
			assert.Contains(t, r.Stderr, `"code":"`)
		}
	}
	// There is no such branch: the call is made, once it is allowed, and fails.
	r := bash("tools tracker delete-branch branch=" + branch)
	assert.Contains(t, r.Stderr, `"code":"`)
	assert.Contains(t, string(r.Tools), branch)
}

// children counts the processes that this one has started and not waited for.
func children(t *testing.T) int {
	t.Helper()
	out, err := exec.Command("pgrep", "-P", fmt.Sprint(os.Getpid())).Output()
	if err != nil {
		return 0
	}
	return len(strings.Fields(string(out))) - 1 // pgrep itself
}
