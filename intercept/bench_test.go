package intercept_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/tools-in-shell/tis/approvals"
	"github.com/tools-in-shell/tis/catalog"
	"github.com/tools-in-shell/tis/intercept"
	"github.com/tools-in-shell/tis/report"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var ctx = context.Background()

// bench is an interceptor over one server "s" whose tools are functions.
type bench struct {
	t     *testing.T
	cfg   intercept.Config
	store approvals.Store
	tools []*catalog.Tool
	dir   string
	stdin io.Reader // attached

	mu   sync.Mutex
	seen []string // "tool input" of every execution
	i    *intercept.Interceptor
}

type act = func(ctx context.Context, input json.RawMessage) (catalog.Output, error)

func newBench(t *testing.T) *bench {
	b := &bench{t: t, store: approvals.NewMemory(), dir: t.TempDir()}
	b.cfg = intercept.Config{Session: "session", RunID: "run", Report: report.New(report.Limits{}), Gate: approvals.NewGate(b.store, approvals.Config{})}
	b.tool("get", `{"readOnlyHint":true}`, echo)
	b.tool("put", `{}`, echo)
	b.tool("del", `{"destructiveHint":true}`, echo)
	return b
}

// echo returns its input as text.
func echo(_ context.Context, in json.RawMessage) (catalog.Output, error) {
	return catalog.TextOutput(string(in)), nil
}

func returns(out catalog.Output, err error) act {
	return func(context.Context, json.RawMessage) (catalog.Output, error) { return out, err }
}

// tool adds a tool whose key "n" has to be an integer.
func (b *bench) tool(name, hints string, run act) *catalog.Tool {
	b.t.Helper()
	raw := `{"name":"` + name + `","annotations":` + hints + `,"inputSchema":{"type":"object","properties":{"n":{"type":"integer"}}}}`
	tool, err := catalog.ToolFromMCP("s", json.RawMessage(raw))
	require.NoError(b.t, err)
	if run != nil {
		tool.Executor = catalog.ExecutorFunc(func(ctx context.Context, in json.RawMessage) (catalog.Output, error) {
			b.mu.Lock()
			b.seen = append(b.seen, name+" "+string(in))
			b.mu.Unlock()
			return run(ctx, in)
		})
	}
	b.tools = append(b.tools, tool)
	return tool
}

// ran is what one command printed.
type ran struct {
	exit           int
	stdout, stderr string
}

// run answers one command line; args are split at spaces.
func (b *bench) run(line string) ran { return b.runCtx(ctx, line) }

func (b *bench) runCtx(ctx context.Context, line string) ran {
	b.mu.Lock()
	if b.i == nil {
		b.cfg.Catalog = catalog.New([]catalog.Source{{Name: "s", Loaded: true, Tools: b.tools}}, nil, catalog.Options{})
		b.i = intercept.New(b.cfg)
	}
	b.mu.Unlock()
	var out, errs bytes.Buffer
	exit := b.i.Command(ctx, strings.Fields(line), intercept.Stdio{Attached: b.stdin, Stdout: &out, Stderr: &errs, Dir: folder(b.dir)})
	return ran{exit, out.String(), errs.String()}
}

// executed is what the tools got.
func (b *bench) executed() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return append([]string{}, b.seen...)
}

// report is the report of a run that failed.
func (b *bench) report() report.Result {
	return b.cfg.Report.Result(report.Output{}, report.Output{}, 1)
}

func (b *bench) done() []report.Done {
	if t := b.report().Tools; t != nil {
		return t.Done
	}
	return nil
}

// failed checks that a command failed as every command fails, and returns its error.
func failed(t *testing.T, r ran) catalog.Error {
	t.Helper()
	require.Equal(t, 1, r.exit, "%+v", r)
	require.Empty(t, r.stdout)
	require.Equal(t, 1, strings.Count(r.stderr, "\n"), r.stderr)
	require.True(t, strings.HasPrefix(r.stderr, `{"error":{"code":"`), r.stderr)
	var env struct {
		Error struct {
			Code      catalog.Code
			Message   string
			Retryable bool
		}
	}
	require.NoError(t, json.Unmarshal([]byte(r.stderr), &env))
	require.NotEmpty(t, env.Error.Message)
	return catalog.Error{Code: env.Error.Code, Message: env.Error.Message, Retryable: env.Error.Retryable}
}

// folder makes files below a directory, as a run does.
type folder string

func (f folder) Create(name string) (io.WriteCloser, error) {
	path := filepath.Join(string(f), name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return nil, err
	}
	return os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
}

// locked is a folder that cannot be written.
type locked struct{}

func (locked) Create(string) (io.WriteCloser, error) { return nil, fs.ErrPermission }

// broken is a store that cannot be reached.
type broken struct{ approvals.Store }

func (broken) Answers(context.Context, string, string, string) (approvals.Answers, error) {
	return approvals.Answers{}, errors.New("no route to host")
}
