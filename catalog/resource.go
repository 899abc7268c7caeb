package catalog

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Resources are what a server lets be read beside its tools. `tools SERVER
// --resource URI` is a call like any other: of a tool that takes {"uri": "..."}.
type Resources interface {
	// Executor reads one.
	Executor
	// Offered reports whether the server has resources; false as long as it is
	// not loaded.
	Offered() bool
	// List is what the server lists of them.
	List(ctx context.Context) ([]Resource, error)
}

// Resource is one that a server lists.
type Resource struct {
	URI         string // with Template, a form with {parts} to fill in
	Name        string
	Description string
	Template    bool
}

// resourceFlag is the word that reads a resource. It is the name of the tool,
// too: a server's own tool of that name comes first.
const resourceFlag = "--resource"

// resourceSchema takes a URI, which begins with a scheme.
const resourceSchema = `{"type":"object","properties":{"uri":{"type":"string","pattern":"^[A-Za-z][A-Za-z0-9+.-]*:","description":"URI of the resource"}},"required":["uri"],"additionalProperties":false}`

// readerTool is the tool that reads a server's resources. It changes nothing, but
// what it reaches may be anywhere: a URI is written by the script.
func readerTool(server string, r Resources) *Tool {
	yes := true
	return &Tool{
		Name: resourceFlag, Server: server, Description: "Read a resource of the server.", InputSchema: json.RawMessage(resourceSchema),
		Hints: Hints{ReadOnly: &yes, OpenWorld: &yes}, Executor: r,
	}
}

// reads is the tool that reads the server's resources, nil when it has none.
func (s *server) reads() *Tool {
	if s.resources == nil || !s.resources.Offered() {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.reader == nil {
		s.reader = readerTool(s.Name, s.resources)
	}
	return s.reader
}

// isResource reports whether a word after a server's name asks for a resource.
func isResource(word string) bool {
	return word == resourceFlag || strings.HasPrefix(word, resourceFlag+"=")
}

// resource resolves a line that begins with --resource after the server.
func (r *resolver) resource(s *server, args []string) (Request, *Error) {
	t := s.reads()
	if t == nil {
		return Request{}, fault(UnknownCommand, "the server %s has no resources to read; run %s --help", clip(Shown(s.Name)), r.serverCommand(s))
	}
	uri, given := strings.CutPrefix(args[0], resourceFlag+"=")
	rest := args[1:]
	switch {
	case slices.Contains(rest, "--help"), len(rest) == 1 && rest[0] == "-h":
		return Request{Text: r.resourceHelp(s)}, nil
	case given:
	case len(rest) == 0:
		return r.listResources(s)
	default:
		uri, rest = rest[0], rest[1:]
	}
	if len(rest) > 0 {
		return Request{}, fault(InvalidInput, "%s %s takes one URI, and %s follows it", r.serverCommand(s), resourceFlag, clip(rest[0]))
	}
	key, value, why := t.member(pair{key: "uri", value: uri})
	if why != "" {
		return Request{}, fault(InvalidInput, "%s", why)
	}
	var in object
	in.set(key, value)
	return Request{Call: &Call{Tool: t, Input: in.encode()}}, nil
}

// ResourceLine is the line that reads a resource of a server, empty when the
// server has none.
func (c *Catalog) ResourceLine(server, uri string) string {
	s, ok := c.servers.exact[server]
	if !ok || s.reads() == nil || uri == "" {
		return ""
	}
	return fmt.Sprintf("%s %s %s", c.serverCommand(s), resourceFlag, shellWord(uri))
}

func (c *Catalog) resourceHelp(s *server) string {
	line := c.serverCommand(s) + " " + resourceFlag
	return fmt.Sprintf("%s URI   reads a resource: text is printed, anything else is saved as a file\n%s       lists the resources of the server\n", line, line)
}

// How long a list may take, and be.
const (
	listTime     = 20 * time.Second
	maxResources = 200
)

// listResources prints a server's resources. Like help, it is no call.
func (r *resolver) listResources(s *server) (Request, *Error) {
	if r.literal {
		return Request{Text: r.resourceHelp(s)}, nil
	}
	ctx, cancel := context.WithTimeout(r.ctx, listTime)
	defer cancel()
	list, err := s.resources.List(ctx)
	if err != nil {
		return Request{}, s.loadFault(err)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "Resources of %s:\n", shellWord(r.servers.spelling(s.Name)))
	var rows [][2]string
	for _, x := range list[:min(len(list), maxResources)] {
		about := Sentence(x.Description)
		if name := printable(OneLine(x.Name)); name != "" && about != "" {
			about = cut(name, 100) + ": " + about
		} else if about == "" {
			about = cut(name, 100)
		}
		if x.Template {
			about = "(fill in the {parts}) " + about
		}
		rows = append(rows, [2]string{shellWord(x.URI), about})
	}
	table(&b, rows)
	switch {
	case len(list) == 0:
		b.WriteString("  none are listed\n")
	case len(list) > maxResources:
		fmt.Fprintf(&b, "  and %d more\n", len(list)-maxResources)
	}
	fmt.Fprintf(&b, "Read one: %s %s URI\n", r.serverCommand(s), resourceFlag)
	return Request{Text: b.String()}, nil
}

// listed are the resources of a server in a catalog file: a line that reads one
// can be understood, and not run.
type listed struct{}

func (listed) Offered() bool { return true }

func (listed) Execute(context.Context, json.RawMessage) (Output, error) {
	return Output{}, Errorf(Unavailable, "resources cannot be read here")
}

func (listed) List(context.Context) ([]Resource, error) {
	return nil, Errorf(Unavailable, "resources cannot be listed here")
}
