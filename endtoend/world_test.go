package endtoend_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/tools-in-shell/tis/approvals"
	"github.com/tools-in-shell/tis/catalog"
	"github.com/tools-in-shell/tis/mcpsource"
	"github.com/tools-in-shell/tis/report"
	"github.com/tools-in-shell/tis/runner"
	"github.com/tools-in-shell/tis/runner/sandbox"
)

func TestMain(m *testing.M) {
	sandbox.Main()
	dir, err := os.MkdirTemp("", "tis-endtoend-")
	if err != nil {
		panic(err)
	}
	serverProgram = build(dir, "./server")
	goleak.VerifyTestMain(m, goleak.Cleanup(func(exit int) {
		os.RemoveAll(dir)
		os.Exit(exit)
	}))
}

// serverProgram is the server's program, see the package server below.
var serverProgram string

// build builds a command of this module, without the race detector, which
// would make each of its many starts slow.
func build(dir, pkg string) string {
	program := filepath.Join(dir, filepath.Base(pkg))
	if runtime.GOOS == "windows" {
		program += ".exe"
	}
	if out, err := exec.Command("go", "build", "-o", program, pkg).CombinedOutput(); err != nil {
		panic(string(out))
	}
	return program
}

// arrival is one line of the server's log.
type arrival struct {
	Tool  string          `json:"tool"`
	Input json.RawMessage `json:"input"`
}

// world is a runner over one real server process "s" that keeps a log.
type world struct {
	options runner.Options
	store   approvals.Store
	log     string // the server's
	tools   string // the file with the server's tools
	pool    *mcpsource.Pool
	read    int // lines of the log that arrived has returned
}

func newWorld(t *testing.T) *world {
	t.Helper()
	dir := t.TempDir()
	w := &world{store: approvals.NewMemory(), log: filepath.Join(dir, "calls.log"), tools: filepath.Join(dir, "tools.json")}
	w.pool = mcpsource.NewPool([]mcpsource.ServerConfig{{Name: "s", Command: serverProgram, Args: []string{w.log, w.tools}, StartTimeout: 20 * time.Second}}, mcpsource.Options{})
	t.Cleanup(func() { require.NoError(t, w.pool.Close()) })
	w.pool.Start(t.Context())
	work := filepath.Join(dir, "work")
	require.NoError(t, os.Mkdir(work, 0o700))
	w.options = runner.Options{
		Dir: work, Utilities: true, Timeout: 30 * time.Second, Gate: approvals.NewGate(w.store, approvals.Config{}),
		Catalog: func(context.Context) *catalog.Catalog {
			return catalog.New(w.pool.Sources(), nil, catalog.Options{})
		},
	}
	return w
}

// fresh empties the working directory and the approvals.
func (w *world) fresh(t *testing.T) {
	t.Helper()
	require.NoError(t, os.RemoveAll(w.options.Dir))
	require.NoError(t, os.Mkdir(w.options.Dir, 0o700))
	w.store = approvals.NewMemory()
	w.options.Gate = approvals.NewGate(w.store, approvals.Config{})
}

func (w *world) run(t *testing.T, script string) report.Result {
	t.Helper()
	r, err := runner.New(w.options)
	require.NoError(t, err)
	result, err := r.Run(context.Background(), runner.Script{Text: script, Session: "s"})
	require.NoError(t, err)
	return result
}

// answer answers the requests of a result, in order.
func (w *world) answer(t *testing.T, r report.Result, decisions ...approvals.Decision) {
	t.Helper()
	require.Len(t, r.ApprovalRequests, len(decisions), "%+v", r)
	for i, d := range decisions {
		_, err := w.options.Gate.Answer(context.Background(), r.ApprovalRequests[i].ID, d, "ana")
		require.NoError(t, err)
	}
}

// arrived is what the server has received since it was last asked, oldest
// first, as it wrote it down itself.
func (w *world) arrived(t *testing.T) (out []arrival) {
	t.Helper()
	all := readLog(t, w.log)
	out = all[w.read:]
	w.read = len(all)
	return out
}

// readLog reads a server's log.
func readLog(t *testing.T, name string) (out []arrival) {
	b, err := os.ReadFile(name)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
	for line := range bytes.Lines(b) {
		var a arrival
		if err := json.Unmarshal(line, &a); err != nil {
			t.Errorf("%s: %v in %q", name, err, line)
		}
		out = append(out, a)
	}
	return out
}

// gated are the calls among them that need an answer.
func (w *world) gated(t *testing.T) (out []arrival) {
	t.Helper()
	for _, a := range w.arrived(t) {
		if a.Tool == "del" {
			out = append(out, a)
		}
	}
	return out
}
