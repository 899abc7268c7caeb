package runner_test

import (
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tools-in-shell/tis/catalog"
	"github.com/tools-in-shell/tis/runner"
)

// slowReader reads what a script prints, and takes its time.
type slowReader struct {
	mu   sync.Mutex
	text strings.Builder
}

func (s *slowReader) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.text.Len() == 0 {
		time.Sleep(1200 * time.Millisecond)
	}
	return s.text.Write(p)
}

// What a utility prints comes through whole, also when it has long ended before
// all is read.
func TestASlowReaderLosesNothing(t *testing.T) {
	var out slowReader
	r, err := runner.New(runner.Options{Dir: t.TempDir(), Utilities: true, Stdout: &out, Catalog: func(context.Context) *catalog.Catalog {
		return catalog.New(nil, nil, catalog.Options{})
	}})
	require.NoError(t, err)
	result, err := r.Run(t.Context(), runner.Script{Text: "seq 1 12000; seq 1 3 >&2; echo last"})
	require.NoError(t, err)
	require.True(t, result.Success, result.Stderr)
	require.Equal(t, 12001, strings.Count(out.text.String(), "\n"))
	require.Equal(t, 12001, strings.Count(result.Stdout, "\n"))
	require.True(t, strings.HasSuffix(result.Stdout, "12000\nlast\n"))
	require.Equal(t, "1\n2\n3\n", result.Stderr)
}

// Both streams into one keep their order.
func TestUtilitiesKeepTheOrderOfTwoStreamsInOne(t *testing.T) {
	r, err := runner.New(runner.Options{Dir: t.TempDir(), Utilities: true, Catalog: func(context.Context) *catalog.Catalog {
		return catalog.New(nil, nil, catalog.Options{})
	}})
	require.NoError(t, err)
	result, err := r.Run(t.Context(), runner.Script{Text: `awk 'BEGIN { for (i = 0; i < 200; i++) { print "o" i; fflush(); print "e" i > "/dev/stderr"; fflush() } }' 2>&1`})
	require.NoError(t, err)
	require.True(t, result.Success, result.Stderr)
	require.True(t, strings.HasPrefix(result.Stdout, "o0\ne0\no1\ne1\n"), result.Stdout)
	require.Equal(t, 400, strings.Count(result.Stdout, "\n"))
}

// A run that is over waits for no output.
func TestAUtilityThatIsEndedHoldsNothingUp(t *testing.T) {
	r, err := runner.New(runner.Options{Dir: t.TempDir(), Utilities: true, Timeout: time.Second, Catalog: func(context.Context) *catalog.Catalog {
		return catalog.New(nil, nil, catalog.Options{})
	}})
	require.NoError(t, err)
	began := time.Now()
	result, err := r.Run(t.Context(), runner.Script{Text: "echo first; yes | head -n 1; tail -f /dev/null"})
	require.NoError(t, err)
	require.Equal(t, 124, result.ExitCode)
	require.Equal(t, "first\ny\n", result.Stdout)
	require.Less(t, time.Since(began), 20*time.Second)
}
