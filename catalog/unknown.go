package catalog

import (
	"slices"
	"strings"
)

// calledDirectly answers a tool that only the model itself can call.
func calledDirectly(name string) *Error {
	return fault(UnknownCommand, "%s is not a shell command: call it directly, as a tool of its own", clip(Shown(name)))
}

// clash answers a word that several servers or tools answer to.
func (r *resolver) clash(word string, servers []*server, tools []*Tool) *Error {
	var names []string
	for _, s := range servers {
		names = append(names, "tools "+shellWord(s.Name))
	}
	for _, t := range tools {
		line := "tools "
		if t.Server != "" {
			line += shellWord(t.Server) + " "
		}
		names = append(names, line+shellWord(t.Name))
	}
	return fault(UnknownCommand, "%s could mean %s; type one of them exactly", clip(word), strings.Join(names, " or "))
}

// unknown answers a first word that names nothing.
func (r *resolver) unknown(word string) *Error {
	meant := append(r.elsewhere(word), r.nearTop(word)...)
	return fault(UnknownCommand, "no server or tool is called %s%s; run tools --help", clip(word), didYouMean(meant))
}

// nearTop lists the servers, tools and commands that look like a first word.
func (r *resolver) nearTop(word string) []string {
	names := []string{"help", "plan", "search"}
	for _, n := range r.servers.names {
		names = append(names, shellWord(r.servers.spelling(n)))
	}
	top := r.top().shell
	for _, n := range top.names {
		names = append(names, shellWord(top.spelling(n)))
	}
	return near(word, names)
}

// elsewhere finds the tools of servers that a word names by itself, or
// together with their server: list-pulls, github.list_pulls, mcp_github__list_pulls.
func (r *resolver) elsewhere(word string) []string {
	var out []string
	whole := strings.TrimPrefix(bare(word), "mcp")
	r.each(func(s *server) {
		sh := s.shelf()
		found := slices.Clone(sh.shell.find(word))
		if rest, ok := strings.CutPrefix(whole, bare(s.Name)); ok && rest != "" {
			for _, t := range sh.reachable() {
				if bare(t.Name) == rest && !slices.Contains(found, t) {
					found = append(found, t)
				}
			}
		}
		for _, t := range found {
			out = append(out, r.command(s, t))
		}
	})
	return out
}

// unknownIn answers a second word that names none of the server's tools.
func (r *resolver) unknownIn(s *server, word string) *Error {
	return fault(UnknownCommand, "%s has no tool %s%s; run %s --help", shellWord(r.servers.spelling(s.Name)), clip(word), didYouMean(r.nearIn(s, word)), r.serverCommand(s))
}

// nearIn lists the tools of a server that look like a word.
func (r *resolver) nearIn(s *server, word string) []string {
	shell := s.shelf().shell
	var names []string
	for _, n := range shell.names {
		names = append(names, shellWord(shell.spelling(n)))
	}
	return near(word, names)
}
