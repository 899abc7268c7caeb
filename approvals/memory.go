package approvals

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"
)

// NewMemory makes a store that lives as long as the program.
func NewMemory() Store { return &memory{standing: map[[2]string]Decision{}} }

type memory struct {
	mu       sync.Mutex
	requests []*memoryRequest // in the order asked
	standing map[[2]string]Decision
	events   []Event
	closed   bool
}

type memoryRequest struct {
	Request
	decision Decision
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
				return have.Request, nil
			}
			n--
		}
	}
	r.Arguments = slices.Clone(r.Arguments)
	m.requests = append(m.requests, &memoryRequest{Request: r})
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
		r.decision = d
		if d == AllowAlways || d == RejectAlways {
			m.standing[[2]string{r.Session, r.Identity}] = d
		}
		m.events = append(m.events, Event{At: now, What: string(d), Request: id, Session: r.Session, Command: r.Command, Who: who})
		return r.Request, nil
	}
	return Request{}, ErrUnknownRequest
}

func (m *memory) Standing(ctx context.Context, session, identity string) (Decision, error) {
	unlock, err := m.lock(ctx)
	if err != nil {
		return "", err
	}
	defer unlock()
	return m.standing[[2]string{session, identity}], nil
}

// oneOff reports whether r holds an unused one-off answer for an exact call.
func (r *memoryRequest) oneOff(session, fingerprint string) bool {
	return r.Session == session && r.Fingerprint == fingerprint && !r.used && (r.decision == Allow || r.decision == Reject)
}

func (m *memory) Unused(ctx context.Context, session, fingerprint string) ([]Decision, error) {
	unlock, err := m.lock(ctx)
	if err != nil {
		return nil, err
	}
	defer unlock()
	var out []Decision
	for _, r := range m.requests {
		if r.oneOff(session, fingerprint) {
			out = append(out, r.decision)
		}
	}
	return out, nil
}

func (m *memory) Consume(ctx context.Context, session, fingerprint, run string, now time.Time) (Decision, bool, error) {
	unlock, err := m.lock(ctx)
	if err != nil {
		return "", false, err
	}
	defer unlock()
	for _, r := range m.requests {
		if r.oneOff(session, fingerprint) {
			r.used = true
			m.events = append(m.events, Event{At: now, What: useOf(r.decision), Request: r.ID, Session: session, Command: r.Command, Run: run})
			return r.decision, true, nil
		}
	}
	return "", false, nil
}

// useOf names the use of an answer in the audit trail.
func useOf(d Decision) string {
	if d == Reject {
		return "denied"
	}
	return "used"
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
			out = append(out, r.Request)
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
