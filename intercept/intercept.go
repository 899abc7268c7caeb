package intercept

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/tools-in-shell/tis/analyze"
	"github.com/tools-in-shell/tis/approvals"
	"github.com/tools-in-shell/tis/catalog"
	"github.com/tools-in-shell/tis/report"
)

// Before is a guardrail before a call. An error refuses the call (`denied`). It
// may return the call with another input, which is checked again; another tool
// refuses the call.
type Before func(ctx context.Context, call catalog.Call) (catalog.Call, error)

// After sees a call's result before the script does, and may change it.
type After func(ctx context.Context, call catalog.Call, out catalog.Output, err error) (catalog.Output, error)

// Config of an Interceptor. Catalog and Report are required.
type Config struct {
	Catalog *catalog.Catalog
	// Gate judges the calls. Nil asks about nothing.
	Gate           *approvals.Gate
	Session, RunID string
	Report         *report.Run
	Before         []Before
	After          []After
	HookTimeout    time.Duration // of one hook; default 30 seconds
	CallTimeout    time.Duration // of one call; default 60 seconds
	MaxResult      int64         // bytes of one result; default 10 MiB
	// OnStop is called once a call has stopped the run.
	OnStop func(report.Stop)
}

// Interceptor answers the tools commands of one run. It is safe for concurrent use.
type Interceptor struct{ Config }

// New makes an Interceptor.
func New(cfg Config) *Interceptor {
	if cfg.HookTimeout == 0 {
		cfg.HookTimeout = 30 * time.Second
	}
	if cfg.CallTimeout == 0 {
		cfg.CallTimeout = time.Minute
	}
	if cfg.MaxResult == 0 {
		cfg.MaxResult = 10 << 20
	}
	return &Interceptor{cfg}
}

// Stdio is what one command reads and writes.
type Stdio struct {
	// Attached is stdin when it belongs to this very command, else nil.
	Attached io.Reader
	// Inherited is what `-` reads when nothing is attached; may be nil.
	Inherited      io.Reader
	Stdout, Stderr io.Writer
	// Dir is where images and other files are saved; nil saves nothing.
	Dir WriteDir
}

// WriteDir makes new files below the run's working directory. Create makes the
// folders above the file, and fails with fs.ErrExist when the name is taken.
type WriteDir interface {
	Create(name string) (io.WriteCloser, error)
}

// Command answers the words after `tools` and returns the exit code: 0, or 1
// with one JSON line on stderr. Nothing is on stdout when a call fails.
func (i *Interceptor) Command(ctx context.Context, args []string, std Stdio) (exit int) {
	defer func() {
		if p := recover(); p != nil {
			exit = fail(std, catalog.Errorf(catalog.Unavailable, "tools failed inside: %v", p))
		}
	}()
	req, err := i.Catalog.Resolve(ctx, args, std.Attached, std.Inherited)
	switch {
	case i.Report.Stopped() != nil:
		return fail(std, stopped())
	case err != nil:
		return fail(std, err)
	case req.Plan:
		return i.plan(ctx, std)
	case req.Call == nil:
		return write(std, req.Text)
	}
	call, out, err := i.call(ctx, *req.Call)
	if err != nil {
		return fail(std, err)
	}
	return i.render(std, call, out)
}

func stopped() *catalog.Error {
	return catalog.Errorf(catalog.Stopped, "an earlier call stopped the script, so this one did not run")
}

func fail(std Stdio, err *catalog.Error) int {
	io.WriteString(std.Stderr, err.Line()+"\n")
	return 1
}

// write prints to the script. A reader that has gone is the script's own doing.
func write(std Stdio, text string) int {
	if _, err := io.WriteString(std.Stdout, text); err != nil {
		return 1
	}
	return 0
}

// call takes a resolved call from the schema check to the record.
func (i *Interceptor) call(ctx context.Context, call catalog.Call) (catalog.Call, catalog.Output, *catalog.Error) {
	none := catalog.Output{}
	if err := call.Tool.Check(call.Input); err != nil {
		return call, none, err
	}
	if !i.Report.Count() {
		stop := report.Stop{Reason: report.CallLimit, Call: &call}
		if !i.Report.Stop(stop) {
			return call, none, stopped()
		}
		i.onStop(stop)
		return call, none, catalog.Errorf(catalog.CallLimit, "the script has made as many tool calls as one run may; it was stopped before %s", call.Tool.Command())
	}
	call, err := i.before(ctx, call)
	if err != nil {
		return call, none, err
	}
	if err := i.authorize(ctx, call); err != nil {
		return call, none, err
	}
	if call.Tool.Executor == nil {
		return call, none, catalog.Errorf(catalog.Unavailable, "%s cannot run here", call.Tool.Command())
	}
	entry := i.Report.Begin(&call)
	if entry == nil {
		return call, none, stopped()
	}
	out, err := i.execute(ctx, call)
	if err == nil {
		err = i.tooLarge(call, out)
	}
	out, err = i.after(ctx, call, out, err)
	if err != nil {
		entry.End(nil, err)
		return call, none, err
	}
	entry.End(recorded(out), nil)
	return call, out, nil
}

