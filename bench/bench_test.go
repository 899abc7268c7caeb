package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tools-in-shell/tis/analyze"
	"github.com/tools-in-shell/tis/approvals"
	"github.com/tools-in-shell/tis/catalog"
	"github.com/tools-in-shell/tis/intercept/jq"
	"github.com/tools-in-shell/tis/runner"
	"github.com/tools-in-shell/tis/runner/sandbox"
)

func TestMain(m *testing.M) {
	sandbox.Main()
	os.Exit(m.Run())
}

// review is the script of 31 lines and ten calls that most figures are about.
func review(tb testing.TB) string {
	raw, err := os.ReadFile("testdata/review.sh")
	require.NoError(tb, err)
	return string(raw)
}

// tenServers is a warm catalog of the ten recorded servers: every schema that
// the script needs is compiled.
func tenServers(tb testing.TB) *catalog.Catalog {
	files, err := filepath.Glob("../testdata/catalogs/*.json")
	require.NoError(tb, err)
	require.Len(tb, files, 10)
	servers, top, err := readCatalogs(files)
	require.NoError(tb, err)
	c := catalog.New(servers, top, catalog.Options{})
	look(tb, c, gate(), review(tb))
	return c
}

func gate() *approvals.Gate {
	return approvals.NewGate(approvals.NewMemory(), approvals.Config{})
}

func look(tb testing.TB, c *catalog.Catalog, g *approvals.Gate, text string) []approvals.Verdict {
	verdicts, err := preflight(tb.Context(), c, g, text)
	if err != nil {
		tb.Fatal(err)
	}
	return verdicts
}

