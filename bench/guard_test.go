package main

import (
	"encoding/json"
	"flag"
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tools-in-shell/tis/analyze/lint"
	"github.com/tools-in-shell/tis/approvals"
	"github.com/tools-in-shell/tis/catalog"
	"github.com/tools-in-shell/tis/runner"
)

var raise = flag.Bool("raise", false, "write what was counted into guard.json; the commit has to say why a count went up")

// TestGuard counts allocations, which no busy machine changes, and compares
// them with those in guard.json. A tenth more fails.
func TestGuard(t *testing.T) {
	raw, err := os.ReadFile("guard.json")
	require.NoError(t, err)
	var kept map[string]float64
	require.NoError(t, json.Unmarshal(raw, &kept))
	counted := map[string]float64{}
	count := func(name string, do func()) {
		counted[name] = testing.AllocsPerRun(100, do)
	}
	c, g, text := tenServers(t), gate(), review(t)
	count("pre-flight of review.sh", func() { look(t, c, g, text) })
	o := lint.Options{Catalog: c, Preview: func(calls []catalog.Call) ([]approvals.Verdict, error) { return g.Preview(t.Context(), "bench", calls) }}
	count("lint of review.sh", func() {
		if _, err := lint.Check(text, o); err != nil {
			t.Fatal(err)
		}
	})
	r := newRunner(t, runner.Options{Gate: gate()})
	count("run of true", func() { play(t, r, "true") })
	count("run of 100 calls", func() { play(t, r, calls(100)) })
	servers := tools(t, 1000)
	c = catalog.New(servers, nil, catalog.Options{})
	count("resolve", func() { resolve(t, c, "server-7", "tool-7-milestone", `{"project":"x","limit":5}`) })
	count("search of 1,000 tools", func() { resolve(t, c, "search", "deployment", "owner") })
	count("catalog of 1,000 tools again", func() { catalog.New(servers, nil, catalog.Options{}) })
	if *raise {
		raw, err := json.MarshalIndent(counted, "", "  ")
		require.NoError(t, err)
		require.NoError(t, os.WriteFile("guard.json", append(raw, '\n'), 0o644))
		return
	}
	for name, n := range counted {
		require.Contains(t, kept, name)
		assert.LessOrEqual(t, n, kept[name]*slack, "%s: %v allocations, %v are kept in guard.json", name, n, kept[name])
		assert.GreaterOrEqual(t, n, kept[name]*0.5, "%s got much better: keep the new count with go test ./bench -run TestGuard -raise", name)
	}
	assert.Len(t, counted, len(kept))
}
