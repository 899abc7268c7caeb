package catalog

import (
	"context"
	"io"
	"slices"
	"strings"
)

// Request is what a command line asks for: exactly one of its fields is set.
type Request struct {
	Call *Call  // a call, not yet checked against the schema
	Text string // help or search results to print
	Plan bool   // a plan of the script on stdin
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

// resolver carries one command line through the steps.
type resolver struct {
	*Catalog
	ctx                 context.Context
	attached, inherited io.Reader
	literal             bool    // load and read nothing
	needsLoad           string  // with literal: the server that would have to be loaded
	on                  *server // the server of the tool that was found, if it has one
}

// line resolves a whole line. The first word decides, and where it names both
// a server and a tool the second one does.
func (r *resolver) line(args []string) (Request, *Error) {
	args = skipDashes(args)
	if len(args) == 0 || isHelp(args[0]) {
		return Request{Text: r.rootHelp()}, nil
	}
	word, rest := args[0], skipDashes(args[1:])
	tools, hidden := r.top().find(word)
	servers := r.servers.find(word)
	if b := normal(word); builtins[b] && !r.meansReal(b, rest, tools, servers) {
		return r.builtin(b, rest)
	}
	if len(servers) > 0 && len(tools) > 0 {
		toServer, err := r.meansServer(servers, rest)
		if err != nil || r.needsLoad != "" {
			return Request{}, err
		}
		if toServer {
			tools = nil
		} else {
			servers = nil
		}
	}
	switch {
	case len(servers)+len(tools) > 1:
		return Request{}, r.clash(word, servers, tools)
	case len(servers) == 1:
		return r.onServer(servers[0], rest)
	case len(tools) == 1:
		return r.onTool(tools[0], rest)
	case hidden:
		return Request{}, calledDirectly(word)
	}
	return Request{}, r.unknown(word)
}

func skipDashes(args []string) []string {
	for len(args) > 0 && args[0] == "--" {
		args = args[1:]
	}
	return args
}

// meansServer decides between servers and a top-level tool of one name: a
// second word that names one of the server's tools, or --help, means the
// server. A server that is not loaded is loaded to find out.
func (r *resolver) meansServer(servers []*server, rest []string) (bool, *Error) {
	if len(rest) == 0 {
		return false, nil
	}
	if isHelp(rest[0]) {
		return true, nil
	}
	if isInput(rest[0]) {
		return false, nil
	}
	for _, s := range servers {
		if err := r.ready(s); err != nil || r.needsLoad != "" {
			return true, err
		}
		if found, hidden := s.shelf().find(rest[0]); len(found) > 0 || hidden {
			return true, nil
		}
	}
	return false, nil
}

// ready loads the server when it has to be, or notes that it would have to be.
func (r *resolver) ready(s *server) *Error {
	if s.loadable() {
		if r.literal {
			r.needsLoad = s.Name
			return nil
		}
		return s.load(r.ctx)
	}
	return s.fault()
}

func (r *resolver) onServer(s *server, rest []string) (Request, *Error) {
	if err := r.ready(s); err != nil || r.needsLoad != "" {
		return Request{}, err
	}
	if len(rest) == 0 || isHelp(rest[0]) {
		return Request{Text: r.serverHelp(s)}, nil
	}
	word := rest[0]
	found, hidden := s.shelf().find(word)
	switch {
	case len(found) == 1:
		r.on = s
		return r.onTool(found[0], rest[1:])
	case len(found) > 1:
		return Request{}, r.clash(word, nil, found)
	case hidden:
		return Request{}, calledDirectly(s.Name + " " + word)
	case isResource(word):
		return r.resource(s, rest)
	}
	return Request{}, r.unknownIn(s, word)
}

func (r *resolver) onTool(t *Tool, rest []string) (Request, *Error) {
	if wantsHelp(rest) {
		return Request{Text: r.toolHelp(r.on, t)}, nil
	}
	input, err := r.input(t, rest)
	if err != nil {
		return Request{}, err
	}
	return Request{Call: &Call{Tool: t, Input: input}}, nil
}

func isHelp(word string) bool { return word == "--help" || word == "-h" }

// wantsHelp reports whether help is asked for anywhere on a tool's line. A -h
// behind `--key` is that key's value.
func wantsHelp(args []string) bool {
	for i, a := range args {
		if a == "--help" {
			return true
		}
		if a == "-h" && (i == 0 || !takesValue(args[i-1])) {
			return true
		}
	}
	return false
}

// takesValue reports whether arg is a `--key` whose value is the next word.
func takesValue(arg string) bool {
	return len(arg) > 2 && strings.HasPrefix(arg, "--") && !strings.Contains(arg, "=")
}

// builtins are the commands of `tools` itself.
var builtins = set("help", "search", "plan", "scripts")

// meansReal reports whether a line that starts with a built-in command's name
// means a real tool or server of that name: an object, pairs or flags follow, or
// stdin; or one of the server's tools. Bare words mean the built-in command.
func (r *resolver) meansReal(name string, rest []string, tools []*Tool, servers []*server) bool {
	if len(tools)+len(servers) == 0 {
		return false
	}
	if len(rest) == 0 {
		return name == "scripts" || len(tools) > 0 && r.attached != nil
	}
	for _, s := range servers {
		if found, _ := s.shelf().find(rest[0]); len(found) > 0 {
			return true
		}
	}
	return slices.ContainsFunc(rest, isInput)
}

func (r *resolver) builtin(name string, rest []string) (Request, *Error) {
	switch {
	case name == "help" && len(rest) == 0, slices.ContainsFunc(rest, isHelp):
		return Request{Text: r.rootHelp()}, nil
	case name == "help":
		return r.line(append(slices.Clone(rest), "--help"))
	case name == "search" && len(rest) == 0:
		return Request{}, Errorf(InvalidInput, "tools search needs words, as in: tools search pull request")
	case name == "search":
		return Request{Text: r.search(strings.Join(rest, " "))}, nil
	case name == "plan" && (len(rest) == 0 || rest[0] == "-"):
		return Request{Plan: true}, nil
	case name == "plan":
		return Request{}, fault(InvalidInput, "tools plan takes no %s: it reads a script from stdin, as in: tools plan <<'EOF'", clip(rest[0]))
	}
	return Request{}, fault(UnknownCommand, "there is no command tools %s; run tools --help", name)
}