func (i *Interceptor) onStop(stop report.Stop) {
	if i.OnStop != nil {
		i.OnStop(stop)
	}
}

// authorize asks the gate. A call that needs an answer stops the run.
func (i *Interceptor) authorize(ctx context.Context, call catalog.Call) *catalog.Error {
	if i.Gate == nil {
		return nil
	}
	if i.Report.Stopped() != nil {
		return stopped()
	}
	v, err := i.Gate.Authorize(ctx, i.Session, i.RunID, call)
	if err != nil {
		return closed(err)
	}
	note := ""
	if v.Message != "" {
		note = ": " + v.Message
	}
	switch v.Outcome {
	case approvals.Run:
		return nil
	case approvals.Deny:
		return catalog.Errorf(catalog.Denied, "%s was refused (%s)%s", call.Tool.Command(), v.Why, note)
	}
	stop := report.Stop{Reason: report.NeedsApproval, Call: &call, Message: v.Message}
	if !i.Report.Stop(stop) {
		return stopped()
	}
	defer i.onStop(stop)
	requests, err := i.Gate.Ask(context.WithoutCancel(ctx), i.Session, i.RunID, []catalog.Call{call})
	if err != nil {
		return closed(err)
	}
	i.Report.Ask(requests)
	return catalog.Errorf(catalog.NeedsApproval, "%s needs a person's approval (%s), so the script was stopped there%s", call.Tool.Command(), v.Why, note)
}

// closed refuses a call because approvals can't be checked.
func closed(err error) *catalog.Error {
	return &catalog.Error{Code: catalog.Unavailable, Retryable: true, Message: "approvals cannot be checked, so the call was not made: " + err.Error()}
}

// execute runs the tool.
func (i *Interceptor) execute(ctx context.Context, call catalog.Call) (out catalog.Output, fault *catalog.Error) {
	ctx, cancel := context.WithTimeout(ctx, i.CallTimeout)
	defer cancel()
	defer func() {
		if p := recover(); p != nil {
			fault = catalog.Errorf(catalog.ToolError, "%s failed inside: %v", call.Tool.Command(), p)
		}
	}()
	out, err := call.Tool.Executor.Execute(ctx, call.Input)
	if err == nil {
		return out, nil
	}
	var ce *catalog.Error
	switch {
	case errors.As(err, &ce):
		return out, ce
	case errors.Is(err, context.DeadlineExceeded):
		return out, &catalog.Error{Code: catalog.ToolError, Retryable: true, Message: fmt.Sprintf("outcome unknown: %s did not answer in %v", call.Tool.Command(), i.CallTimeout)}
	case errors.Is(err, context.Canceled):
		return out, &catalog.Error{Code: catalog.ToolError, Retryable: true, Message: "outcome unknown: the run ended while " + call.Tool.Command() + " was at work"}
	}
	return out, catalog.Errorf(catalog.ToolError, "%v", err)
}

func (i *Interceptor) tooLarge(call catalog.Call, out catalog.Output) *catalog.Error {
	size := int64(len(out.Structured))
	for _, p := range out.Parts {
		size += int64(max(len(p.Text)+len(p.Data), len(p.Raw)))
	}
	if size <= i.MaxResult {
		return nil
	}
	return catalog.Errorf(catalog.ToolError, "%s ran, and its result of %d bytes is over the limit of %d; ask for less", call.Tool.Command(), size, i.MaxResult)
}

// plan prints what the script on stdin would call. It runs nothing, asks
// nobody and counts for nothing.
func (i *Interceptor) plan(ctx context.Context, std Stdio) int {
	in := std.Attached
	if in == nil {
		in = std.Inherited
	}
	if in == nil {
		return fail(std, catalog.Errorf(catalog.InvalidInput, "tools plan reads a script from stdin, as in tools plan <<'EOF'"))
	}
	const limit = 4 << 20
	text, err := io.ReadAll(io.LimitReader(in, limit+1))
	if err != nil {
		return fail(std, catalog.Errorf(catalog.InvalidInput, "the script on stdin cannot be read: %v", err))
	}
	if len(text) > limit {
		return fail(std, catalog.Errorf(catalog.InvalidInput, "the script on stdin is larger than 4 MiB"))
	}
	script, err := analyze.Parse(string(text), "stdin")
	if err != nil {
		return fail(std, catalog.Errorf(catalog.InvalidInput, "the script does not parse: %v", err))
	}
	plan, err := script.Plan(i.Catalog, func(calls []catalog.Call) ([]approvals.Verdict, error) {
		if i.Gate == nil {
			return approvals.NewGate(approvals.NewMemory(), approvals.Config{Mode: approvals.Off}).Preview(ctx, i.Session, calls)
		}
		return i.Gate.Preview(ctx, i.Session, calls)
	})
	if err != nil {
		return fail(std, closed(err))
	}
	raw, err := json.Marshal(plan)
	if err != nil {
		return fail(std, catalog.Errorf(catalog.Unavailable, "%v", err))
	}
	return write(std, string(raw)+"\n")
}
