package catalog

import (
	"context"
	"io"
	"strings"
)

// Request is what a command line asks for: exactly one of its fields is set.
type Request struct {
	Call *Call  // a call, not yet checked against the schema
	Text string // help or search results to print
	Plan bool   // a plan of the script on stdin
}

// resolver carries one command line through the steps.
type resolver struct {
	*Catalog
	ctx                 context.Context
	attached, inherited io.Reader
	literal             bool   // load and read nothing
	needsLoad           string // with literal: the server that would have to be loaded
}

// Resolve turns the words after `tools` into a request. attached is the stdin
// that belongs to this very command, nil when none does; inherited is what `-`
// reads besides. An on-demand server that the words name is loaded.
func (c *Catalog) Resolve(ctx context.Context, args []string, attached, inherited io.Reader) (Request, *Error) {
	r := &resolver{Catalog: c, ctx: ctx, attached: attached, inherited: inherited}
	return r.line(args)
}

// ResolveLiteral is Resolve for a line that is known in full and reads no
// stdin. It loads nothing: needsLoad names the on-demand server that has to be
// loaded before the line can be resolved.
func (c *Catalog) ResolveLiteral(args []string) (req Request, needsLoad string, err *Error) {
	r := &resolver{Catalog: c, ctx: context.Background(), literal: true}
	req, err = r.line(args)
	if r.needsLoad != "" {
		return Request{}, r.needsLoad, nil
	}
	return req, "", err
}

// builtins are the commands of `tools` itself.
var builtins = set("help", "search", "plan", "scripts")

func isHelp(word string) bool { return word == "--help" || word == "-h" }

func hasHelp(args []string) bool {
	for _, a := range args {
		if isHelp(a) {
			return true
		}
	}
	return false
}

func (r *resolver) line(args []string) (Request, *Error) {
	for len(args) > 0 && args[0] == "--" {
		args = args[1:]
	}
	if len(args) == 0 || isHelp(args[0]) {
		return Request{Text: r.rootHelp()}, nil
	}
	word, rest := args[0], args[1:]
	tools, servers := r.top.find(word), r.servers.find(word)
	if b := normal(word); builtins[b] && !(len(tools)+len(servers) > 0 && r.callsReal(rest, servers)) {
		return r.builtin(b, rest)
	}
	if len(servers) > 1 || len(servers) == 0 && len(tools) > 1 {
		return Request{}, clash(word, servers, tools)
	}
	if len(servers) == 1 && len(tools) > 0 && !r.meansServer(servers[0], rest) {
		servers = nil
		if len(tools) > 1 {
			return Request{}, clash(word, nil, tools)
		}
	}
	switch {
	case len(servers) == 1:
		return r.onServer(servers[0], rest)
	case len(tools) == 1:
		return r.onTool(tools[0], rest)
	case len(r.hidden.find(word)) > 0:
		return Request{}, Errorf(UnknownCommand, "%s is not a shell command: call it directly, as a tool of its own", Shown(word))
	}
	return Request{}, r.unknown(word)
}

// callsReal reports whether the words after a built-in command's name mean a
// real tool or server of that name: they are an object, pairs, flags, or come
// from stdin.
func (r *resolver) callsReal(rest []string, servers []*server) bool {
	if len(rest) == 0 {
		return r.attached != nil
	}
	if len(servers) == 1 {
		if found, _ := servers[0].findTool(rest[0]); len(found) > 0 {
			return true
		}
	}
	for _, a := range rest {
		if strings.HasPrefix(a, "{") || strings.HasPrefix(a, "-") || isPair(a) {
			return true
		}
	}
	return false
}

// meansServer decides between a server and a top-level tool of one name.
func (r *resolver) meansServer(s *server, rest []string) bool {
	if len(rest) == 0 {
		return false
	}
	if isHelp(rest[0]) {
		return true
	}
	found, _ := s.findTool(rest[0])
	return len(found) > 0
}

func (r *resolver) builtin(name string, rest []string) (Request, *Error) {
	if hasHelp(rest) || name == "help" && len(rest) == 0 {
		return Request{Text: r.rootHelp()}, nil
	}
	switch name {
	case "help":
		return r.line(append(rest, "--help"))
	case "search":
		if len(rest) == 0 {
			return Request{}, Errorf(InvalidInput, "tools search needs words: tools search pull request")
		}
		return Request{Text: r.search(strings.Join(rest, " "))}, nil
	case "plan":
		if len(rest) > 0 && rest[0] != "-" {
			return Request{}, Errorf(InvalidInput, "tools plan takes no %q: it reads a script from stdin, as in tools plan <<'EOF'", rest[0])
		}
		return Request{Plan: true}, nil
	default:
		return Request{}, Errorf(UnknownCommand, "no such command: tools %s; run tools --help", name)
	}
}

func (r *resolver) onServer(s *server, rest []string) (Request, *Error) {
	if !s.isLoaded() && s.Load != nil {
		if r.literal {
			r.needsLoad = s.Name
			return Request{}, nil
		}
		if err := s.load(r.ctx); err != nil {
			return Request{}, err
		}
	}
	if s.Unavailable != nil {
		return Request{}, s.Unavailable
	}
	if len(rest) == 0 || isHelp(rest[0]) {
		return Request{Text: s.help()}, nil
	}
	word := rest[0]
	found, hidden := s.findTool(word)
	switch {
	case len(found) == 1:
		return r.onTool(found[0], rest[1:])
	case len(found) > 1:
		return Request{}, clash(word, nil, found)
	case hidden:
		return Request{}, Errorf(UnknownCommand, "%s %s is not a shell command: call it directly, as a tool of its own", Shown(s.Name), Shown(word))
	}
	return Request{}, unknownIn(s, word)
}

func (r *resolver) onTool(t *Tool, rest []string) (Request, *Error) {
	if hasHelp(rest) {
		return Request{Text: t.Help()}, nil
	}
	input, err := r.input(t, rest)
	if err != nil {
		return Request{}, err
	}
	return Request{Call: &Call{Tool: t, Input: input}}, nil
}

func clash(word string, servers []*server, tools []*Tool) *Error {
	var names []string
	for _, s := range servers {
		names = append(names, "tools "+s.Name)
	}
	for _, t := range tools {
		if t.Server != "" {
			names = append(names, "tools "+t.Server+" "+t.Name)
		} else {
			names = append(names, "tools "+t.Name)
		}
	}
	return Errorf(UnknownCommand, "%q could mean %s; type one of them exactly", word, strings.Join(names, " or "))
}

func (r *resolver) unknown(word string) *Error {
	names := append(append([]string{}, r.servers.names...), r.top.names...)
	return Errorf(UnknownCommand, "no server or tool is called %q%s; run tools --help", word, didYouMean(near(word, names)))
}

func unknownIn(s *server, word string) *Error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return Errorf(UnknownCommand, "%s has no tool %q%s; run tools %s --help", Shown(s.Name), word, didYouMean(near(word, s.tools.names)), Shown(s.Name))
}

func didYouMean(names []string) string {
	if len(names) == 0 {
		return ""
	}
	return " (did you mean " + strings.Join(names, ", ") + "?)"
}
