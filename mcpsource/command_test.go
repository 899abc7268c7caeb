package mcpsource_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tools-in-shell/tis/catalog"
	"github.com/tools-in-shell/tis/mcpsource"
)

func shell(ctx context.Context, script string) (catalog.Output, error) {
	env := []string{"PATH=" + os.Getenv("PATH"), "GIVEN=yes"}
	return mcpsource.CommandExecutor([]string{"sh", "-c", script}, env).Execute(ctx, json.RawMessage(`{"z":1.10,"a":12345678901234567890}`))
}

func TestLocalCommands(t *testing.T) {
	for _, tc := range []struct{ name, script, structured, text string }{
		{"an object is structured, digits and order kept", "cat", `{"z":1.10,"a":12345678901234567890}`, ""},
		{"an array is structured", "echo ' [1.0] '", `[1.0]`, ""},
		{"text stays as it is", `printf 'a\n\nb'`, "", "a\n\nb"},
		{"the final newline stays", "echo a", "", "a\n"},
		{"other JSON is text", "echo 1.10", "", "1.10\n"},
		{"what only begins like JSON is text", "echo '{oops'", "", "{oops\n"},
		{"nothing", "true", "", ""},
		{"input need not be read", "exec <&-; echo a", "", "a\n"},
		{"stderr is no result", "echo a; echo b >&2", "", "a\n"},
		{"the environment is the given one", `echo "$GIVEN-$HOME"`, "", "yes-\n"},
		{"bytes that are no text", `printf 'a\377'`, "", "a\uFFFD"},
		{"what it leaves behind does not hold the call", "sleep 1000 & echo a", "", "a\n"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			quickly(t, 5*time.Second, func() {
				out, err := shell(t.Context(), tc.script)
				require.NoError(t, err)
				assert.Equal(t, tc.structured, string(out.Structured))
				if tc.structured == "" {
					assert.Equal(t, catalog.TextOutput(tc.text), out)
				}
			})
		})
	}
}

func TestLocalCommandsThatFail(t *testing.T) {
	for _, tc := range []struct {
		name, script string
		code         catalog.Code
		message      string
	}{
		{"the last line of stderr says why", "echo first >&2; echo why >&2; echo >&2; exit 2", catalog.ToolError, "why"},
		{"the status when nothing does", "exit 3", catalog.ToolError, "exit status 3"},
		{"a signal", "kill -9 $$", catalog.ToolError, "signal: killed"},
		{"a result over the limit", "yes; echo never", catalog.ToolError, "the command's result is over the limit of 10 MiB"},
		{"a result over the limit, then silence", "head -c 20000000 /dev/zero; sleep 1000", catalog.ToolError, "the command's result is over the limit of 10 MiB"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			quickly(t, 10*time.Second, func() {
				out, err := shell(t.Context(), tc.script)
				ce := failure(t, err)
				assert.Equal(t, tc.code, ce.Code)
				assert.Equal(t, tc.message, ce.Message)
				assert.Empty(t, out)
			})
		})
	}
	for _, argv := range [][]string{nil, {"/no/such/program"}, {"no-such-program-anywhere"}} {
		_, err := mcpsource.CommandExecutor(argv, nil).Execute(t.Context(), json.RawMessage(`{}`))
		assert.Equal(t, catalog.Unavailable, failure(t, err).Code)
	}
}

func TestALocalCommandEndsWithItsContext(t *testing.T) {
	file := filepath.Join(t.TempDir(), "pid")
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	quickly(t, 3*time.Second, func() {
		_, err := shell(ctx, "trap '' TERM; sleep 1000 & echo $! > "+file+"; wait; sleep 1000")
		assert.ErrorIs(t, err, context.DeadlineExceeded)
	})
	b, err := os.ReadFile(file)
	require.NoError(t, err)
	child, err := strconv.Atoi(strings.TrimSpace(string(b)))
	require.NoError(t, err)
	assert.Eventually(t, func() bool { return !alive(child) }, 2*time.Second, 5*time.Millisecond)

	cancelled, stop := context.WithCancel(t.Context())
	stop()
	_, err = shell(cancelled, "echo a")
	assert.ErrorIs(t, err, context.Canceled)
}
