package intercept

import (
	"context"
	"io"
	"slices"
	"time"

	"github.com/tools-in-shell/tis/approvals"
	"github.com/tools-in-shell/tis/catalog"
	"github.com/tools-in-shell/tis/report"
)

// Before is a guardrail before a call. It may return the call with another
// input, which is checked against the schema again. It refuses the call
// (`denied`) by an error, by another tool, and by not answering within the
// time-out. A hook that panics keeps the call from being made too (`tool_error`).
type Before func(ctx context.Context, call catalog.Call) (catalog.Call, error)

// After sees a call's result before the script does, and may change or redact
// it. err is how the call failed, nil when it did not; a hook that changes
// nothing returns out and err as they came. A nil error makes a success of the
// call. A hook's own failure withholds the result: the call did happen, and the
// report says so.
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
	// Grace is how long a call that is at work may go on when another one stops
	// the run; default 2 seconds.
	Grace     time.Duration
	MaxResult int64 // bytes of one result; default 10 MiB
	// OnStop is called once a call has stopped the run, with its requests.
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
	if cfg.Grace == 0 {
		cfg.Grace = 2 * time.Second
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
	if i.Report.Stopped() != nil { // loads no server and reads no stdin any more
		return fail(std, stopped())
	}
	req, err := i.Catalog.Resolve(ctx, args, std.Attached, std.Inherited)
	switch {
	case i.Report.Stopped() != nil:
		return fail(std, stopped())
	case err != nil:
		return fail(std, err)
	case req.Plan:
		in := std.Attached
		if in == nil && slices.Contains(args, "-") {
			in = std.Inherited
		}
		return i.plan(ctx, in, std)
	case req.Call == nil:
		return write(std, req.Text)
	}
	call, res, err := i.call(ctx, *req.Call)
	if err != nil {
		return fail(std, err)
	}
	for _, p := range res.files {
		save(std, call, p)
	}
	i.tellLinks(std, call, res.links)
	return write(std, res.text)
}

func stopped() *catalog.Error {
	return catalog.Errorf(catalog.Stopped, "the script has been stopped, so this call did not run")
}

func fail(std Stdio, err *catalog.Error) int {
	io.WriteString(std.Stderr, err.Line()+"\n")
	return 1
}

// write prints to the script. A reader that has gone is the script's own doing,
// and no failure of the call.
func write(std Stdio, text string) int {
	if text == "" {
		return 0
	}
	if _, err := io.WriteString(std.Stdout, text); err != nil {
		return 1
	}
	return 0
}
