package endtoend_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tools-in-shell/tis/approvals"
)

// failing is a store of which the n-th use of a method fails: before anything
// is done, or after it has been written. A store that hangs up for good fails
// in everything from then on.
type failing struct {
	approvals.Store
	method  string // any for ""
	nth     int    // from 0
	after   bool
	forGood bool

	mu   sync.Mutex
	uses int
	hit  string // the method that failed first
}

var errDisk = errors.New("the disk is gone")

// fails reports whether this use of a method fails.
func (f *failing) fails(method string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.method != "" && f.method != method {
		return false
	}
	n := f.uses
	f.uses++
	fails := n == f.nth || f.forGood && n > f.nth
	if fails && f.hit == "" {
		f.hit = method
	}
	return fails
}

// with runs a method of the store below, or fails.
func with[T any](f *failing, method string, do func() (T, error)) (T, error) {
	var none T
	if !f.fails(method) {
		return do()
	}
	if f.after {
		if _, err := do(); err != nil {
			return none, err
		}
	}
	return none, errDisk
}

func (f *failing) Raise(ctx context.Context, r approvals.Request, n int, now time.Time) (approvals.Request, error) {
	return with(f, "Raise", func() (approvals.Request, error) { return f.Store.Raise(ctx, r, n, now) })
}

func (f *failing) Answer(ctx context.Context, id string, d approvals.Decision, who string, now time.Time) (approvals.Request, error) {
	return with(f, "Answer", func() (approvals.Request, error) { return f.Store.Answer(ctx, id, d, who, now) })
}

func (f *failing) Answers(ctx context.Context, session, identity, fingerprint string) (approvals.Answers, error) {
	return with(f, "Answers", func() (approvals.Answers, error) { return f.Store.Answers(ctx, session, identity, fingerprint) })
}

func (f *failing) Consume(ctx context.Context, u approvals.Use) (approvals.Decision, bool, error) {
	type used struct {
		d  approvals.Decision
		ok bool
	}
	out, err := with(f, "Consume", func() (used, error) {
		d, ok, err := f.Store.Consume(ctx, u)
		return used{d, ok}, err
	})
	return out.d, out.ok, err
}

func (f *failing) Record(ctx context.Context, e approvals.Event) error {
	_, err := with(f, "Record", func() (struct{}, error) { return struct{}{}, f.Store.Record(ctx, e) })
	return err
}

func (f *failing) Allowed(ctx context.Context, session, tool string) (approvals.Request, bool, error) {
	type found struct {
		r  approvals.Request
		ok bool
	}
	out, err := with(f, "Allowed", func() (found, error) {
		r, ok, err := f.Store.Allowed(ctx, session, tool)
		return found{r, ok}, err
	})
	return out.r, out.ok, err
}

func (f *failing) Open(ctx context.Context, session string, now time.Time) ([]approvals.Request, error) {
	return with(f, "Open", func() ([]approvals.Request, error) { return f.Store.Open(ctx, session, now) })
}

func (f *failing) History(ctx context.Context, session string) ([]approvals.Event, error) {
	return with(f, "History", func() ([]approvals.Event, error) { return f.Store.History(ctx, session) })
}

// A store that fails at any step, before or after it wrote, once or from then
// on, lets no call through whose answer is not recorded as used, and the script
// hears of it.
func TestAStoreThatFailsAtAStep(t *testing.T) {
	w := newWorld(t)
	answers := map[string]approvals.Decision{"nobody answered": "", "allowed": approvals.Allow, "allowed always": approvals.AllowAlways, "rejected": approvals.Reject, "rejected always": approvals.RejectAlways}
	scripts := map[string]string{
		"visible": "tools s del a=1", "dynamic": "x=1; tools s del a=$x", "after another": "tools s put; x=1; tools s del a=$x", "twice": "tools s del a=1; x=1; tools s del a=$x", "hidden": "x=1; tools s del a=$x || true; tools s del a=$x | while read -r l; do :; done",
	}
	hits := map[string]int{}
	for answered, decision := range answers {
		for name, script := range scripts {
			for _, way := range []struct{ after, forGood bool }{{false, false}, {true, false}, {false, true}, {true, true}} {
				for step := 0; ; step++ {
					w.fresh(t)
					if decision != "" {
						w.answer(t, w.run(t, "tools s del a=1"), decision)
					}
					require.Empty(t, w.gated(t))
					store := &failing{Store: w.store, nth: step, after: way.after, forGood: way.forGood}
					w.options.Gate = approvals.NewGate(store, approvals.Config{})
					r := w.run(t, script)
					at := fmt.Sprintf("%s, %s, step %d, %+v: %+v", answered, name, step, way, r)
					arrived := len(w.gated(t))
					require.LessOrEqual(t, arrived, w.used(t), at)
					if decision != approvals.Allow && decision != approvals.AllowAlways {
						require.Zero(t, arrived, at)
					}
					if store.hit == "" { // the run takes no more steps
						break
					}
					hits[store.hit]++
					require.Contains(t, r.Stderr, errDisk.Error(), at)
					require.Contains(t, r.Stderr, `"unavailable"`, at)
				}
			}
		}
	}
	for _, method := range []string{"Raise", "Answers", "Consume", "Record"} {
		require.Positive(t, hits[method], method)
	}
}

// An answer that could not be written lets nothing through; one that was
// written lets one call through, also when the person was told that it failed.
func TestAnAnswerThatFails(t *testing.T) {
	w := newWorld(t)
	for _, decision := range []approvals.Decision{approvals.Allow, approvals.AllowAlways} {
		for _, after := range []bool{false, true} {
			w.fresh(t)
			asked := w.run(t, "tools s del a=1")
			gate := approvals.NewGate(&failing{Store: w.store, method: "Answer", after: after}, approvals.Config{})
			_, err := gate.Answer(context.Background(), asked.ApprovalRequests[0].ID, decision, "ana")
			require.ErrorIs(t, err, errDisk)
			w.run(t, "tools s del a=1")
			want := 0
			if after {
				want = 1
			}
			require.Len(t, w.gated(t), want)
			require.Equal(t, want, w.used(t))
		}
	}
}

// A list or a history that cannot be read is an error, and no empty one.
func TestReadsThatFail(t *testing.T) {
	w := newWorld(t)
	w.run(t, "tools s del a=1")
	for _, method := range []string{"Open", "History"} {
		gate := approvals.NewGate(&failing{Store: w.store, method: method, forGood: true}, approvals.Config{})
		_, listFault := gate.List(context.Background(), "")
		_, historyFault := gate.History(context.Background(), "")
		require.Equal(t, method == "Open", errors.Is(listFault, errDisk))
		require.Equal(t, method == "History", errors.Is(historyFault, errDisk))
	}
}
