package mcpsource_test

import (
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tools-in-shell/tis/catalog"
)

// alive reports whether a process runs; one that only waits to be reaped does not.
func alive(pid int) bool {
	if runtime.GOOS == "linux" {
		b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		if err != nil {
			return false
		}
		_, rest, _ := strings.Cut(string(b), ") ")
		return !strings.HasPrefix(rest, "Z")
	}
	p, err := os.FindProcess(pid)
	return err == nil && p.Signal(syscall.Signal(0)) == nil
}

func TestNoProcessIsLeftAfterClose(t *testing.T) {
	for _, kind := range []string{"plain", "stubborn"} {
		t.Run(kind, func(t *testing.T) {
			p := startPool(t, program(t, kind))
			out, err := call(t, p, "child", `{}`)
			require.NoError(t, err)
			child, err := strconv.Atoi(out.Parts[0].Text)
			require.NoError(t, err)
			require.True(t, alive(child))
			quickly(t, 5*time.Second, func() { require.NoError(t, p.Close()) })
			assert.Eventually(t, func() bool { return !alive(child) }, 2*time.Second, 5*time.Millisecond)
			require.NoError(t, p.Close(), "once more does no harm")
		})
	}
}

func TestCloseEndsCallsAtWork(t *testing.T) {
	p := startPool(t, program(t, "plain"))
	hang := tool(t, p, "x", "hang")
	got := make(chan error)
	go func() {
		_, err := hang.Executor.Execute(t.Context(), []byte(`{}`))
		got <- err
	}()
	time.Sleep(50 * time.Millisecond)
	quickly(t, 3*time.Second, func() { require.NoError(t, p.Close()) })
	ce := failure(t, <-got)
	assert.Equal(t, catalog.ToolError, ce.Code)
	assert.Equal(t, "outcome unknown: tis ended during the call", ce.Message)
	_, err := hang.Executor.Execute(t.Context(), []byte(`{}`))
	assert.Equal(t, catalog.Unavailable, failure(t, err).Code, "a closed pool starts nothing")
}

func TestCloseEndsAStartUnderWay(t *testing.T) {
	p := newPool(t, program(t, "silent"))
	started := make(chan struct{})
	go func() {
		defer close(started)
		p.Start(t.Context())
	}()
	time.Sleep(50 * time.Millisecond)
	quickly(t, 5*time.Second, func() { require.NoError(t, p.Close()) })
	<-started
}

func TestStatus(t *testing.T) {
	cfg := program(t, "dies", "API_TOKEN", "s3cr3t-token")
	good, later := program(t, "plain"), program(t, "plain")
	good.Name, later.Name, later.OnDemand = "good", "later", true
	p := startPool(t, cfg, good, later)
	got := p.Status()
	require.Len(t, got, 3)
	assert.Equal(t, "failed", got[0].State)
	assert.Equal(t, "starting\ncannot sign in with ***\n", got[0].Stderr)
	assert.Equal(t, "running", got[1].State)
	assert.Equal(t, 13, got[1].Tools)
	assert.NoError(t, got[1].Err)
	assert.Equal(t, "not loaded", got[2].State)
	_, err := tool(t, p, "good", "die").Executor.Execute(t.Context(), []byte(`{}`))
	require.Error(t, err)
	assert.Equal(t, "stopped", p.Status()[1].State)
}
