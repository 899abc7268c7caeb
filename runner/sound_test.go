package runner_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tools-in-shell/tis/analyze"
	"github.com/tools-in-shell/tis/approvals"
	"github.com/tools-in-shell/tis/catalog"
	"github.com/tools-in-shell/tis/intercept"
	"github.com/tools-in-shell/tis/runner"
)

const soundScripts = 20_000

// The look before the start and the run see the same calls, over generated
// scripts: what is visible runs exactly as it was seen, and a call that was not
// seen is accounted for by a part of the plan that says so.
func TestWhatIsSeenBeforeTheStartIsWhatRuns(t *testing.T) {
	seed := rand.Uint64()
	if given := os.Getenv("TIS_TEST_SEED"); given != "" {
		_, err := fmt.Sscan(given, &seed)
		require.NoError(t, err)
	}
	defer func() {
		if t.Failed() {
			t.Logf("to see it again: TIS_TEST_SEED=%d", seed)
		}
	}()
	var seen, explained, ran, next atomic.Int64
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			w := newWatch(t, soundTools(t), false)
			for {
				n := next.Add(1)
				if n > soundScripts || t.Failed() {
					return
				}
				script := newWriter(rand.New(rand.NewPCG(seed, uint64(n)))).script()
				a, b, ok := w.check(t, script)
				seen.Add(int64(a))
				explained.Add(int64(b))
				if ok {
					ran.Add(1)
				}
			}
		})
	}
	all.Wait()
	t.Logf("%d scripts, %d started, %d calls as seen, %d explained", soundScripts, ran.Load(), seen.Load(), explained.Load())
	require.Greater(t, ran.Load(), int64(soundScripts/2))
	require.Greater(t, seen.Load(), int64(soundScripts/8))
	require.Greater(t, explained.Load(), int64(soundScripts/20))
}

// The same over the scripts of the end-to-end cases.
func TestWhatIsSeenOfTheCasesIsWhatRuns(t *testing.T) {
	files, err := filepath.Glob("../testdata/cases/*.case.json")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	raw, err := os.ReadFile("../testdata/cases/servers.json")
	require.NoError(t, err)
	common := map[string]json.RawMessage{}
	require.NoError(t, json.Unmarshal(raw, &common))
	seen := 0
	for _, file := range files {
		raw, err := os.ReadFile(file)
		require.NoError(t, err)
		var c struct {
			Servers map[string]json.RawMessage
			Steps   []struct{ Script string }
		}
		require.NoError(t, json.Unmarshal(raw, &c), file)
		var tools []*catalog.Tool
		for _, servers := range []map[string]json.RawMessage{common, c.Servers} {
			for name, raw := range servers {
				var s struct{ Tools []json.RawMessage }
				require.NoError(t, json.Unmarshal(raw, &s), file)
				for _, raw := range s.Tools {
					if tool, err := catalog.ToolFromMCP(name, raw); err == nil {
						tools = append(tools, tool)
					}
				}
			}
		}
		w := newWatch(t, tools, true)
		for _, step := range c.Steps {
			a, b, _ := w.check(t, step.Script)
			seen += a + b
		}
	}
	require.Greater(t, seen, 20)
}

func soundTools(t *testing.T) (tools []*catalog.Tool) {
	for _, raw := range []string{
		`{"name":"l"}`, `{"name":"m","inputSchema":{"type":"object","properties":{"id":{"type":"string"},"b":{"type":"string"},"n":{"type":"integer"}}}}`,
		`{"name":"n","inputSchema":{"type":"object","properties":{"id":{}},"additionalProperties":false}}`,
	} {
		tool, err := catalog.ToolFromMCP("g", json.RawMessage(raw))
		require.NoError(t, err)
		tools = append(tools, tool)
	}
	top, err := catalog.ToolFromMCP("", json.RawMessage(`{"name":"w"}`))
	require.NoError(t, err)
	return append(tools, top)
}

// watch runs scripts and keeps what the interceptor saw.
type watch struct {
	cat *catalog.Catalog
	r   *runner.Runner
	dir string

	mu   sync.Mutex
	seen []catalog.Call
}

