package mcpsource

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"strings"
	"time"

	"github.com/tools-in-shell/tis/catalog"
)

// maxCommandOutput is the largest result of a local command, in bytes.
const maxCommandOutput = 10 << 20

// CommandExecutor is a tool that is a program: the input goes to its stdin, and
// its stdout is the result, structured when it is a JSON object or array, else
// text as it is. A program that exits with another status than 0 has failed;
// the last line of its stderr says why. It is killed, with what it started, when
// the call's context ends, and nothing that it started stays when it exits.
func CommandExecutor(argv, env []string) catalog.Executor {
	return catalog.ExecutorFunc(func(ctx context.Context, input json.RawMessage) (catalog.Output, error) {
		if len(argv) == 0 {
			return catalog.Output{}, catalog.Errorf(catalog.Unavailable, "the tool has no command")
		}
		return runCommand(ctx, argv, env, input)
	})
}

func runCommand(ctx context.Context, argv, env []string, input []byte) (catalog.Output, error) {
	work, stop := context.WithCancel(ctx)
	defer stop()
	cmd := exec.CommandContext(work, argv[0], argv[1:]...)
	out, log := &limited{full: stop}, &ring{}
	cmd.Env, cmd.Stdin, cmd.Stdout, cmd.Stderr = env, bytes.NewReader(input), out, log
	ownGroup(cmd)
	cmd.Cancel = func() error { killGroup(cmd); return nil }
	cmd.WaitDelay = time.Second
	if err := cmd.Start(); err != nil {
		if ctx.Err() != nil {
			return catalog.Output{}, ctx.Err()
		}
		return catalog.Output{}, notMade(catalog.Errorf(catalog.Unavailable, "the command %q cannot be started: %v", argv[0], err))
	}
	if sawExit(cmd.Process.Pid) {
		killGroup(cmd)
	}
	err := cmd.Wait()
	var exit *exec.ExitError
	switch {
	case out.over:
		return catalog.Output{}, catalog.Errorf(catalog.ToolError, "the command's result is over the limit of 10 MiB")
	case err != nil && ctx.Err() != nil:
		return catalog.Output{}, ctx.Err()
	case errors.As(err, &exit):
		text := clip(log.lastLine(), maxErrorText)
		if text == "" {
			text = exit.Error()
		}
		return catalog.Output{}, catalog.Errorf(catalog.ToolError, "%s", text)
	case errors.Is(err, exec.ErrWaitDelay): // a part of a result is no result
		return catalog.Output{}, catalog.Errorf(catalog.ToolError, "the command %q ended, and its output could not be read to the end", argv[0])
	case err != nil:
		return catalog.Output{}, catalog.Errorf(catalog.ToolError, "the command %q: %v", argv[0], err)
	}
	text := strings.ToValidUTF8(out.buf.String(), "\uFFFD")
	if t := strings.TrimSpace(text); t != "" && (t[0] == '{' || t[0] == '[') && json.Valid([]byte(t)) {
		return catalog.Output{Structured: json.RawMessage(t)}, nil
	}
	return catalog.TextOutput(text), nil
}

// limited keeps a bounded output; when there is more it ends the program.
type limited struct {
	buf  bytes.Buffer // not embedded: its ReadFrom would pass the limit by
	full func()
	over bool
}

func (l *limited) Write(p []byte) (int, error) {
	if l.buf.Len()+len(p) > maxCommandOutput {
		l.over = true
		l.full()
		return 0, io.ErrShortWrite
	}
	return l.buf.Write(p)
}
