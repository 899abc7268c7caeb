package analyze

import (
	"slices"

	"github.com/tools-in-shell/tis/catalog"
)

// Visible is a call that is written out in full. If it executes, it is exactly
// the call that the interceptor sees.
type Visible struct {
	// Args are the words after "tools".
	Args []string
	// Line and Col are where the command begins; inside of a text for eval, trap
	// or bash -c that is not one single-quoted word, where that command begins.
	Line, Col int
	Where     Where
	// Call is the resolved and schema-checked call; nil when Err or NeedsLoad is set.
	Call *catalog.Call
	// NeedsLoad names the on-demand server that has to be loaded before the call
	// can be resolved.
	NeedsLoad string
	// Err says why the call will fail without reaching its tool.
	Err *catalog.Error
}

// DefinesTools reports whether the script gives the name tools a meaning of
// its own anywhere, by a function, an alias or a builtin that changes how
// commands are found, also in literal texts for eval, trap and bash -c.
// Nothing is visible in such a script.
func (s *Script) DefinesTools() bool { return s.findings().tools }

// Visible lists the visible calls in source order, each place once. Help,
// search and plan are no calls and are left out. It loads no server.
func (s *Script) Visible(c *catalog.Catalog) []Visible {
	var out []Visible
	for _, cmd := range s.findings().commands {
		if cmd.literal {
			if v, ok := resolve(c, cmd); ok {
				out = append(out, v)
			}
		}
	}
	return out
}

// NamesLoads lists the on-demand servers that visible calls name, each once, in
// source order.
func (s *Script) NamesLoads(c *catalog.Catalog) []string {
	var names []string
	for _, v := range s.Visible(c) {
		if v.NeedsLoad != "" && !slices.Contains(names, v.NeedsLoad) {
			names = append(names, v.NeedsLoad)
		}
	}
	return names
}

// resolve is false for a command that is no call.
func resolve(c *catalog.Catalog, cmd command) (Visible, bool) {
	v := Visible{Args: cmd.args, Line: cmd.line, Col: cmd.col, Where: cmd.where}
	req, needs, err := c.ResolveLiteral(cmd.args)
	switch {
	case needs != "":
		v.NeedsLoad = needs
	case err != nil:
		v.Err = err
	case req.Call == nil:
		return v, false
	default:
		if err := req.Call.Tool.Check(req.Call.Input); err != nil {
			v.Err = err
		} else {
			v.Call = req.Call
		}
	}
	return v, true
}
