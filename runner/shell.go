package runner

import (
	"context"
	"crypto/rand"
	"fmt"
	"io"
	"io/fs"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/interp"

	"github.com/tools-in-shell/tis/intercept"
	"github.com/tools-in-shell/tis/report"
	"github.com/tools-in-shell/tis/runner/sandbox"
)

// shell is the interpreter of one run and of every shell that its script
// starts (bash -c, script files): they share handlers, limits and the end.
type shell struct {
	run       *run
	cancel    context.CancelCauseFunc
	call      *intercept.Interceptor
	utilities *sandbox.Utilities
	word      string // marks an attached command in text; see the package comment
	readWord  string // what the builtin read is called here
	commands  atomic.Int64

	mu     sync.Mutex
	ended  bool
	active sync.WaitGroup // commands that the exec handler is answering
}

func newShell(r *run, cancel context.CancelCauseFunc) *shell {
	s := &shell{run: r, cancel: cancel, word: "tis-stdin-" + randomWord(), readWord: "tis-read-" + randomWord()}
	s.call = intercept.New(intercept.Config{
		Catalog: r.cat, Gate: r.o.Gate, Session: r.script.Session, RunID: r.id, Report: r.report,
		Before: r.o.Before, After: r.o.After, CallTimeout: r.o.CallTimeout, MaxResult: r.o.MaxResult,
		OnStop: func(report.Stop) { cancel(errStop) },
	})
	if r.o.Utilities {
		s.utilities = &sandbox.Utilities{Write: []string{r.o.Dir, r.tmp}, Hide: r.files.protected.there(), Protections: sandbox.Probe()}
	}
	return s
}

func randomWord() string { return strings.ToLower(rand.Text()) }

// interpreter builds one interpreter on the shared handlers.
func (s *shell) interpreter(dir string, env []string, in io.Reader, out, errOut io.Writer, args []string) (*interp.Runner, error) {
	f := s.run.files
	return interp.New(
		interp.Dir(dir),
		interp.Env(expand.ListEnviron(env...)),
		interp.StdIO(in, out, errOut),
		interp.Params(append([]string{"--"}, args...)...),
		interp.CallHandler(s.onCall),
		interp.ExecHandlers(func(interp.ExecHandlerFunc) interp.ExecHandlerFunc { return s.onExec }),
		interp.OpenHandler(s.onOpen),
		interp.StatHandler(f.stat),
		interp.ReadDirHandler2(f.readDir),
		interp.AccessHandler(f.access),
	)
}

// onCall sees every simple command before it is dispatched. It counts, bounds
// the call depth, and prepares the text of eval, trap and source.
func (s *shell) onCall(ctx context.Context, args []string) ([]string, error) {
	n := s.commands.Add(1)
	if n > s.run.o.MaxCommands {
		s.run.limit("commands", fmt.Sprintf("%d", s.run.o.MaxCommands))
		return nil, errStop
	}
	if n%16 == 0 && tooDeep() {
		s.run.limit("nested calls", "about 2,000")
		return nil, errStop
	}
	last := len(args) - 1
	marked := last > 0 && args[last] == s.word
	if marked && args[0] != "tools" && !wrappers[args[0]] {
		args = args[:last]
	}
	args = s.prepare(args)
	if text, ok := textOf(args); ok {
		if err := checkText(text, args[0]); err != nil {
			// Nothing of the text has run, and the shell does not go on without it.
			fmt.Fprintf(interp.HandlerCtx(ctx).Stderr, "%s: %s:%v; the text was not run, and the shell ends\n", s.run.script.Name, args[0], err)
			return []string{"exit", "2"}, nil
		}
	}
	return args, nil
}

// textOf is the text that eval or trap hands to the interpreter.
func textOf(args []string) (string, bool) {
	switch {
	case args[0] == "eval" && len(args) == 2:
		return args[1], true
	case args[0] == "trap" && len(args) > 3 && args[1] == "--":
		return args[2], true
	}
	return "", false
}

// tooDeep reports whether the goroutine's stack is so deep that the script can
// only be in a recursion that will not end.
func tooDeep() bool {
	var pc [1]uintptr
	return runtime.Callers(maxFrames, pc[:]) > 0
}

const maxFrames = 20_000

