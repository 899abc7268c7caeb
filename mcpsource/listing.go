package mcpsource

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/tools-in-shell/tis/catalog"
)

// listing is what a server listed.
type listing struct {
	tools    []*catalog.Tool
	raw      []json.RawMessage // of each tool
	warnings []string
}

// maxWarnings is how many warnings one listing gives.
const maxWarnings = 20

func (l *listing) warn(format string, args ...any) {
	if len(l.warnings) < maxWarnings {
		l.warnings = append(l.warnings, fmt.Sprintf(format, args...))
	} else if len(l.warnings) == maxWarnings {
		l.warnings = append(l.warnings, "... and more of the kind")
	}
}

// load is the server's tools. It starts the server when it must, and asks once:
// callers at the same time share one listing, later ones get what it found.
func (s *server) load(ctx context.Context) ([]*catalog.Tool, error) {
	s.mu.Lock()
	if s.listed {
		defer s.mu.Unlock()
		return s.list.tools, nil
	}
	f := s.relist()
	s.mu.Unlock()
	if f == nil {
		return nil, s.failed(errEnding)
	}
	if err := f.wait(ctx); err != nil {
		return nil, s.startFault(err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.list.tools, nil
}

// relist starts a listing, unless one is under way already. s.mu is held. Nil
// when the server is closed.
func (s *server) relist() *flight {
	if s.loading == nil && !s.closed {
		s.loading = s.fly(s.ask)
	}
	return s.loading
}

// retryPause is the time after which a server that failed is tried again
// without a call that needs it.
const retryPause = 10 * time.Second

// refresh asks the server again when it said that its tools have changed, and
// starts it again when it failed a while ago. Nil: nothing to wait for.
func (s *server) refresh() *flight {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.listed && s.stale.Load() && s.conn != nil && !s.conn.dead():
		return s.relist()
	case !s.listed && !s.cfg.OnDemand && s.cfg.Err == "" && s.fault != nil && time.Since(s.failedAt) > retryPause && time.Now().After(s.retryAt):
		s.relist() // nobody waits for a server that may fail again
	}
	return nil
}

// upToDate asks a server again that said that its tools have changed, or that
// was started again, and waits for what it lists.
func (s *server) upToDate(ctx context.Context) error {
	// A listing under way may have begun before the news came: then it is asked
	// once more, and no oftener, for some servers say so each time.
	for range 2 {
		s.mu.Lock()
		f := s.loading
		if s.stale.Load() {
			f = s.relist()
		}
		s.mu.Unlock()
		if f == nil {
			return nil
		}
		if err := f.wait(ctx); err != nil {
			return err
		}
	}
	return nil
}

// tool is a tool as it was listed last, nil when it was not.
func (s *server) tool(name string) *catalog.Tool {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, t := range s.list.tools {
		if t.Name == name {
			return t
		}
	}
	return nil
}

// ask lists the tools. What was there stays when that fails.
func (s *server) ask(ctx context.Context, f *flight) {
	c, err := s.connect(s.life) // the start has the time-out, and knows best why it failed
	if err == nil {
		s.stale.Store(false) // what changes from here on is asked for again
		var found listing
		if found, err = s.pages(ctx, c); err == nil {
			s.mu.Lock()
			defer s.mu.Unlock()
			found.keep(s.list)
			s.list, s.listed, s.fault, s.loading = found, true, nil, nil
			return
		}
		s.stale.Store(true)
		if ctx.Err() != nil {
			err = context.Cause(ctx)
		}
		var late *noAnswer
		if errors.As(err, &late) {
			s.drop(c) // it may be stuck
			err = fmt.Errorf("it did not answer tools/list in %v", late.after)
		}
	}
	fault := s.startFault(err)
	s.mu.Lock()
	defer s.mu.Unlock()
	f.err, s.loading = fault, nil
	if !s.listed {
		s.fault, s.failedAt = fault, time.Now()
	}
}

// What one server may list.
const (
	maxPages = 1000
	maxTools = 10000
)

// pages asks for every page. A cursor is opaque, the empty one too; one that
// comes again ends the list.
func (s *server) pages(ctx context.Context, c *conn) (listing, error) {
	var l listing
	var cursor *string
	var first json.RawMessage
	names, cursors := map[string]bool{}, map[string]bool{}
	size := 0
	for page := 1; ; page++ {
		raw, err := c.list(ctx, cursor)
		if err != nil {
			return l, plain(err)
		}
		size += len(raw)
		var result struct {
			Tools      []json.RawMessage `json:"tools"`
			NextCursor *string           `json:"nextCursor"`
		}
		if err := json.Unmarshal(raw, &result); err != nil || result.Tools == nil {
			return l, errors.New("its answer to tools/list has no list of tools")
		}
		// To some servers an empty cursor is none: the list starts again.
		if page == 1 {
			first = raw
		} else if *cursor != "" || !bytes.Equal(first, raw) {
			first = nil
		}
		if page == 1 || first == nil {
			s.add(&l, names, result.Tools)
		}
		switch next := result.NextCursor; {
		case next == nil:
			return l, nil
		case cursors[*next]:
			l.warn("%s gave the cursor %q of tools/list again; its list ends there", s.called(), clip(*next, 100))
			return l, nil
		case page == maxPages || len(l.tools) >= maxTools || size > maxMessage:
			l.warn("%s lists more than %d pages, %d tools or %d MiB; the rest is left out", s.called(), maxPages, maxTools, maxMessage>>20)
			return l, nil
		default:
			cursors[*next] = true
			cursor = next
		}
	}
}

// add adds the tools of a page, each name once.
func (s *server) add(l *listing, names map[string]bool, page []json.RawMessage) {
	for _, raw := range page {
		t, err := catalog.ToolFromMCP(s.cfg.Name, raw)
		switch {
		case err != nil:
			l.warn("%s lists a tool that is left out: %s", s.called(), clip(catalog.OneLine(err.Error()), 300))
		case names[t.Name]:
			l.warn("%s lists the tool %q more than once; the first is used", s.called(), clip(t.Name, 100))
		default:
			names[t.Name] = true
			t.Executor = &executor{s, t}
			l.tools, l.raw = append(l.tools, t), append(l.raw, raw)
		}
	}
}

// keep takes over the tools of an older listing that are the same, with the
// schemas that they have compiled.
func (l *listing) keep(old listing) {
	at := map[string]int{}
	for i, t := range old.tools {
		at[t.Name] = i
	}
	for i, t := range l.tools {
		if o, ok := at[t.Name]; ok && bytes.Equal(l.raw[i], old.raw[o]) {
			l.tools[i] = old.tools[o]
		}
	}
}
