package analyze

import "mvdan.cc/sh/v3/syntax"

// Command is a reachable tools command, whether or not it is written out in
// full.
type Command struct {
	// Args are the words after "tools", up to the first that is not known; Known
	// says that they are all.
	Args  []string
	Known bool
	// Literal says that it is written out in full: a call of it is visible.
	Literal bool
	// Attached says that its stdin belongs to this very command.
	Attached bool
	Where    Where
	// Line, Col and Offset are where the command begins in the script.
	Line, Col, Offset int
	// Node is the simple command. Its positions are the script's when Exact is
	// set; else it stands in a text for eval, trap or bash -c.
	Node  *syntax.CallExpr
	Exact bool
	// Words are those after "tools"; nil when braces make more of them.
	Words []*syntax.Word
}

// Hidden is a reachable command that may call what is not known: its name, its
// text or the file that it runs is not.
type Hidden struct {
	Node              *syntax.CallExpr
	Line, Col, Offset int
	Exact             bool // as in Command
}

// Commands lists the reachable tools commands in source order, help and search
// among them.
func (s *Script) Commands() []Command {
	var out []Command
	for _, c := range s.findings().commands {
		out = append(out, Command{
			Args: c.args, Known: c.known, Literal: c.literal, Attached: c.attached, Where: c.where,
			Line: c.line, Col: c.col, Offset: c.offset, Node: c.node, Exact: c.exact, Words: c.words,
		})
	}
	return out
}

// Hidden lists the commands that make a plan incomplete. It is empty when the
// script defines tools itself, which hides all of them.
func (s *Script) Hidden() []Hidden { return s.findings().hidden }
