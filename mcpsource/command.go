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
// its stdout is the result, structured when it is a JSON object or array.
func CommandExecutor(argv, env []string) catalog.Executor {
	return catalog.ExecutorFunc(func(ctx context.Context, input json.RawMessage) (catalog.Output, error) {
		if len(argv) == 0 {
			return catalog.Output{}, catalog.Errorf(catalog.Unavailable, "the tool has no command")
		}
		cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
		out, log := &limited{}, &ring{}
		cmd.Env, cmd.Stdin, cmd.Stdout, cmd.Stderr = env, bytes.NewReader(input), out, log
		ownGroup(cmd)
		cmd.Cancel = func() error { killGroup(cmd); return nil }
		cmd.WaitDelay = time.Second
		err := cmd.Run()
		var exit *exec.ExitError
		switch {
		case ctx.Err() != nil:
			return catalog.Output{}, ctx.Err()
		case out.over:
			return catalog.Output{}, catalog.Errorf(catalog.ToolError, "the command's result is over the limit of 10 MiB")
		case errors.As(err, &exit):
			text := log.lastLine()
			if text == "" {
				text = exit.Error()
			}
			return catalog.Output{}, catalog.Errorf(catalog.ToolError, "%s", text)
		case err != nil && !errors.Is(err, exec.ErrWaitDelay):
			return catalog.Output{}, catalog.Errorf(catalog.Unavailable, "the command %q cannot be started: %v", argv[0], err)
		}
		text := out.buf.String()
		if t := strings.TrimSpace(text); t != "" && (t[0] == '{' || t[0] == '[') && json.Valid([]byte(t)) {
			return catalog.Output{Structured: json.RawMessage(t)}, nil
		}
		return catalog.TextOutput(strings.ToValidUTF8(text, "\uFFFD")), nil
	})
}

// limited keeps a bounded output and notes when there was more.
type limited struct {
	buf  bytes.Buffer // not embedded: its ReadFrom would pass the limit by
	over bool
}

func (l *limited) Write(p []byte) (int, error) {
	if l.buf.Len()+len(p) > maxCommandOutput {
		l.over = true
		return 0, io.ErrShortWrite
	}
	return l.buf.Write(p)
}
