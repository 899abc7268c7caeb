package catalog

import (
	"context"
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
	// Resources are what the server lets be read beside its tools; nil when it
	// has none.
	Resources Resources
	// Warnings are shown with the catalog's own.
	Warnings []string
}

// Options of a catalog.
type Options struct {
	// KeepVisible names tools that stay direct and are callable from the shell
	// too, by registry name ("mcp_github__list_pulls", "web_fetch") or by
	// "server tool". A tool that the shell cannot reach anyway stays so.
	KeepVisible []string
}

// ServerInfo is a server as the catalog has it now.
type ServerInfo struct {
	Name, Description string
	// Tools are those that the shell reaches, in the server's order.
	Tools       []*Tool
	Loaded      bool
	Unavailable *Error
}

// Catalog is the tools of one run. It is safe for concurrent use.
type Catalog struct {
	servers  *index[*server]
	top      func() *shelf // the top-level tools, sorted out when first needed
	keep     keeper
	warnings []string
}

// New builds a catalog. It looks at no tool and at no schema: what a run does
// not name costs nothing.
func New(servers []Source, top []*Tool, opts Options) *Catalog {
	keep := newKeeper(opts.KeepVisible)
	c := &Catalog{servers: newIndex[*server](len(servers)), keep: keep}
	c.top = sync.OnceValue(func() *shelf { return shelve(top, keep) })
	for _, src := range servers {
		if !c.servers.add(src.Name, newServer(src, keep)) {
			c.warnings = append(c.warnings, fmt.Sprintf("there are two servers called %s; the first is used", clip(src.Name)))
		}
		c.warnings = append(c.warnings, src.Warnings...)
	}
	return c
}

// each calls do for every server, by name.
func (c *Catalog) each(do func(*server)) {
	for _, name := range slices.Sorted(slices.Values(c.servers.names)) {
		do(c.servers.exact[name])
	}
}

// Warnings are what is odd about the catalog and no error: what the sources
// warn of, names of keep_visible that no tool has, tools given twice, and the
// schemas found invalid so far.
func (c *Catalog) Warnings() []string {
	out := slices.Clone(c.warnings)
	missing := c.keep.names()
	note := func(where string, sh *shelf) {
		for _, name := range sh.twice {
			out = append(out, fmt.Sprintf("%s has two tools called %s; the first is used", where, clip(name)))
		}
		for _, t := range sh.all() {
			if w := t.knownSchemaWarning(); w != "" {
				out = append(out, w)
			}
			missing = slices.DeleteFunc(missing, func(name string) bool { return keeps(name, t) })
		}
	}
	c.each(func(s *server) {
		note("server "+clip(s.Name), s.shelf())
		if !s.info().Loaded { // it may have the tool: nobody knows yet
			missing = slices.DeleteFunc(missing, func(name string) bool {
				return strings.HasPrefix(normal(name), normal("mcp_"+s.Name+"__")) || strings.HasPrefix(normal(name), normal(s.Name+" "))
			})
		}
	})
	note("the top level", c.top())
	for _, name := range missing {
		out = append(out, fmt.Sprintf("keep_visible names %s, which is no tool", clip(name)))
	}
	return out
}

// Servers are the servers by name.
func (c *Catalog) Servers() []ServerInfo {
	var out []ServerInfo
	c.each(func(s *server) { out = append(out, s.info()) })
	return out
}

// Top are the top-level tools that the shell reaches, by name.
func (c *Catalog) Top() []*Tool {
	out := c.top().reachable()
	slices.SortFunc(out, func(a, b *Tool) int { return strings.Compare(a.Name, b.Name) })
	return out
}

// Tool is the tool with a registry name, among those that are loaded; nil when
// there is none.
func (c *Catalog) Tool(registry string) *Tool {
	for _, sh := range c.shelves() {
		for _, t := range sh.all() {
			if t.RegistryName() == registry {
				return t
			}
		}
	}
	for _, name := range c.servers.names {
		if t := c.servers.exact[name].reads(); t != nil && t.RegistryName() == registry {
			return t
		}
	}
	return nil
}

func (c *Catalog) shelves() []*shelf {
	var out []*shelf
	for _, name := range c.servers.names {
		out = append(out, c.servers.exact[name].shelf())
	}
	return append(out, c.top())
}

// Direct are the tools that stay in the model's direct list, those of
// keep_visible among them.
func (c *Catalog) Direct() []*Tool {
	var out []*Tool
	for _, sh := range c.shelves() {
		out = append(out, sh.direct...)
	}
	return out
}

// command is the line that names a tool, as it can be copied: its shown
// spelling, or its own where the shown one would name another tool. s is nil
// for a top-level tool.
func (c *Catalog) command(s *server, t *Tool) string {
	if s == nil {
		return "tools " + shellWord(c.top().shell.spelling(t.Name))
	}
	return c.serverCommand(s) + " " + shellWord(s.shelf().shell.spelling(t.Name))
}

func (c *Catalog) serverCommand(s *server) string {
	return "tools " + shellWord(c.servers.spelling(s.Name))
}
