package mcpsource

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/tools-in-shell/tis/catalog"
)

// server is one configured server: its connection, while it has one, and its
// tools, once it has listed them.
type server struct {
	cfg     ServerConfig
	opts    Options
	secrets *secrets
	log     ring        // its stderr
	stale   atomic.Bool // it said that its tools have changed
	// resources: it has some, as it said at its last start
	resources atomic.Bool

	life context.Context // of the pool
	work sync.WaitGroup  // flights, which outlive the calls that wait for them

	mu       sync.Mutex
	closed   bool
	conn     *conn
	starting *flight // a start under way
	loading  *flight // a listing under way
	listed   bool
	list     listing
	fault    *catalog.Error // why it last failed to start or to list; nil after a success
	failedAt time.Time
	refusal  *catalog.Error // why its last start failed
	failures int            // of starts, in a row
	retryAt  time.Time      // no start before this
	deaths   int            // soon after a start, in a row
}

func newServer(life context.Context, cfg ServerConfig, opts Options) *server {
	return &server{cfg: cfg, opts: opts, life: life, secrets: newSecrets(cfg)}
}

// flight is work that several callers may wait for. What it brings is set
// before landed is closed.
type flight struct {
	landed chan struct{}
	conn   *conn // of a start
	err    error
}

// wait waits for the flight to land, or for ctx.
func (f *flight) wait(ctx context.Context) error {
	select {
	case <-f.landed:
		return f.err
	default:
	}
	select {
	case <-f.landed:
		return f.err
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// fly starts work that goes on when its callers give up, and ends with the
// pool. s.mu is held. The work gets the start time-out.
func (s *server) fly(work func(ctx context.Context, f *flight)) *flight {
	f := &flight{landed: make(chan struct{})}
	s.work.Go(func() {
		ctx, cancel := context.WithTimeoutCause(s.life, s.cfg.StartTimeout, &noAnswer{s.cfg.StartTimeout})
		defer cancel()
		work(ctx, f)
		close(f.landed)
	})
	return f
}

// noAnswer is a server that took too long to start.
type noAnswer struct{ after time.Duration }

func (e *noAnswer) Error() string { return fmt.Sprintf("it did not answer in %v", e.after) }

// source is the server for a catalog.
func (s *server) source() catalog.Source {
	s.mu.Lock()
	defer s.mu.Unlock()
	src := catalog.Source{Name: s.cfg.Name, Description: s.cfg.Description, Tools: s.list.tools, Loaded: s.listed, Warnings: s.list.warnings, Resources: &resources{s}}
	switch {
	case s.listed:
	case s.cfg.OnDemand:
		src.Load = s.load
	case s.fault != nil:
		src.Unavailable = s.fault
	case s.loading != nil:
		src.Unavailable = &catalog.Error{Code: catalog.Unavailable, Retryable: true, Message: s.called() + " is still starting"}
	default:
		src.Unavailable = s.failed(errors.New("it has not been started"))
	}
	return src
}

// connect is the live connection, or a new one. After failures it refuses for a
// while, longer each time, rather than let every call wait for another.
func (s *server) connect(ctx context.Context) (*conn, error) {
	s.mu.Lock()
	switch {
	case s.closed || s.life.Err() != nil:
		s.mu.Unlock()
		return nil, errEnding
	case s.cfg.Err != "":
		s.mu.Unlock()
		return nil, errors.New(s.cfg.Err)
	case s.conn != nil && !s.conn.dead():
		defer s.mu.Unlock()
		return s.conn, nil
	case s.starting == nil && time.Now().Before(s.retryAt):
		defer s.mu.Unlock()
		again := *s.refusal
		again.Message += fmt.Sprintf("; it failed %d times in a row, the next try is in %v", s.failures, max(time.Until(s.retryAt).Round(time.Second), time.Second))
		return nil, &again
	case s.starting == nil:
		s.starting = s.fly(s.start)
	}
	f := s.starting
	s.mu.Unlock()
	if err := f.wait(ctx); err != nil {
		return nil, err
	}
	return f.conn, nil
}

const (
	soon     = 10 * time.Second // a server that dies within this of its start may do so again
	maxPause = 5 * time.Second  // between such starts
	maxRetry = time.Minute      // between starts that fail
)

// start replaces a dead connection by a new one.
func (s *server) start(ctx context.Context, f *flight) {
	s.mu.Lock()
	old := s.conn
	s.conn = nil
	if old != nil {
		if s.deaths++; time.Since(old.since) > soon {
			s.deaths = 0
		}
	}
	deaths := s.deaths
	s.mu.Unlock()
	if old != nil {
		old.close()
	}
	if deaths > 2 {
		sleep(ctx, min(100*time.Millisecond<<min(deaths-3, 10), maxPause))
	}
	c, err := dial(ctx, s)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.starting = nil
	if err != nil {
		if s.failures++; s.failures > 1 {
			s.retryAt = time.Now().Add(min(time.Second<<min(s.failures-2, 6), maxRetry))
		}
		s.refusal = s.startFault(err)
		if s.refusal.Code == catalog.ConnectionRequired {
			s.failures, s.retryAt = 0, time.Time{} // a person may sign in at any moment
		}
		s.fault, s.failedAt, f.err = s.refusal, time.Now(), s.refusal
		return
	}
	s.resources.Store(c.resources)
	// Close waits for this flight before it takes the connection.
	s.conn, f.conn, s.failures, s.retryAt = c, c, 0, time.Time{}
	if s.listed {
		s.fault = nil
		// It may have come back with other tools, and an answer that a person gave
		// for the old ones does not hold for them.
		s.stale.Store(true)
	}
}

// drop gives a connection up; the next call makes a new one.
func (s *server) drop(c *conn) { c.broken.Store(true) }

func sleep(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
}

// close ends the server. The pool's life is over already.
func (s *server) close() {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	s.work.Wait()
	s.mu.Lock()
	c := s.conn
	s.conn = nil
	s.mu.Unlock()
	if c != nil {
		c.close()
	}
}

func (s *server) status() Status {
	s.mu.Lock()
	defer s.mu.Unlock()
	st := Status{Name: s.cfg.Name, State: "not loaded", Tools: len(s.list.tools), Stderr: s.secrets.redact(s.log.String())}
	switch {
	case s.fault != nil:
		st.State, st.Err = "failed", s.fault
	case s.starting != nil || s.loading != nil && !s.listed:
		st.State = "starting"
	case s.conn != nil && !s.conn.dead():
		st.State = "running"
	case s.listed:
		st.State = "stopped"
	}
	return st
}

// called is the server as messages name it.
func (s *server) called() string { return "the server " + catalog.Shown(s.cfg.Name) }

// startFault says why a server could not be started or listed.
func (s *server) startFault(err error) *catalog.Error {
	var ce *catalog.Error
	switch {
	case errors.As(err, &ce):
		return ce
	case errors.Is(err, errSignIn):
		return s.signInFault(err)
	}
	return s.failed(err)
}

// failed is a server that cannot be used now. Its last words on stderr often
// say why.
func (s *server) failed(err error) *catalog.Error {
	text := s.called() + " could not be started: " + s.clean(err.Error())
	if last := s.log.lastLine(); last != "" {
		text += " (its last words: " + s.clean(last) + ")"
	}
	return &catalog.Error{Code: catalog.Unavailable, Retryable: true, Message: text}
}

// clean makes a text fit for a message: no secrets, one line, not too long.
func (s *server) clean(text string) string {
	return clip(catalog.OneLine(s.secrets.redact(text)), 1000)
}
