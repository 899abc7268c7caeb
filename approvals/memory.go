package approvals

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"
)

// NewMemory makes a store that lives as long as the program.
func NewMemory() Store { return &memory{always: map[[2]string]Always{}} }

type memory struct {
	mu       sync.Mutex
	requests []*memoryRequest     // in the order asked
	always   map[[2]string]Always // by session and identity
	events   []Event
	closed   bool
}

type memoryRequest struct {
	Request
	decision Decision
	who      string
	used     bool
}

var errClosed = errors.New("the approvals store is closed")

// lock takes the store, and fails when it is closed or the caller has gone.
func (m *memory) lock(ctx context.Context) (unlock func(), err error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	m.mu.Lock()
	if m.closed {
		m.mu.Unlock()
		return nil, errClosed
	}
	return m.mu.Unlock, nil
}

// copy is the request without memory that the store shares.
func (r *memoryRequest) copy() Request {
	out := r.Request
	out.Arguments, out.Definition = slices.Clone(out.Arguments), slices.Clone(out.Definition)
	out.Line, out.Source = 0, "" // the asker's own
	return out
}

func (r *memoryRequest) open(now time.Time) bool { return r.decision == "" && now.Before(r.ExpiresAt) }

func (m *memory) Raise(ctx context.Context, r Request, n int, now time.Time) (Request, error) {
	unlock, err := m.lock(ctx)
	if err != nil {
		return Request{}, err
	}
	defer unlock()
	for _, have := range m.requests {
		if have.Session == r.Session && have.Fingerprint == r.Fingerprint && have.open(now) {
			if n == 0 {
				return have.copy(), nil
			}
			n--
		}
	}
	added := &memoryRequest{Request: r}
	added.Request = added.copy()
	m.requests = append(m.requests, added)
	return r, nil
}

func (m *memory) Answer(ctx context.Context, id string, d Decision, who string, now time.Time) (Request, error) {
	unlock, err := m.lock(ctx)
	if err != nil {
		return Request{}, err
	}
	defer unlock()
	for _, r := range m.requests {
		switch {
		case r.ID != id:
			continue
		case r.decision != "":
			return Request{}, ErrAnswered
		case !now.Before(r.ExpiresAt):
			return Request{}, ErrExpired
		}
		r.decision, r.who = d, who
		if d.always() {
			m.always[[2]string{r.Session, r.Identity}] = Always{d, id, who}
		}
		m.events = append(m.events, Event{At: now, What: string(d), Request: id, Session: r.Session, Command: r.Command, Who: who})
		return r.copy(), nil
	}
	return Request{}, ErrUnknownRequest
}

// oneOff reports whether r holds an unused one-off answer for an exact call.
func (r *memoryRequest) oneOff(session, fingerprint string) bool {
	return r.Session == session && r.Fingerprint == fingerprint && !r.used && (r.decision == Allow || r.decision == Reject)
}

func (m *memory) Answers(ctx context.Context, session, identity, fingerprint string) (Answers, error) {
	unlock, err := m.lock(ctx)
	if err != nil {
		return Answers{}, err
	}
	defer unlock()
	out := Answers{Always: m.always[[2]string{session, identity}]}
	for _, r := range m.requests {
		if r.oneOff(session, fingerprint) {
			out.OneOff = append(out.OneOff, r.decision)
		}
	}
	return out, nil
}

func (m *memory) Consume(ctx context.Context, u Use) (Decision, bool, error) {
	unlock, err := m.lock(ctx)
	if err != nil {
		return "", false, err
	}
	defer unlock()
	for _, r := range m.requests {
		if r.oneOff(u.Session, u.Fingerprint) && (r.decision == Reject || !u.RejectOnly) {
			r.used = true
			m.events = append(m.events, Event{At: u.At, What: UseOf(r.decision), Request: r.ID, Session: u.Session, Command: r.Command, Who: r.who, Run: u.Run})
			return r.decision, true, nil
		}
	}
	return "", false, nil
}

func (m *memory) Record(ctx context.Context, e Event) error {
	unlock, err := m.lock(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	m.events = append(m.events, e)
	return nil
}

func (m *memory) Allowed(ctx context.Context, session, tool string) (Request, bool, error) {
	unlock, err := m.lock(ctx)
	if err != nil {
		return Request{}, false, err
	}
	defer unlock()
	for _, r := range slices.Backward(m.requests) {
		if r.Session == session && r.Tool == tool && (r.decision == Allow || r.decision == AllowAlways) {
			return r.copy(), true, nil
		}
	}
	return Request{}, false, nil
}

func (m *memory) Open(ctx context.Context, session string, now time.Time) ([]Request, error) {
	unlock, err := m.lock(ctx)
	if err != nil {
		return nil, err
	}
	defer unlock()
	var out []Request
	for _, r := range m.requests {
		if (session == "" || r.Session == session) && r.open(now) {
			out = append(out, r.copy())
		}
	}
	return out, nil
}

func (m *memory) History(ctx context.Context, session string) ([]Event, error) {
	unlock, err := m.lock(ctx)
	if err != nil {
		return nil, err
	}
	defer unlock()
	var out []Event
	for _, e := range m.events {
		if session == "" || e.Session == session {
			out = append(out, e)
		}
	}
	return out, nil
}

func (m *memory) Close() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.closed = true
	return nil
}
