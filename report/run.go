package report

import (
	"context"
	"encoding/json"
	"slices"
	"sync"

	"github.com/tools-in-shell/tis/approvals"
	"github.com/tools-in-shell/tis/catalog"
)

// Limits of a run's record. Zero fields take the defaults.
type Limits struct {
	MaxCalls    int // calls of a run; default 50
	ResultChars int // characters of a result in the report; default 400
}

// Reason says why a run was stopped.
type Reason string

// The reasons.
const (
	NeedsApproval Reason = "needs_approval"
	CallLimit     Reason = "call_limit"
	TimeLimit     Reason = "time_limit"
	Cancelled     Reason = "cancelled"
	ResourceLimit Reason = "resource_limit"
)

// Stop is the end of a run before its script's own end.
type Stop struct {
	Reason      Reason
	Call        *catalog.Call // the call that was not made, if one stopped the run
	BeforeStart bool
	Requests    []approvals.Request
	Message     string
}

// Run records one run. It is safe for concurrent use.
type Run struct {
	limits Limits

	mu       sync.Mutex
	calls    int
	reads    int
	inFlight []*Entry
	done     []Done
	stop     *Stop
	closed   bool
	idle     chan struct{} // closed when nothing is in flight; nil when none waits
}

// New makes the record of a run.
func New(limits Limits) *Run {
	if limits.MaxCalls == 0 {
		limits.MaxCalls = 50
	}
	if limits.ResultChars == 0 {
		limits.ResultChars = 400
	}
	return &Run{limits: limits}
}

// Count counts a call towards the limit. It is false for a call past it.
func (r *Run) Count() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.calls >= r.limits.MaxCalls {
		return false
	}
	r.calls++
	return true
}

// Entry is a call in flight.
type Entry struct {
	run  *Run
	call *catalog.Call
}

// Begin records that a call really starts. It is nil when the record is closed
// or the run has been stopped: then the call must not start.
func (r *Run) Begin(call *catalog.Call) *Entry {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed || r.stop != nil {
		return nil
	}
	e := &Entry{run: r, call: call}
	r.inFlight = append(r.inFlight, e)
	return e
}

// End records how the call ended: its result as JSON, or its error. Only the
// first End counts.
func (e *Entry) End(result json.RawMessage, err error) {
	r := e.run
	r.mu.Lock()
	defer r.mu.Unlock()
	i := slices.Index(r.inFlight, e)
	if i < 0 {
		return
	}
	r.inFlight = slices.Delete(r.inFlight, i, i+1)
	r.add(e.call, result, err)
	if len(r.inFlight) == 0 && r.idle != nil {
		close(r.idle)
		r.idle = nil
	}
}

// add writes an ended call down: reads are counted, everything else is listed.
func (r *Run) add(call *catalog.Call, result json.RawMessage, err error) {
	if call.Tool.Hints.IsReadOnly() {
		r.reads++
		return
	}
	d := Done{Tool: call.Tool.Command(), Input: call.Input, OK: err == nil}
	if err != nil {
		d.Error = message(err)
	} else {
		d.Result = cut(result, r.limits.ResultChars)
	}
	r.done = append(r.done, d)
}

// Stop records the stop. The first one wins; it reports whether this was it.
func (r *Run) Stop(s Stop) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.stop != nil || r.closed {
		return false
	}
	r.stop = &s
	return true
}

// Ask completes a stop with the requests that it waits for.
func (r *Run) Ask(requests []approvals.Request) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.stop != nil {
		r.stop.Requests = requests
	}
}

// Stopped is the stop, or nil while the run goes on.
func (r *Run) Stopped() *Stop {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.stop
}

// Finish waits until no call is in flight or ctx is done, and closes the
// record: what is in flight then stands in it with its outcome unknown, and no
// call begins any more.
func (r *Run) Finish(ctx context.Context) {
	r.mu.Lock()
	var idle chan struct{}
	if len(r.inFlight) > 0 {
		if r.idle == nil {
			r.idle = make(chan struct{})
		}
		idle = r.idle
	}
	r.mu.Unlock()
	if idle != nil {
		select {
		case <-idle:
		case <-ctx.Done():
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.closed = true
	for _, e := range r.inFlight {
		r.add(e.call, nil, errUnknown)
	}
	r.inFlight = nil
}

var errUnknown = unknownOutcome{}

type unknownOutcome struct{}

func (unknownOutcome) Error() string {
	return "outcome unknown: the run ended before the tool answered"
}
