package serve

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/tools-in-shell/tis/catalog"
	"github.com/tools-in-shell/tis/intercept"
	"github.com/tools-in-shell/tis/report"
)

// Observer is told of every script and every call, for traces and metrics. Its
// methods must be safe for concurrent use and return soon.
type Observer interface {
	// Script is called when a script, or a direct call, is about to be judged. The
	// context that it returns is that of the run; end is called once.
	Script(ctx context.Context, r Run) (run context.Context, end func(report.Result, error))
	// Call is called when a call has passed the schema check, in the context of
	// its run, and end once it is over: with ErrNotMade when the gate or a stop
	// kept it from being made.
	Call(ctx context.Context, call catalog.Call) (end func(error))
}

// Run is a script, or a direct call, as an observer is told of it.
type Run struct {
	Session string
	Tool    string // bash, or the tool of a direct call by its registry name
	Direct  bool
	Meta    map[string]any // _meta of the client's request
}

// ErrNotMade ends a call that was not made.
var ErrNotMade = errors.New("the call was not made")

// nobody observes nothing.
type nobody struct{}

func (nobody) Script(ctx context.Context, _ Run) (context.Context, func(report.Result, error)) {
	return ctx, func(report.Result, error) {}
}

func (nobody) Call(context.Context, catalog.Call) func(error) { return func(error) {} }

// watched is a run that the observer and the log are told of.
type watched struct {
	*session
	began time.Time
	over  func(report.Result, error)

	mu    sync.Mutex
	calls int
	open  map[uint64]func(error)
}

// observe begins a run.
func (c *session) observe(ctx context.Context, req *mcp.CallToolRequest) (context.Context, *watched) {
	w := &watched{session: c, began: time.Now(), open: map[uint64]func(error){}}
	ctx, w.over = c.server.o.Observer.Script(ctx, Run{c.name, req.Params.Name, req.Params.Name != bashName, req.Params.Meta})
	return ctx, w
}

// before and after are hooks. They change nothing and refuse nothing.
func (w *watched) before(ctx context.Context, call catalog.Call) (catalog.Call, error) {
	end := w.server.o.Observer.Call(ctx, call)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.calls++
	w.open[intercept.Number(ctx)] = end
	return call, nil
}

func (w *watched) after(ctx context.Context, _ catalog.Call, out catalog.Output, err error) (catalog.Output, error) {
	w.mu.Lock()
	end := w.open[intercept.Number(ctx)]
	delete(w.open, intercept.Number(ctx))
	w.mu.Unlock()
	if end != nil {
		end(err)
	}
	return out, err
}

// end ends the run, and counts the calls that it wanted to make; those that
// never got to their end were not made.
func (w *watched) end(r report.Result, err error) (calls int) {
	w.mu.Lock()
	open := w.open
	calls = w.calls
	w.open = map[uint64]func(error){}
	w.mu.Unlock()
	for _, end := range open {
		end(ErrNotMade)
	}
	w.over(r, err)
	attrs := []any{"exit", r.ExitCode, "calls", calls, "took", time.Since(w.began).Round(time.Millisecond)}
	if r.Tools != nil && r.Tools.Stopped != nil {
		attrs = append(attrs, "stopped", r.Tools.Stopped.Reason, "before_start", r.Tools.Stopped.BeforeStart)
	}
	if err != nil {
		attrs = append(attrs, "error", err)
	}
	w.log.Info("run", attrs...)
	return calls
}
