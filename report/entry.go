package report

import (
	"encoding/json"
	"errors"
	"slices"

	"github.com/tools-in-shell/tis/catalog"
)

// Entry is a call in flight.
type Entry struct {
	run     *Run
	call    catalog.Call
	started bool
}

// Reserve takes a call's place in the record before it is known whether it may
// start: a stop that comes later finds it in flight. It is nil when the record
// is closed or the run has been stopped; then the call must not start. Only a
// stop at the call limit is no bar to a call that has been counted before it.
func (r *Run) Reserve(call *catalog.Call) *Entry {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.isClosed() || r.stop != nil && r.stop.Reason != CallLimit {
		return nil
	}
	e := &Entry{run: r, call: *call}
	r.inFlight = append(r.inFlight, e)
	return e
}

// Begin is Reserve and Start for a call that starts at once.
func (r *Run) Begin(call *catalog.Call) *Entry {
	if e := r.Reserve(call); e != nil && e.Start() {
		return e
	}
	return nil
}

// Start says that the call really starts now. It is false when the record has
// been closed meanwhile; then the call must not start.
func (e *Entry) Start() bool {
	e.run.mu.Lock()
	defer e.run.mu.Unlock()
	e.started = slices.Contains(e.run.inFlight, e)
	return e.started
}

// Drop takes back a call that never started. Once it has, Drop does nothing.
func (e *Entry) Drop() {
	r := e.run
	r.mu.Lock()
	defer r.mu.Unlock()
	if !e.started {
		r.land(e)
	}
}

// Unmade takes back a call that was started and did not reach its tool.
func (e *Entry) Unmade() {
	r := e.run
	r.mu.Lock()
	defer r.mu.Unlock()
	r.land(e)
}

// End records how the call ended: its result as JSON, or its error. Only the
// first End counts, and none once the record is closed.
func (e *Entry) End(result json.RawMessage, err error) {
	r := e.run
	r.mu.Lock()
	defer r.mu.Unlock()
	if slices.Contains(r.inFlight, e) {
		r.add(e.call, result, err)
		r.land(e)
	}
}

// land takes an entry out of the flight. It needs the lock, as add does.
func (r *Run) land(e *Entry) {
	if i := slices.Index(r.inFlight, e); i >= 0 {
		r.inFlight = slices.Delete(r.inFlight, i, i+1)
		r.settle()
	}
}

// add writes an ended call down: reads are counted, everything else is listed.
func (r *Run) add(call catalog.Call, result json.RawMessage, err error) {
	if call.Tool.Hints.IsReadOnly() {
		r.reads++
		return
	}
	d := Done{Tool: call.Tool.Command(), Input: call.Input, OK: err == nil}
	if err != nil {
		d.Error = shorten(message(err), maxError)
	} else {
		d.Result = cut(result, r.limits.ResultChars)
	}
	r.done = append(r.done, d)
}

// maxError bounds an error's text, in characters. It is longer than a result's:
// the text is all that there is to go by.
const maxError = 4000

// errUnknown is the outcome of a call that was still at work at the end.
var errUnknown = errors.New("outcome unknown: the run ended before the tool answered")
