package catalog

import "context"

// Unknown says which word of a tools command line names nothing.
type Unknown struct {
	// Word is its index after "tools".
	Word int
	// Near are names that look like it, as they are typed, the nearest first.
	Near []string
	// Direct says that it names a tool that only the model can call.
	Direct bool
	// Error is what the command would print.
	Error *Error
}

// Lookup resolves the words that name a tool, the first one or two of args, and
// loads nothing. t is nil when they name none, or ask for help or a built-in
// command; then unknown says which of them names nothing, if one does. after is
// how many words the name takes.
func (c *Catalog) Lookup(args []string) (t *Tool, after int, unknown *Unknown) {
	r := &resolver{Catalog: c, ctx: context.Background(), literal: true}
	for n := min(2, len(args)); n > 0; n-- {
		req, err := r.line(args[:n])
		if r.needsLoad != "" {
			return nil, 0, nil
		}
		if err == nil && req.Call != nil {
			if n == 2 && r.on == nil { // a top-level tool, and a part of its input
				n = 1
			}
			return req.Call.Tool, n, nil
		}
		if err != nil && err.Code == UnknownCommand {
			u := &Unknown{Error: err}
			servers := r.servers.find(args[0])
			if tools, hidden := r.top().find(args[0]); len(tools) == 0 && len(servers) == 0 {
				u.Direct, u.Near = hidden, r.nearTop(args[0])
				return nil, 0, u
			}
			if len(servers) == 1 && n == 2 {
				_, hidden := servers[0].shelf().find(args[1])
				u.Word, u.Direct, u.Near = 1, hidden, r.nearIn(servers[0], args[1])
			}
			return nil, 0, u
		}
	}
	return nil, 0, nil
}
