package analyze

import (
	"strconv"

	"mvdan.cc/sh/v3/syntax"
)

// StdinAttached calls mark for every simple command of the file whose stdin
// belongs to that very command: it is the right side of a pipe, or carries a
// redirection of descriptor 0 of any form itself. Functions and substitutions
// are looked into as well. What a command inherits from a loop, group,
// subshell, function or condition around it does not count.
func StdinAttached(file *syntax.File, mark func(call *syntax.CallExpr)) {
	fed := fedStmts{}
	syntax.Walk(file, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.BinaryCmd:
			fed.pipe(n)
		case *syntax.CoprocClause:
			fed.add(n.Stmt)
		case *syntax.Stmt:
			call, ok := n.Cmd.(*syntax.CallExpr)
			if t, isTime := n.Cmd.(*syntax.TimeClause); isTime && redirectsStdin(n) {
				fed.add(t.Stmt)
			}
			if ok && (fed[n] || redirectsStdin(n)) {
				mark(call)
			}
		}
		return true
	})
}

// fedStmts are the statements that read from a pipe. A pipe's statement has to
// be added before its children are looked at.
type fedStmts map[*syntax.Stmt]bool

// pipe adds the statement that reads n's left side, when n is a pipe.
func (f fedStmts) pipe(n *syntax.BinaryCmd) {
	if n.Op == syntax.Pipe || n.Op == syntax.PipeAll {
		f.add(n.Y)
	}
}

// add follows s to the one command that gets its stdin: the leftmost one of a
// pipeline, also behind time.
func (f fedStmts) add(s *syntax.Stmt) {
	for s != nil && !f[s] {
		f[s] = true
		switch c := s.Cmd.(type) {
		case *syntax.BinaryCmd:
			if c.Op != syntax.Pipe && c.Op != syntax.PipeAll {
				return
			}
			s = c.X
		case *syntax.TimeClause:
			s = c.Stmt
		default:
			return
		}
	}
}

// redirectsStdin reports whether the statement itself redirects descriptor 0.
func redirectsStdin(s *syntax.Stmt) bool {
	for _, r := range s.Redirs {
		if r.N != nil {
			if fd, err := strconv.Atoi(r.N.Value); err == nil && fd == 0 {
				return true
			}
			continue
		}
		switch r.Op {
		case syntax.RdrIn, syntax.RdrInOut, syntax.Hdoc, syntax.DashHdoc, syntax.WordHdoc, syntax.DplIn:
			return true
		}
	}
	return false
}