// BenchmarkParseAlone is the parser of mvdan.cc/sh without anything of ours.
func BenchmarkParseAlone(b *testing.B) {
	text := review(b)
	b.ReportAllocs()
	for b.Loop() {
		if err := parseAlone(text); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkAnalyze parses and finds the calls, without a catalog.
func BenchmarkAnalyze(b *testing.B) {
	text := review(b)
	empty := catalog.New(nil, nil, catalog.Options{})
	b.ReportAllocs()
	for b.Loop() {
		script, err := analyze.Parse(text, "")
		if err != nil {
			b.Fatal(err)
		}
		script.Visible(empty)
	}
}

// BenchmarkPreflight parses, finds, resolves, checks and previews.
func BenchmarkPreflight(b *testing.B) {
	c, g, text := tenServers(b), gate(), review(b)
	require.Len(b, look(b, c, g, text), 9)
	b.ReportAllocs()
	for b.Loop() {
		look(b, c, g, text)
	}
}

// BenchmarkPreflightGrows is the same script many times over.
func BenchmarkPreflightGrows(b *testing.B) {
	c, g, text := tenServers(b), gate(), review(b)
	for _, times := range []int{1, 10, 100, 1000} {
		long := strings.Repeat(text, times)
		b.Run(fmt.Sprintf("times=%d", times), func(b *testing.B) {
			b.SetBytes(int64(len(long)))
			for b.Loop() {
				look(b, c, g, long)
			}
		})
	}
}

// listed is a tools/list answer of n tools, as 100 servers give it.
func listed(tb testing.TB, n int) [][]json.RawMessage {
	servers := make([][]json.RawMessage, 100)
	for i := range n {
		raw := fmt.Sprintf(`{"name":"tool_%d_%s","description":"Finds the %s number %d of a project and says who owns it.","inputSchema":{"type":"object","properties":{"project":{"type":"string","description":"The project's name"},"limit":{"type":"integer","minimum":1},"state":{"enum":["open","closed"]}},"required":["project"],"additionalProperties":false},"annotations":{"readOnlyHint":true}}`,
			i, words[i%len(words)], words[i/7%len(words)], i)
		servers[i%100] = append(servers[i%100], json.RawMessage(raw))
	}
	return servers
}

var words = []string{"branch", "issue", "release", "deployment", "comment", "pipeline", "secret", "milestone", "review", "package", "webhook"}

func tools(tb testing.TB, n int) []catalog.Source {
	var out []catalog.Source
	for i, list := range listed(tb, n) {
		src := catalog.Source{Name: fmt.Sprintf("server-%d", i), Loaded: true}
		for _, raw := range list {
			t, err := catalog.ToolFromMCP(src.Name, raw)
			if err != nil {
				tb.Fatal(err)
			}
			src.Tools = append(src.Tools, t)
		}
		out = append(out, src)
	}
	return out
}

// BenchmarkCatalogOf10000 is the first use: tools/list answers that have been
// received become a catalog, and one call is resolved in it.
func BenchmarkCatalogOf10000(b *testing.B) {
	lists := listed(b, 10_000)
	b.ReportAllocs()
	for b.Loop() {
		var servers []catalog.Source
		for i, list := range lists {
			src := catalog.Source{Name: fmt.Sprintf("server-%d", i), Loaded: true}
			for _, raw := range list {
				t, err := catalog.ToolFromMCP(src.Name, raw)
				if err != nil {
					b.Fatal(err)
				}
				src.Tools = append(src.Tools, t)
			}
			servers = append(servers, src)
		}
		resolve(b, catalog.New(servers, nil, catalog.Options{}), "server-7", "tool-7-milestone", `project=x`)
	}
}

// BenchmarkCatalogRebuild makes a catalog of tools that another one has had.
func BenchmarkCatalogRebuild(b *testing.B) {
	servers := tools(b, 10_000)
	resolve(b, catalog.New(servers, nil, catalog.Options{}), "server-7", "tool-7-milestone", `project=x`)
	b.ReportAllocs()
	for b.Loop() {
		catalog.New(servers, nil, catalog.Options{})
	}
}

func resolve(tb testing.TB, c *catalog.Catalog, argv ...string) catalog.Request {
	r, err := c.Resolve(tb.Context(), argv, nil, nil)
	if err != nil {
		tb.Fatal(err)
	}
	return r
}

func BenchmarkResolve(b *testing.B) {
	c := catalog.New(tools(b, 10_000), nil, catalog.Options{})
	b.ReportAllocs()
	for b.Loop() {
		resolve(b, c, "server-7", "tool-7-milestone", `{"project":"x","limit":5}`)
	}
}

func BenchmarkSchemaCheck(b *testing.B) {
	c := catalog.New(tools(b, 100), nil, catalog.Options{})
	call := resolve(b, c, "server-7", "tool-7-milestone", `{"project":"x","limit":5}`).Call
	b.ReportAllocs()
	for b.Loop() {
		if err := call.Tool.Check(call.Input); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkSearch(b *testing.B) {
	c := catalog.New(tools(b, 10_000), nil, catalog.Options{})
	b.ReportAllocs()
	for b.Loop() {
		if r := resolve(b, c, "search", "deployment", "owner"); !strings.Contains(r.Text, "deployment") {
			b.Fatal(r.Text)
		}
	}
}

func BenchmarkServerHelp(b *testing.B) {
	c := catalog.New(tools(b, 10_000), nil, catalog.Options{})
	b.ReportAllocs()
	for b.Loop() {
		resolve(b, c, "server-7", "--help")
	}
}

// nothing is a tool that does nothing, so that what is left is ours.
func nothing() *catalog.Catalog {
	t := &catalog.Tool{Name: "nothing", Executor: catalog.ExecutorFunc(func(context.Context, json.RawMessage) (catalog.Output, error) {
		return catalog.TextOutput("ok"), nil
	})}
	t.Hints.ReadOnly = new(bool)
	*t.Hints.ReadOnly = true
	return catalog.New(nil, []*catalog.Tool{t}, catalog.Options{})
}

func newRunner(tb testing.TB, o runner.Options) *runner.Runner {
	c := nothing()
	o.Catalog, o.Dir, o.MaxCalls = func(context.Context) *catalog.Catalog { return c }, tb.TempDir(), 1_000_000
	r, err := runner.New(o)
	if err != nil {
		tb.Fatal(err)
	}
	return r
}

func play(tb testing.TB, r *runner.Runner, text string) {
	result, err := r.Run(tb.Context(), runner.Script{Text: text})
	if err != nil || result.ExitCode != 0 {
		tb.Fatal(err, result.Stderr)
	}
}

// BenchmarkRunTrue is a whole run of a script that does nothing.
func BenchmarkRunTrue(b *testing.B) {
	r := newRunner(b, runner.Options{})
	b.ReportAllocs()
	for b.Loop() {
		play(b, r, "true")
	}
}

// calls is a script of n calls.
func calls(n int) string {
	return fmt.Sprintf("i=0; while ((i++ < %d)); do tools nothing; done", n)
}

// BenchmarkInterceptedCall is what a call costs beside its tool, which does
// nothing, in a loop of one script.
func BenchmarkInterceptedCall(b *testing.B) {
	r := newRunner(b, runner.Options{Gate: gate()})
	b.ReportAllocs()
	b.ResetTimer()
	play(b, r, calls(b.N))
}

// BenchmarkJq is one pipeline of echo and jq.
func BenchmarkJq(b *testing.B) {
	r := newRunner(b, runner.Options{})
	b.ResetTimer()
	play(b, r, fmt.Sprintf(`i=0; while ((i++ < %d)); do echo '{"a":1}' | jq .a; done`, b.N))
}

// BenchmarkJqStream filters 50 MB of JSON values.
func BenchmarkJqStream(b *testing.B) {
	line := `{"number":7,"title":"a title of some length","labels":["bug","api"],"author":{"name":"ann"}}` + "\n"
	text := strings.Repeat(line, 50<<20/len(line))
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		if exit := jq.Main(b.Context(), []string{"-c", ".author.name"}, strings.NewReader(text), io.Discard, os.Stderr, nil, nil); exit != 0 {
			b.Fatal(exit)
		}
	}
}
