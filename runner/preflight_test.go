package runner_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tools-in-shell/tis/approvals"
	"github.com/tools-in-shell/tis/catalog"
	"github.com/tools-in-shell/tis/report"
	"github.com/tools-in-shell/tis/runner"
)

func (b *bench) preflight(t *testing.T, script string) *report.Result {
	t.Helper()
	r, err := runner.New(b.options)
	require.NoError(t, err)
	b.arrived = nil
	return r.Preflight(context.Background(), runner.Script{Text: script, Session: "s"})
}

// What Preflight returns is what Run returns, for every reason not to start.
func TestPreflightIsTheFirstHalfOfARun(t *testing.T) {
	for name, c := range map[string]struct {
		script   string
		exit     int
		requests int
	}{
		"gated calls":     {"tools s put a=1 > f; tools s del a=1; tools s del a=2; tools s del a=1", 1, 3},
		"no script":       {"if tools s del", 2, 0},
		"no bash of ours": {"tools s put; coproc cat", 2, 0},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			var live bytes.Buffer
			b.options.Stderr = &live
			held := b.preflight(t, c.script)
			require.NotNil(t, held)
			require.Equal(t, c.exit, held.ExitCode)
			require.NotEmpty(t, held.Stderr)
			require.Len(t, held.ApprovalRequests, c.requests)
			require.Empty(t, live.String())
			require.Equal(t, held, b.preflight(t, c.script), "the open requests come back")
			require.Equal(t, *held, b.run(t, c.script))
			require.Equal(t, held.Stderr, live.String())
			require.Empty(t, b.arrived)
			files, err := os.ReadDir(b.dir)
			require.NoError(t, err)
			require.Empty(t, files)
		})
	}
}

func TestPreflightLetsStartAndUsesNothingUp(t *testing.T) {
	b := newBench(t)
	for _, script := range []string{"", "tools s put a=1", "x=1; tools s del a=$x", "tools s del a=1 < f", "exit; tools s del a=1"} {
		require.Nil(t, b.preflight(t, script), script)
		require.Empty(t, b.arrived)
	}
	held := b.preflight(t, "tools s del a=1")
	_, err := b.options.Gate.Answer(context.Background(), held.ApprovalRequests[0].ID, approvals.Allow, "ana")
	require.NoError(t, err)
	for range 3 {
		require.Nil(t, b.preflight(t, "tools s del a=1"))
	}
	require.NotNil(t, b.preflight(t, "tools s del a=1; tools s del a=1"), "one answer is not two")
	require.Zero(t, b.run(t, "tools s del a=1").ExitCode)
	require.Len(t, b.arrived, 1)
	require.NotNil(t, b.preflight(t, "tools s del a=1"))
}

func TestPreflightHoldsWhenApprovalsCannotBeChecked(t *testing.T) {
	b := newBench(t)
	store := approvals.NewMemory()
	b.options.Gate = approvals.NewGate(store, approvals.Config{})
	require.NoError(t, store.Close())
	held := b.preflight(t, "tools s put")
	require.NotNil(t, held)
	require.Contains(t, held.Stderr, string(catalog.Unavailable))
	require.Nil(t, held.Tools)
}

// A server that loads on demand is loaded when a visible call names it, so that
// its gated calls are held too.
func TestPreflightLoadsTheServerThatAVisibleCallNames(t *testing.T) {
	b := newBench(t)
	loads, yes := 0, true
	load := func(context.Context) ([]*catalog.Tool, error) {
		loads++
		return []*catalog.Tool{{Server: "later", Name: "del", Hints: catalog.Hints{Destructive: &yes}}}, nil
	}
	b.options.Catalog = func(context.Context) *catalog.Catalog {
		return catalog.New([]catalog.Source{{Name: "later", Load: load}}, nil, catalog.Options{})
	}
	require.Nil(t, b.preflight(t, "x=1; tools later del a=$x"))
	require.Zero(t, loads)
	require.Len(t, b.preflight(t, "tools later del a=1").ApprovalRequests, 1)
	require.Equal(t, 1, loads)
}

// The requests say where the calls stand in the script.
func TestTheRequestsOfAHeldScriptNameTheirLines(t *testing.T) {
	b := newBench(t)
	held := b.preflight(t, "# \u00e4\r\nif true; then\r\n  tools s del a=1\r\nfi\neval '\ntools s del a=2'\nbash -c \"tools s del a=3\"\nx=$(\n tools s del a=4)")
	var got []string
	for _, r := range held.ApprovalRequests {
		got = append(got, fmt.Sprintf("%d:%s", r.Line, r.Source))
	}
	require.Equal(t, []string{"3:  tools s del a=1", "6:tools s del a=2'", `7:bash -c "tools s del a=3"`, "9: tools s del a=4)"}, got)
}
