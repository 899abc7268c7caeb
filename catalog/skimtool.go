package catalog

import (
	"bytes"
	"context"
	"slices"
	"strings"
)

// skimCatalog reads a catalog file in one go. ok is false for a file that
// readCatalog has to look at: one with a fault, or with anything unusual.
func skimCatalog(raw []byte) (sources []Source, top []*Tool, ok bool) {
	s := &skim{src: raw}
	s.space()
	ok = s.members(func(key []byte) bool {
		switch string(key) {
		case "$schema":
			return s.value(0)
		case "servers":
			return s.members(func(name []byte) bool {
				src, ok := s.server(string(name))
				sources = append(sources, src)
				return ok
			})
		case "tools":
			top, ok = s.tools("")
			return ok
		}
		return false
	})
	slices.SortFunc(sources, func(a, b Source) int { return strings.Compare(a.Name, b.Name) })
	return sources, top, ok && s.end()
}

// members calls do at the value of each member of an object, which do goes
// past. It refuses anything but an object, and a key given twice.
func (s *skim) members(do func(key []byte) bool) bool {
	if !s.take('{') {
		return false
	}
	var seen []string
	for first := true; ; first = false {
		more, ok := s.next(first, '}')
		if !more || !ok {
			return ok
		}
		key, ok := s.key()
		if !ok || slices.Contains(seen, string(key)) {
			return false
		}
		if len(seen) == 1000 { // looked through each time
			return false
		}
		seen = append(seen, string(key))
		if !do(key) {
			return false
		}
	}
}

func (s *skim) server(name string) (Source, bool) {
	src := Source{Name: name, Loaded: true}
	var tools []*Tool
	load := ""
	ok := s.members(func(key []byte) (ok bool) {
		switch string(key) {
		case "tools":
			tools, ok = s.tools(name)
		case "load":
			load, ok = s.said()
		case "description":
			src.Description, ok = s.said()
		case "serverInfo":
			ok = s.value(0)
		}
		return ok
	})
	switch load {
	case "on_demand":
		src.Loaded = false
		src.Load = func(context.Context) ([]*Tool, error) { return tools, nil }
	case "", "start":
		src.Tools = tools
	default:
		return Source{}, false
	}
	return src, ok
}

func (s *skim) tools(server string) ([]*Tool, bool) {
	if !s.take('[') {
		return nil, false
	}
	tools := []*Tool{}
	for first := true; ; first = false {
		more, ok := s.next(first, ']')
		if !more || !ok {
			return tools, ok
		}
		t := s.tool(server)
		if t == nil {
			return nil, false
		}
		tools = append(tools, t)
	}
}

// toolKeys are those of a tool that count. encoding/json takes them in any case.
var toolKeys = []string{"name", "description", "inputSchema", "annotations", "policy"}

// tool reads a tool as ToolFromMCP has it, or nil. Its schema is a part of src.
func (s *skim) tool(server string) *Tool {
	if !s.take('{') {
		return nil
	}
	t := &Tool{Server: server}
	seen := 0
	for first := true; ; first = false {
		more, ok := s.next(first, '}')
		if !ok {
			return nil
		}
		if !more {
			break
		}
		key, ok := s.key()
		if !ok {
			return nil
		}
		which := known(key, toolKeys)
		if which < 0 || seen&(1<<which) != 0 {
			return nil
		}
		if which < len(toolKeys) {
			seen |= 1 << which
		}
		switch from := s.pos; which {
		case 0:
			t.Name, ok = s.said()
		case 1:
			t.Description, ok = s.said()
		case 2:
			if ok = s.value(0); ok && !absent(s.src[from:s.pos]) {
				t.InputSchema = s.src[from:s.pos:s.pos]
			}
		case 3:
			t.Hints, ok = s.hints()
		case len(toolKeys):
			ok = s.value(0)
		default: // a policy
			return nil
		}
		if !ok {
			return nil
		}
	}
	if t.Name == "" {
		return nil
	}
	return t
}

// known is the index of a key in names, len(names) for none of them, and -1 for
// one of them in another case.
func known(key []byte, names []string) int {
	for i, name := range names {
		if len(name) != len(key) {
			continue
		}
		if string(key) == name {
			return i
		}
		if bytes.EqualFold(key, []byte(name)) {
			return -1
		}
	}
	return len(names)
}

var hintKeys = []string{"readOnlyHint", "destructiveHint", "openWorldHint", "idempotentHint"}

func (s *skim) hints() (Hints, bool) {
	if !s.take('{') {
		return Hints{}, false
	}
	var h Hints
	to := []**bool{&h.ReadOnly, &h.Destructive, &h.OpenWorld, &h.Idempotent}
	for first := true; ; first = false {
		more, ok := s.next(first, '}')
		if !ok {
			return Hints{}, false
		}
		if !more {
			break
		}
		key, ok := s.key()
		if !ok {
			return Hints{}, false
		}
		which, from := known(key, hintKeys), s.pos
		if which < 0 || !s.value(0) {
			return Hints{}, false
		}
		if which == len(hintKeys) {
			continue
		}
		yes := string(s.src[from:s.pos]) == "true"
		if *to[which] != nil || !yes && string(s.src[from:s.pos]) != "false" {
			return Hints{}, false
		}
		*to[which] = &yes
	}
	if undeclared(h) {
		h = Hints{}
	}
	return h, true
}
