package catalog

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
)

// Source is one server and its tools.
type Source struct {
	Name, Description string
	Tools             []*Tool
	// Loaded is false for an on-demand server that has not been loaded.
	Loaded bool
	// Unavailable is why the server cannot be used; its calls get this error.
	Unavailable *Error
	// Load loads an on-demand server. Nil when it is loaded or offline.
	Load func(ctx context.Context) ([]*Tool, error)
	// Warnings are shown with the catalog's own.
	Warnings []string
}

// Options of a catalog.
type Options struct {
	// KeepVisible names tools that stay direct and are callable from the shell too.
	KeepVisible []string
}

// ServerInfo is a server as the catalog has it now.
type ServerInfo struct {
	Name, Description string
	Tools             []*Tool
	Loaded            bool
	Unavailable       *Error
}

// Catalog is the tools of one run. It is safe for concurrent use.
type Catalog struct {
	servers  *index[*server]
	top      *index[*Tool]
	topTools []*Tool // reachable from the shell
	direct   []*Tool
	hidden   *index[*Tool] // direct only
	warnings []string
}

type server struct {
	Source
	mu     sync.Mutex // guards what loading changes
	loaded bool
	tools  *index[*Tool]
	hidden *index[*Tool]
	direct []*Tool
	keep   func(*Tool) bool
}

// New builds a catalog. It indexes names and nothing else; schemas compile
// when they are first needed.
func New(servers []Source, top []*Tool, opts Options) *Catalog {
	c := &Catalog{servers: newIndex[*server](len(servers)), top: newIndex[*Tool](len(top)), hidden: newIndex[*Tool](0)}
	keep := set(opts.KeepVisible...)
	used := map[string]bool{}
	kept := func(t *Tool) bool {
		for _, n := range []string{normal(t.Name), normal(t.RegistryName()), normal(t.Key())} {
			if keep[n] {
				used[n] = true
				return true
			}
		}
		return false
	}
	for _, src := range servers {
		s := &server{Source: src, loaded: src.Loaded || src.Load == nil && src.Tools != nil, keep: kept}
		s.index()
		c.servers.add(src.Name, s)
		c.direct = append(c.direct, s.direct...)
		c.warnings = append(c.warnings, src.Warnings...)
	}
	for _, t := range top {
		switch direct := IsDirect(t); {
		case kept(t):
			c.direct = append(c.direct, t)
			fallthrough
		case !direct:
			c.top.add(t.Name, t)
			c.topTools = append(c.topTools, t)
		default:
			c.direct = append(c.direct, t)
			c.hidden.add(t.Name, t)
		}
	}
	for _, name := range opts.KeepVisible {
		if !used[normal(name)] {
			c.warnings = append(c.warnings, fmt.Sprintf("keep_visible names %q, which is no tool", name))
		}
	}
	slices.SortFunc(c.topTools, func(a, b *Tool) int { return strings.Compare(a.Name, b.Name) })
	return c
}

// index sorts the server's tools into what the shell reaches and what it does not.
func (s *server) index() {
	s.tools, s.hidden, s.direct = newIndex[*Tool](len(s.Tools)), newIndex[*Tool](0), nil
	for _, t := range s.Tools {
		kept, direct := s.keep(t), IsDirect(t)
		if kept || direct {
			s.direct = append(s.direct, t)
		}
		if kept || !direct {
			s.tools.add(t.Name, t)
		} else {
			s.hidden.add(t.Name, t)
		}
	}
}

// Warnings are what is odd about the catalog and no error.
func (c *Catalog) Warnings() []string {
	out := slices.Clone(c.warnings)
	each := func(tools []*Tool) {
		for _, t := range tools {
			if w := t.knownSchemaWarning(); w != "" {
				out = append(out, w)
			}
		}
	}
	for _, s := range c.Servers() {
		each(s.Tools)
	}
	each(c.topTools)
	return out
}

// Servers are the servers by name.
func (c *Catalog) Servers() []ServerInfo {
	var out []ServerInfo
	for _, name := range slices.Sorted(slices.Values(c.servers.names)) {
		out = append(out, c.servers.exact[name].info())
	}
	return out
}

func (s *server) info() ServerInfo {
	s.mu.Lock()
	defer s.mu.Unlock()
	info := ServerInfo{Name: s.Name, Description: s.Description, Loaded: s.loaded, Unavailable: s.Unavailable}
	for _, name := range s.tools.names {
		info.Tools = append(info.Tools, s.tools.exact[name])
	}
	return info
}

// Top are the top-level tools that the shell reaches, by name.
func (c *Catalog) Top() []*Tool { return slices.Clone(c.topTools) }

// Direct are the tools that stay in the model's direct list.
func (c *Catalog) Direct() []*Tool { return slices.Clone(c.direct) }

// LoadServer loads an on-demand server, once. Concurrent callers share the
// load; a failed one is tried again by the next caller.
func (c *Catalog) LoadServer(ctx context.Context, name string) *Error {
	s, ok := c.servers.exact[name]
	if !ok {
		return Errorf(UnknownCommand, "no such server: %s", name)
	}
	return s.load(ctx)
}

func (s *server) load(ctx context.Context) *Error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.loaded {
		return nil
	}
	if s.Load == nil {
		if s.Unavailable != nil {
			return s.Unavailable
		}
		return &Error{Code: Unavailable, Retryable: true, Message: "the tools of " + Shown(s.Name) + " are not loaded"}
	}
	tools, err := s.Load(ctx)
	if err != nil {
		var ce *Error
		if errors.As(err, &ce) {
			return ce
		}
		return &Error{Code: Unavailable, Retryable: true, Message: "the server " + Shown(s.Name) + " could not load: " + OneLine(err.Error())}
	}
	s.Tools, s.loaded = tools, true
	s.index()
	return nil
}

func (s *server) isLoaded() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.loaded
}

// findTool looks a word up among the server's tools; hidden says that the word
// names tools that are only called directly.
func (s *server) findTool(word string) (found []*Tool, hidden bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if found = s.tools.find(word); len(found) == 0 {
		return nil, len(s.hidden.find(word)) > 0
	}
	return found, false
}