func newWatch(t *testing.T, tools []*catalog.Tool, utilities bool) *watch {
	w := &watch{dir: t.TempDir()}
	servers := map[string][]*catalog.Tool{}
	for _, tool := range tools {
		tool.Executor = catalog.ExecutorFunc(func(_ context.Context, in json.RawMessage) (catalog.Output, error) {
			return catalog.TextOutput(string(in)), nil
		})
		servers[tool.Server] = append(servers[tool.Server], tool)
	}
	var sources []catalog.Source
	for name, tools := range servers {
		if name != "" {
			sources = append(sources, catalog.Source{Name: name, Loaded: true, Tools: tools})
		}
	}
	w.cat = catalog.New(sources, servers[""], catalog.Options{})
	var err error
	w.r, err = runner.New(runner.Options{
		Dir: w.dir, Utilities: utilities, Timeout: 5 * time.Second, MaxCommands: 300,
		Catalog: func(context.Context) *catalog.Catalog { return w.cat },
		Before: []intercept.Before{func(_ context.Context, c catalog.Call) (catalog.Call, error) {
			w.mu.Lock()
			defer w.mu.Unlock()
			w.seen = append(w.seen, c)
			return c, nil
		}},
	})
	if err != nil {
		t.Error(err)
		panic(err)
	}
	return w
}

// check looks at a script, runs it and compares. It counts the calls that ran
// as they were seen, and those that the plan accounts for.
func (w *watch) check(t *testing.T, script string) (seen, explained int, started bool) {
	parsed, err := analyze.Parse(script, "script")
	if err != nil {
		return 0, 0, false
	}
	visible := map[string]bool{} // canonical calls
	wrong := map[string]bool{}   // the ids of literal calls that will not reach a tool
	for _, v := range parsed.Visible(w.cat) {
		if v.Call != nil {
			visible[spelt(*v.Call)] = true
			continue
		}
		for _, arg := range v.Args {
			if id, ok := strings.CutPrefix(arg, "id="); ok {
				wrong[id] = true
			}
		}
	}
	// The ids of visible calls: the call with such an id must be that very one.
	ids := map[string]bool{}
	for _, v := range parsed.Visible(w.cat) {
		if v.Call != nil {
			ids[idOf(*v.Call)] = true
		}
	}
	plan, err := parsed.Plan(w.cat, func(calls []catalog.Call) ([]approvals.Verdict, error) {
		return make([]approvals.Verdict, len(calls)), nil
	})
	if err != nil {
		t.Errorf("%v\n%s", err, script)
		return 0, 0, false
	}
	unknown := map[string]bool{}
	for _, c := range plan.Calls {
		if c.Input == nil {
			unknown[c.Tool] = true
		}
	}

	w.mu.Lock()
	w.seen = nil
	w.mu.Unlock()
	result, err := w.r.Run(context.Background(), runner.Script{Text: script})
	if err != nil {
		t.Errorf("%v\n%s", err, script)
		return 0, 0, false
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, c := range w.seen {
		id := idOf(c)
		switch {
		case visible[spelt(c)]:
			seen++
		case id != "" && ids[id]:
			t.Errorf("the visible call %s ran as %s\n%s", id, spelt(c), script)
		case id != "" && wrong[id]:
			t.Errorf("the call %s was said to fail and ran as %s\n%s", id, spelt(c), script)
		case !plan.Complete || unknown[c.Tool.Command()]:
			explained++
		default:
			text, _ := json.Marshal(plan)
			t.Errorf("%s ran and the plan %s does not account for it\n%s", spelt(c), text, script)
		}
	}
	return seen, explained, result.ExitCode != 2
}

// spelt is a call in one spelling.
func spelt(c catalog.Call) string {
	input, err := catalog.Canonical(c.Input)
	if err != nil {
		return err.Error()
	}
	return c.Tool.Command() + " " + string(input)
}

func idOf(c catalog.Call) string {
	var in struct{ ID json.RawMessage }
	if json.Unmarshal(c.Input, &in) != nil {
		return ""
	}
	return string(bytes.Trim(in.ID, `"`))
}
