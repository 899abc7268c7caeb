package runner

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/interp"

	"github.com/tools-in-shell/tis/intercept"
	"github.com/tools-in-shell/tis/intercept/jq"
	"github.com/tools-in-shell/tis/runner/sandbox"
)

// command is one command that is neither a function nor a builtin, or one that
// such a command runs in turn.
type command struct {
	args     []string
	env      []string // exported variables
	dir      string
	in       io.Reader // nil is empty
	out, err io.Writer
	attached bool // in belongs to this very command
}

// onExec is called for every command that the interpreter does not know.
func (s *shell) onExec(ctx context.Context, args []string) error {
	if !s.enter() {
		return errStop
	}
	defer s.active.Done()
	hc := interp.HandlerCtx(ctx)
	c := command{args: args, env: exported(hc.Env), dir: hc.Dir, in: hc.Stdin, out: hc.Stdout, err: hc.Stderr, attached: isAttached(hc.Pos)}
	if last := len(args) - 1; last > 0 && args[last] == s.word {
		c.args, c.attached = args[:last], true
	}
	return s.exec(ctx, c)
}

// exported lists the variables that a program would inherit.
func exported(env expand.Environ) []string {
	var list []string
	env.Each(func(name string, v expand.Variable) bool {
		if v.Exported && v.IsSet() && v.Kind == expand.String {
			list = append(list, name+"="+v.String())
		}
		return true
	})
	return list
}

// exec answers one command. An ExitStatus error is the command's own exit
// code; any other error ends the run.
func (s *shell) exec(ctx context.Context, c command) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	switch name := c.args[0]; name {
	case s.readWord:
		return s.read(ctx, c)
	case "tools":
		exit := s.call.Command(ctx, c.args[1:], intercept.Stdio{Attached: c.own(), Inherited: c.in, Stdout: c.out, Stderr: c.err, Dir: s.run.files})
		if s.run.report.Stopped() != nil {
			return errStop
		}
		return status(exit)
	case "jq":
		in := c.in
		if in == nil {
			in = strings.NewReader("")
		}
		return status(jq.Main(ctx, c.args[1:], in, c.out, c.err, c.env, func(name string) (io.ReadCloser, error) {
			return s.run.files.openAt(interp.HandlerContext{Dir: c.dir, Stdin: c.in, Stdout: c.out, Stderr: c.err}, name, os.O_RDONLY, 0)
		}))
	case "bash", "sh":
		return s.bash(ctx, c)
	case "env", "timeout", "nice", "nohup", "stdbuf", "setsid", "ionice":
		return s.wrapper(ctx, c)
	case "xargs":
		return s.xargs(ctx, c)
	case "find":
		return s.find(ctx, c)
	default:
		if strings.Contains(name, "/") {
			return s.path(ctx, c)
		}
		return s.utility(ctx, c)
	}
}

// own is the input that belongs to this very command, nil when none does.
func (c command) own() io.Reader {
	if !c.attached {
		return nil
	}
	if c.in == nil {
		return strings.NewReader("")
	}
	return c.in
}

// with is c running other words, with the same streams.
func (c command) with(args ...string) command {
	c.args = args
	return c
}

// fail prints a command's own complaint and sets its exit code.
func (c command) fail(code int, format string, args ...any) error {
	fmt.Fprintf(c.err, c.args[0]+": "+format+"\n", args...)
	return status(code)
}

func status(code int) error {
	if code == 0 {
		return nil
	}
	return interp.ExitStatus(uint8(code))
}

// path runs a file by its path: a shell script in the working directory, or a
// utility named in full.
func (s *shell) path(ctx context.Context, c command) error {
	full := abs(c.dir, c.args[0])
	base := filepath.Base(full)
	if slices.Contains(filepath.SplitList(sandbox.Path()), filepath.Dir(full)) {
		if inProcess[base] {
			return s.exec(ctx, c.with(append([]string{base}, c.args[1:]...)...))
		}
		return s.utility(ctx, c.with(append([]string{base}, c.args[1:]...)...))
	}
	text, err := s.run.files.readScript(interp.HandlerContext{Dir: c.dir}, c.args[0], maxScript)
	if err != nil {
		code := 126
		if errors.Is(err, fs.ErrNotExist) {
			code = 127
		}
		return c.fail(code, "%v", reason(err))
	}
	if info, err := s.run.files.stat(ctx, full, true); err != nil || info.Mode()&0o111 == 0 {
		return c.fail(126, "Permission denied")
	}
	if line, _, _ := strings.Cut(text, "\n"); strings.HasPrefix(line, "#!") && !shellShebang(line) || strings.ContainsRune(line, 0) {
		return c.fail(126, "only shell scripts can be run by their path here")
	}
	return s.script(ctx, c, text, c.args[0], c.args[1:], nil)
}

// shellShebang reports whether a first line names sh or bash.
func shellShebang(line string) bool {
	words := strings.Fields(strings.TrimPrefix(line, "#!"))
	if len(words) > 1 && filepath.Base(words[0]) == "env" {
		words = words[1:]
	}
	return len(words) > 0 && (filepath.Base(words[0]) == "bash" || filepath.Base(words[0]) == "sh")
}

// reason is a file error without operation and path.
func reason(err error) error {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		return pe.Err
	}
	return err
}

// utility runs one of the host's utilities, confined.
func (s *shell) utility(ctx context.Context, c command) error {
	if s.utilities == nil {
		return c.fail(127, "command not found (this shell has builtins, tools and jq, and no programs)")
	}
	path, ok := sandbox.Look(c.args[0])
	if !ok {
		return c.fail(127, "command not found")
	}
	cmd := s.utilities.Command(ctx, path, c.dir, c.args, c.env)
	cmd.Stdin = c.in
	var out output
	if err := out.attach(cmd, c.out, c.err); err != nil {
		return c.fail(126, "cannot start: %v", reason(err))
	}
	err := cmd.Start()
	out.started()
	if err == nil {
		err = cmd.Wait()
	}
	out.end(ctx)
	var exit *exec.ExitError
	switch {
	case err == nil || errors.Is(err, exec.ErrWaitDelay): // it left its input unread
		return nil
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.As(err, &exit) && exit.ExitCode() >= 0:
		return status(exit.ExitCode())
	case errors.As(err, &exit):
		return status(signalStatus(exit))
	case errors.Is(err, fs.ErrClosed), isBrokenPipe(err):
		return status(141)
	default:
		return c.fail(126, "cannot start: %v", reason(err))
	}
}
