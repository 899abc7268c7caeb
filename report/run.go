package report

import (
	"context"
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
	asking   bool          // the stop's requests are being raised
	closed   chan struct{} // closed when the record is
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
	return &Run{limits: limits, closed: make(chan struct{})}
}

// MaxCalls is how many calls the run may make.
func (r *Run) MaxCalls() int { return r.limits.MaxCalls }

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

// Stop records the stop. The first one wins; it reports whether this was it.
func (r *Run) Stop(s Stop) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.stopLocked(s)
}

func (r *Run) stopLocked(s Stop) bool {
	if r.stop != nil || r.isClosed() {
		return false
	}
	r.stop = &s
	return true
}

// StopAsking is Stop for a call that needs an answer: once the stop is
// recorded, and only if it was the first, ask raises the requests that it waits
// for. Finish waits for ask, so that the report names them.
func (r *Run) StopAsking(s Stop, ask func() ([]approvals.Request, error)) (first bool, err error) {
	r.mu.Lock()
	first = r.stopLocked(s)
	r.asking = r.asking || first
	r.mu.Unlock()
	if !first {
		return false, nil
	}
	var requests []approvals.Request
	defer func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.stop.Requests, r.asking = requests, false
		r.settle()
	}()
	requests, err = ask()
	return true, err
}

// Stopped is the stop, or nil while the run goes on.
func (r *Run) Stopped() *Stop {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.stop == nil {
		return nil
	}
	s := *r.stop
	return &s
}

// Closed is closed once Finish has closed the record: what is still at work
// then can no longer be reported.
func (r *Run) Closed() <-chan struct{} { return r.closed }

// isClosed and settle need the lock.
func (r *Run) isClosed() bool {
	select {
	case <-r.closed:
		return true
	default:
		return false
	}
}

func (r *Run) settle() {
	if r.idle != nil && len(r.inFlight) == 0 && !r.asking {
		close(r.idle)
		r.idle = nil
	}
}

// Finish waits until no call is in flight and no request is being raised, or
// until ctx is done, and closes the record: a call that is still at work stands
// in it with its outcome unknown, and no call begins any more.
func (r *Run) Finish(ctx context.Context) {
	r.mu.Lock()
	if r.idle == nil {
		r.idle = make(chan struct{})
	}
	idle := r.idle
	r.settle()
	r.mu.Unlock()
	select {
	case <-idle:
	case <-ctx.Done():
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.isClosed() {
		close(r.closed)
	}
	for _, e := range r.inFlight {
		if e.started {
			r.add(e.call, nil, errUnknown)
		}
	}
	r.inFlight = nil
}