// prepare rewrites the arguments of builtins that the interpreter answers
// differently from bash, or whose text has to be marked.
func (s *shell) prepare(args []string) []string {
	if i := plainRead(args); i >= 0 {
		return append([]string{s.readWord}, args[i+1:]...)
	}
	rest := args[1:]
	switch args[0] {
	case "eval":
		if len(rest) > 0 && rest[0] == "--" {
			rest = rest[1:]
		}
		return []string{"eval", prepareText(strings.Join(rest, " "), s.word)}
	case "trap":
		return s.prepareTrap(args)
	case "source", ".":
		if len(rest) > 0 {
			return append([]string{args[0], s.word + ":" + rest[0]}, rest[1:]...)
		}
	case "command":
		// The interpreter looks only for programs; tools and jq are none.
		if len(rest) == 2 && (rest[0] == "-v" || rest[0] == "-V") && inProcess[rest[1]] {
			return []string{"echo", rest[1]}
		}
	case "type":
		if len(rest) == 1 && inProcess[rest[0]] {
			return []string{"echo", rest[0] + " is a shell builtin"}
		}
	}
	return args
}

// plainRead is where the word read stands in a command line that means the
// builtin, -1 when there is none.
func plainRead(args []string) int {
	for i, word := range args {
		switch word {
		case "read":
			return i
		case "command", "builtin":
		default:
			return -1
		}
	}
	return -1
}

// prepareTrap marks the trap's text and drops the signals that never reach a
// script here, which the interpreter would refuse.
func (s *shell) prepareTrap(args []string) []string {
	rest := args[1:]
	if len(rest) > 0 && rest[0] == "--" {
		rest = rest[1:]
	}
	if len(rest) < 2 || rest[0] == "-p" || rest[0] == "-l" {
		return args
	}
	out := []string{"trap", "--", prepareText(rest[0], s.word)}
	for _, name := range rest[1:] {
		switch name = strings.TrimPrefix(strings.ToUpper(name), "SIG"); {
		case name == "0" || name == "EXIT":
			out = append(out, "EXIT")
		case slices.Contains(signals, name):
		default:
			out = append(out, name)
		}
	}
	if len(out) == 3 {
		return []string{"true"}
	}
	return out
}

// signals never arrive in a script here: it is no process of its own.
var signals = strings.Fields("HUP INT QUIT TERM USR1 USR2 PIPE ALRM CHLD WINCH TSTP CONT TTIN TTOU 1 2 3 10 12 13 14 15")

// inProcess are the commands that are answered here although no program of
// that name is needed.
var inProcess = map[string]bool{"tools": true, "jq": true, "bash": true, "sh": true, "env": true, "timeout": true,
	"nice": true, "nohup": true, "stdbuf": true, "setsid": true, "xargs": true, "find": true}

// onOpen opens a file for a redirect, $(<file) or source. A sourced file comes
// with the mark in front of its name, and is marked as its text becomes known.
func (s *shell) onOpen(ctx context.Context, path string, flag int, perm fs.FileMode) (io.ReadWriteCloser, error) {
	name, sourced := strings.CutPrefix(path, s.word+":")
	if !sourced {
		return s.run.files.open(ctx, path, flag, perm)
	}
	hc := interp.HandlerCtx(ctx)
	text, err := s.run.files.readScript(hc, name, maxScript)
	if err != nil {
		return nil, err
	}
	if err := checkText(text, name); err != nil {
		return nil, &fs.PathError{Op: "source", Path: name, Err: err}
	}
	return &memory{Reader: strings.NewReader(prepareText(text, s.word))}, nil
}

// maxScript is the size of the largest script file, in bytes.
const maxScript = 4 << 20

// memory is a text that reads like an opened file.
type memory struct{ io.Reader }

func (*memory) Write([]byte) (int, error) { return 0, fs.ErrPermission }
func (*memory) Close() error              { return nil }

// enter counts a command in; it is false once the run has ended.
func (s *shell) enter() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.ended {
		s.active.Add(1)
	}
	return !s.ended
}

// end lets no further command start.
func (s *shell) end() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ended = true
}

// wait gives the commands that are still being answered a moment to return.
func (s *shell) wait(limit time.Duration) {
	gone := make(chan struct{})
	go func() { s.active.Wait(); close(gone) }()
	select {
	case <-gone:
	case <-time.After(limit):
	}
}
