package catalog

import (
	"context"
	"errors"
	"fmt"
	"sync"
)

// server is a source in a catalog. What loading changes is behind mu.
type server struct {
	Name, Description string
	loader            func(context.Context) ([]*Tool, error)
	resources         Resources // nil: there are none
	keep              keeper

	mu     sync.Mutex
	given  []*Tool
	loaded bool
	broken *Error // why its calls fail
	sorted *shelf // nil until needed
	reader *Tool  // of resources; nil until needed
	flight *flight
}

// flight is one load that is under way.
type flight struct {
	landed chan struct{}
	err    *Error
	gaveUp bool // the caller that loads was cancelled; others may try again
}

func newServer(src Source, keep keeper) *server {
	return &server{
		Name: src.Name, Description: src.Description, loader: src.Load, resources: src.Resources, keep: keep,
		given: src.Tools, broken: src.Unavailable, loaded: src.Loaded || src.Load == nil && src.Tools != nil,
	}
}

func (s *server) info() ServerInfo {
	tools := s.shelf().reachable()
	s.mu.Lock()
	defer s.mu.Unlock()
	return ServerInfo{Name: s.Name, Description: s.Description, Tools: tools, Loaded: s.loaded, Unavailable: s.broken}
}

// shelf is the server's tools as they are now.
func (s *server) shelf() *shelf {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.sorted == nil {
		s.sorted = shelve(s.given, s.keep)
	}
	return s.sorted
}

// loadable reports whether the server waits to be loaded.
func (s *server) loadable() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return !s.loaded && s.loader != nil
}

// fault is why the server's tools cannot be called, nil when they can.
func (s *server) fault() *Error {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.broken != nil:
		return s.broken
	case !s.loaded && s.loader == nil:
		return unavailable("the tools of %s are not loaded, and cannot be loaded here", clip(s.Name))
	}
	return nil
}

func unavailable(format string, args ...any) *Error {
	err := fault(Unavailable, format, args...)
	err.Retryable = true
	return err
}

// LoadServer loads an on-demand server, once: callers at the same time share
// one load. After a failed one the next caller tries again.
func (c *Catalog) LoadServer(ctx context.Context, name string) *Error {
	s, ok := c.servers.exact[name]
	if !ok {
		return fault(UnknownCommand, "no server is called %s; run tools --help", clip(name))
	}
	return s.load(ctx)
}

func (s *server) load(ctx context.Context) *Error {
	for {
		s.mu.Lock()
		switch {
		case s.loaded:
			s.mu.Unlock()
			return nil
		case s.loader == nil:
			s.mu.Unlock()
			return s.fault()
		case s.flight == nil:
			f := &flight{landed: make(chan struct{})}
			s.flight = f
			s.mu.Unlock()
			s.fly(ctx, f)
			return f.err
		}
		f := s.flight
		s.mu.Unlock()
		select {
		case <-f.landed:
			if !f.gaveUp {
				return f.err
			}
		case <-ctx.Done():
			return unavailable("waiting for the tools of %s: %v", clip(s.Name), context.Cause(ctx))
		}
	}
}

// fly loads the tools and lets those who wait know.
func (s *server) fly(ctx context.Context, f *flight) {
	tools, err := s.callLoader(ctx)
	s.mu.Lock()
	defer s.mu.Unlock()
	if err == nil {
		s.given, s.loaded, s.broken, s.sorted = tools, true, nil, nil
	} else {
		f.err, f.gaveUp = s.loadFault(err), ctx.Err() != nil
	}
	s.flight = nil
	close(f.landed)
}

func (s *server) callLoader(ctx context.Context) (tools []*Tool, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v", p)
		}
	}()
	return s.loader(ctx)
}

// loadFault keeps what says that a person has to sign in, or itself says how
// the server is unavailable; anything else may pass, so it can be tried again.
func (s *server) loadFault(err error) *Error {
	var known *Error
	if errors.As(err, &known) && (known.Code == ConnectionRequired || known.Code == Unavailable) {
		return known
	}
	return unavailable("the tools of %s cannot be loaded: %v", clip(s.Name), err)
}
