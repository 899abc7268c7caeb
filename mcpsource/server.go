package mcpsource

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/tools-in-shell/tis/catalog"
)

// server is one configured server and its connection.
type server struct {
	cfg   ServerConfig
	opts  Options
	stale atomic.Bool // it said that its tools have changed
	log   ring        // its stderr

	starting sync.Mutex // one start or listing at a time

	mu       sync.Mutex
	conn     *conn
	tools    []*catalog.Tool
	raw      []json.RawMessage
	listed   bool
	warnings []string
	fault    *catalog.Error
	failures int       // starts that failed in a row
	retryAt  time.Time // no start before this
	closed   bool
}

func newServer(cfg ServerConfig, opts Options) *server { return &server{cfg: cfg, opts: opts} }

// source is the server for a catalog.
func (s *server) source() catalog.Source {
	s.mu.Lock()
	defer s.mu.Unlock()
	src := catalog.Source{Name: s.cfg.Name, Description: s.cfg.Description, Tools: s.tools, Loaded: s.listed, Warnings: s.warnings}
	switch {
	case s.listed:
	case s.cfg.OnDemand:
		src.Load = s.list
	default:
		src.Unavailable = s.fault
		if src.Unavailable == nil {
			src.Unavailable = s.unavailable(errors.New("it has not been started"))
		}
	}
	return src
}

// list is the server's tools; it starts the server when it must, and asks once.
func (s *server) list(ctx context.Context) ([]*catalog.Tool, error) {
	s.starting.Lock()
	defer s.starting.Unlock()
	s.mu.Lock()
	if s.listed {
		defer s.mu.Unlock()
		return s.tools, nil
	}
	s.mu.Unlock()
	return s.listLocked(ctx)
}

// refresh asks again; what was there stays when that fails.
func (s *server) refresh(ctx context.Context) {
	s.starting.Lock()
	defer s.starting.Unlock()
	if _, err := s.listLocked(ctx); err != nil {
		s.stale.Store(true)
	}
}

func (s *server) listLocked(ctx context.Context) ([]*catalog.Tool, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, s.cfg.StartTimeout, fmt.Errorf("it did not answer in %v", s.cfg.StartTimeout))
	defer cancel()
	c, err := s.connect(ctx)
	if err == nil {
		err = s.listPages(ctx, c)
	}
	if err != nil {
		if cause := context.Cause(ctx); ctx.Err() != nil && cause != nil {
			err = cause
		}
		fault := s.startFault(err)
		s.mu.Lock()
		defer s.mu.Unlock()
		s.fault = fault
		return nil, fault
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.tools, nil
}

// maxPages bounds a list that never ends.
const maxPages = 1000

// listPages asks for every page. A cursor is opaque; one that comes again ends
// the list.
func (s *server) listPages(ctx context.Context, c *conn) error {
	var tools []*catalog.Tool
	var raws []json.RawMessage
	var warnings []string
	seen, names := map[string]bool{}, map[string]bool{}
	cursor, next := "", true
	for page := 0; next; page++ {
		raw, err := c.list(ctx, cursor, page > 0)
		if err != nil {
			return err
		}
		var result struct {
			Tools      []json.RawMessage `json:"tools"`
			NextCursor *string           `json:"nextCursor"`
		}
		if err := json.Unmarshal(raw, &result); err != nil {
			return fmt.Errorf("its tools/list answer is not one: %w", err)
		}
		for _, r := range result.Tools {
			t, err := catalog.ToolFromMCP(s.cfg.Name, r)
			switch {
			case err != nil:
				warnings = append(warnings, err.Error())
				continue
			case names[t.Name]:
				warnings = append(warnings, fmt.Sprintf("server %s lists the tool %q more than once", s.cfg.Name, t.Name))
				continue
			}
			names[t.Name] = true
			t.Executor = &executor{s, t.Name}
			tools, raws = append(tools, t), append(raws, r)
		}
		if next = result.NextCursor != nil; next {
			if cursor = *result.NextCursor; seen[cursor] || page >= maxPages {
				warnings = append(warnings, fmt.Sprintf("server %s gave a cursor of tools/list again; the list ends there", s.cfg.Name))
				next = false
			}
			seen[cursor] = true
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tools, s.raw, s.warnings, s.listed, s.fault = tools, raws, warnings, true, nil
	return nil
}

// connect is the live connection, or a new one. After failures it waits before
// it tries again, longer each time.
func (s *server) connect(ctx context.Context) (*conn, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.closed:
		return nil, errors.New("tis is ending")
	case s.cfg.Err != "":
		return nil, errors.New(s.cfg.Err)
	case s.conn != nil && !s.conn.dead():
		return s.conn, nil
	case time.Now().Before(s.retryAt):
		return nil, fmt.Errorf("it failed %d times in a row; the next try is in %v", s.failures, time.Until(s.retryAt).Round(time.Second))
	}
	if s.conn != nil {
		s.conn.close()
		s.conn = nil
	}
	// The connection outlives the call that needed it; only its start is bounded.
	c, err := dial(ctx, s)
	if err != nil {
		if s.failures++; s.failures > 1 {
			s.retryAt = time.Now().Add(min(time.Second<<min(s.failures-2, 6), time.Minute))
		}
		return nil, err
	}
	s.conn, s.failures, s.retryAt = c, 0, time.Time{}
	return c, nil
}

// changed notes that the server's tools have changed.
func (s *server) changed(context.Context, *mcp.ToolListChangedRequest) { s.stale.Store(true) }

func (s *server) close() error {
	s.mu.Lock()
	s.closed = true
	c := s.conn
	s.conn = nil
	s.mu.Unlock()
	if c != nil {
		c.close()
	}
	return nil
}

func (s *server) status() Status {
	s.mu.Lock()
	defer s.mu.Unlock()
	st := Status{Name: s.cfg.Name, State: "not loaded", Tools: len(s.tools), Stderr: s.redact(s.log.String())}
	if s.conn != nil && !s.conn.dead() {
		st.State = "running"
	}
	if s.fault != nil {
		st.State, st.Err = "failed", s.fault
	}
	return st
}

// startFault says why a server could not be started or listed.
func (s *server) startFault(err error) *catalog.Error {
	var ce *catalog.Error
	if errors.As(err, &ce) {
		return ce
	}
	if needsSignIn(err) {
		return &catalog.Error{Code: catalog.ConnectionRequired, Message: fmt.Sprintf("the server %s needs a sign-in first: %s", catalog.Shown(s.cfg.Name), s.redact(err.Error()))}
	}
	return s.unavailable(err)
}

func (s *server) unavailable(err error) *catalog.Error {
	text := "the server " + catalog.Shown(s.cfg.Name) + " could not be started: " + s.redact(err.Error())
	if last := s.redact(s.log.lastLine()); last != "" {
		text += " (its last words: " + last + ")"
	}
	return &catalog.Error{Code: catalog.Unavailable, Retryable: true, Message: text}
}

// redact takes the values of the server's environment and headers out of a text.
func (s *server) redact(text string) string {
	for _, values := range []map[string]string{s.cfg.Env, s.cfg.Headers} {
		for _, v := range values {
			if len(v) >= 4 {
				text = strings.ReplaceAll(text, v, "***")
			}
			if _, token, ok := strings.Cut(v, " "); ok && len(token) >= 4 {
				text = strings.ReplaceAll(text, token, "***")
			}
		}
	}
	return text
}
