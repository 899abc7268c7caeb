package runner_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/tools-in-shell/tis/approvals"
	"github.com/tools-in-shell/tis/catalog"
	"github.com/tools-in-shell/tis/report"
	"github.com/tools-in-shell/tis/runner"
	"github.com/tools-in-shell/tis/runner/sandbox"
)

func TestMain(m *testing.M) {
	sandbox.Main()
	os.Exit(m.Run())
}

// bench is a runner with a few tools that note what arrives.
type bench struct {
	mu      sync.Mutex
	arrived []string
	dir     string
	options runner.Options
}

func newBench(t *testing.T) *bench {
	t.Helper()
	b := &bench{dir: t.TempDir()}
	yes := true
	add := func(name string, hints catalog.Hints, f func(context.Context, json.RawMessage) (catalog.Output, error)) *catalog.Tool {
		return &catalog.Tool{Server: "s", Name: name, Hints: hints, Executor: catalog.ExecutorFunc(func(ctx context.Context, in json.RawMessage) (catalog.Output, error) {
			b.mu.Lock()
			b.arrived = append(b.arrived, name+" "+string(in))
			b.mu.Unlock()
			return f(ctx, in)
		})}
	}
	echo := func(_ context.Context, in json.RawMessage) (catalog.Output, error) {
		return catalog.TextOutput(string(in)), nil
	}
	tools := []*catalog.Tool{
		add("get", catalog.Hints{ReadOnly: &yes}, echo),
		add("put", catalog.Hints{}, echo),
		add("del", catalog.Hints{Destructive: &yes}, echo),
		add("slow", catalog.Hints{}, func(ctx context.Context, _ json.RawMessage) (catalog.Output, error) {
			select {
			case <-ctx.Done():
				return catalog.Output{}, ctx.Err()
			case <-time.After(300 * time.Millisecond):
				return catalog.TextOutput("slept"), nil
			}
		}),
		add("bad", catalog.Hints{}, func(context.Context, json.RawMessage) (catalog.Output, error) { panic("oops") }),
	}
	b.options = runner.Options{Dir: b.dir, Utilities: true, Timeout: 20 * time.Second, Gate: approvals.NewGate(approvals.NewMemory(), approvals.Config{}),
		Catalog: func(context.Context) *catalog.Catalog {
			return catalog.New([]catalog.Source{{Name: "s", Loaded: true, Tools: tools}}, nil, catalog.Options{})
		}}
	return b
}

func (b *bench) run(t *testing.T, script string) report.Result {
	t.Helper()
	r, err := runner.New(b.options)
	require.NoError(t, err)
	b.arrived = nil
	result, err := r.Run(context.Background(), runner.Script{Text: script, Session: "s"})
	require.NoError(t, err)
	return result
}

// A call reads stdin only when it is attached to that very command.
func TestStdinBelongsToTheCommandItIsAttachedTo(t *testing.T) {
	b := newBench(t)
	require.NoError(t, os.WriteFile(filepath.Join(b.dir, "in.json"), []byte(`{"f":1}`), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(b.dir, "lib.sh"), []byte("lib() { tools s get; echo '{\"l\":1}' | tools s get; }\ntools s get\n"), 0o600))
	for _, c := range []struct {
		script string
		calls  []string
	}{
		{`echo '{"a":1}' | tools s get`, []string{`{"a":1}`}},
		{`echo '{"a":1}' | { tools s get; }`, []string{`{}`}},
		{`echo '{"a":1}' | ( tools s get )`, []string{`{}`}},
		{`echo '{"a":1}' | if true; then tools s get; fi`, []string{`{}`}},
		{`echo '{"a":1}' | { tools s get -; }`, []string{`{"a":1}`}},
		{`f() { tools s get; }; echo '{"a":1}' | f`, []string{`{}`}},
		{`f() { tools s get -; }; echo '{"a":1}' | f`, []string{`{"a":1}`}},
		{`printf '1\n2\n' | while read n; do tools s get n=$n; done`, []string{`{"n":1}`, `{"n":2}`}},
		{`printf '1\n2\n' | while read n; do echo "{\"n\":$n}" | tools s get; done`, []string{`{"n":1}`, `{"n":2}`}},
		{`tools s get < in.json`, []string{`{"f":1}`}},
		{`tools s get 0< in.json`, []string{`{"f":1}`}},
		{`{ tools s get; } < in.json`, []string{`{}`}},
		{`tools s get <<< '{"h":1}'`, []string{`{"h":1}`}},
		{"tools s get <<E\n{\"h\":2}\nE", []string{`{"h":2}`}},
		{"f() { tools s get <<E\n{\"h\":3}\nE\n}; f; f", []string{`{"h":3}`, `{"h":3}`}},
		{`t=tools; echo '{"a":1}' | $t s get`, []string{`{"a":1}`}},
		{`t=tools; echo '{"a":1}' | { $t s get; cat; }`, []string{`{}`}},
		{`echo '{"a":1}' | command tools s get`, []string{`{"a":1}`}},
		{`echo '{"a":1}' | env A=b tools s get`, []string{`{"a":1}`}},
		{`echo '{"a":1}' | timeout 5 tools s get`, []string{`{"a":1}`}},
		{`echo '{"a":1}' | { env tools s get; }`, []string{`{}`}},
		{`eval "echo '{\"a\":1}' | tools s get"`, []string{`{"a":1}`}},
		{`echo '{"a":1}' | eval 'tools s get'`, []string{`{}`}},
		{`eval 'f() { echo "{\"a\":1}" | tools s get; tools s get; }'; echo x | f`, []string{`{"a":1}`, `{}`}},
		{`trap 'echo "{\"t\":1}" | tools s get' EXIT; true`, []string{`{"t":1}`}},
		{`echo x | source ./lib.sh; echo`, []string{`{}`}},
		{`. ./lib.sh; echo y | lib`, []string{`{}`, `{}`, `{"l":1}`}},
		{`bash -c 'echo "{\"b\":1}" | tools s get; tools s get' < in.json`, []string{`{"b":1}`, `{}`}},
		{`echo '{"a":1}' | tools s get | tools s get`, []string{`{"a":1}`, `{"a":1}`}},
		{`cat in.json | tools s get x=1 > /dev/null; tools s get`, []string{`{"f":1,"x":1}`, `{}`}},
		{`printf 'a b' | xargs -n1 -I{} tools s get v={}`, []string{`{"v":"a b"}`}},
		{`printf 'a b' | xargs -n1 echo > words; tools s get "v=$(tr '\n' , < words)"`, []string{`{"v":"a,b,"}`}},
		{`find . -name in.json -exec tools s get f={} \;`, []string{`{"f":"./in.json"}`}},
	} {
		t.Run(c.script, func(t *testing.T) {
			r := b.run(t, c.script)
			var want []string
			for _, in := range c.calls {
				want = append(want, "get "+in)
			}
			require.Equal(t, want, b.arrived, "%+v", r)
		})
	}
}

func TestTheReportTellsWhatWasDone(t *testing.T) {
	b := newBench(t)
	r := b.run(t, `tools s put a=1 >/dev/null; tools s get; tools s bad 2>/dev/null; x=1; tools s del n=$x; tools s put never=1`)
	require.Equal(t, report.NeedsApproval, r.Tools.Stopped.Reason)
	require.Len(t, r.Tools.Done, 2)
	require.Equal(t, `"{\"a\":1}"`, string(r.Tools.Done[0].Result))
	require.False(t, r.Tools.Done[1].OK)
	require.Equal(t, 1, r.Tools.ReadOnlyCalls)
	require.Len(t, r.ApprovalRequests, 1)
	r = b.run(t, `tools s slow & x=1; tools s del n=$x`)
	require.Len(t, r.Tools.Done, len(b.arrived), "%v %+v", b.arrived, r)
}

func TestLimitsEndTheRunWithAReport(t *testing.T) {
	for name, c := range map[string]struct {
		script string
		set    func(*runner.Options)
		exit   int
		reason report.Reason
		says   string
	}{
		"time":      {`tools s put; while :; do :; done`, func(o *runner.Options) { o.Timeout = 300 * time.Millisecond }, 124, report.TimeLimit, "time limit"},
		"sleep":     {`sleep 30`, func(o *runner.Options) { o.Timeout = 300 * time.Millisecond }, 124, report.TimeLimit, "time limit"},
		"calls":     {`for i in 1 2 3; do tools s put i=$i; done`, func(o *runner.Options) { o.MaxCalls = 2 }, 1, report.CallLimit, "call_limit"},
		"commands":  {`while :; do :; done`, func(o *runner.Options) { o.MaxCommands = 1000 }, 1, report.ResourceLimit, "commands"},
		"recursion": {`f() { f; }; f`, func(*runner.Options) {}, 1, report.ResourceLimit, "nested"},
		"shells":    {`echo 'bash x.sh' > x.sh; bash x.sh`, func(*runner.Options) {}, 1, report.ResourceLimit, "nested shells"},
		"memory":    {`s=xxxxxxxxxxxxxxxx; while :; do s=$s$s; done`, func(o *runner.Options) { o.MaxMemory = 256 << 20 }, 1, report.ResourceLimit, "memory"},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			c.set(&b.options)
			r := b.run(t, c.script)
			require.Equal(t, c.exit, r.ExitCode, "%+v", r)
			require.Equal(t, c.reason, r.Tools.Stopped.Reason)
			require.Contains(t, r.Stderr, c.says)
		})
	}
}

func TestTheShellReachesOnlyItsFolders(t *testing.T) {
	b := newBench(t)
	secret := filepath.Join(t.TempDir(), "secret")
	require.NoError(t, os.WriteFile(secret, []byte("hush"), 0o644))
	require.NoError(t, os.Symlink(secret, filepath.Join(b.dir, "link")))
	for _, script := range []string{
		"cat SECRET", "read x < SECRET; echo $x", `echo "$(< SECRET)"`, "cat link", "read x < link; echo $x", "source SECRET; echo", "bash SECRET",
		"[ -e SECRET ] && echo hush", "echo SECRET*; ls $(dirname SECRET)", "jq -R . SECRET", "jq -n --rawfile x SECRET '$x'", "cd $(dirname SECRET) && cat secret", "ln SECRET hard; cat hard", "cp SECRET x; cat x",
		"mapfile a < SECRET; echo ${a[@]}", "cat ../*/secret", "echo x > SECRET; cat SECRET", "find $(dirname SECRET) -type f -exec cat {} +", "tar cf - SECRET | tar xOf -", "cat /proc/self/environ", "env",
	} {
		t.Run(script, func(t *testing.T) {
			r := b.run(t, strings.ReplaceAll(script, "SECRET", secret))
			require.NotContains(t, r.Stdout, "hush", "%+v", r)
			got, err := os.ReadFile(secret)
			require.NoError(t, err)
			require.Equal(t, "hush", string(got))
		})
	}
}

func TestWhatCannotBeDoneRightIsRefused(t *testing.T) {
	b := newBench(t)
	for _, line := range []string{`echo ${PIPESTATUS[0]}`, `echo $SECONDS`, `a=(); echo "${a[@]:-none}"`, `[[ axb =~ "a.b" ]]`, `coproc cat`, `exec 3>f`, `printf -v x 1`, `read -u 3 x`, `read() { :; }`, `declare -A m; echo ${#m[@]}`, `echo ${x/#a/b}`, `a[0]+=x`, `declare -A m; echo "${m[a-b]}" | cat`, `( trap 'echo x' EXIT )`, `declare -i n`} {
		t.Run(line, func(t *testing.T) {
			r := b.run(t, "tools s put\n"+line)
			require.Equal(t, 2, r.ExitCode, "%+v", r)
			require.Contains(t, r.Stderr, "script:2:")
			require.Contains(t, r.Stderr, "TIS002")
			require.Empty(t, b.arrived)
		})
	}
}

func TestBadWorkingDirectories(t *testing.T) {
	file := filepath.Join(t.TempDir(), "f")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	for _, dir := range []string{"/no/such/folder", file} {
		_, err := runner.New(runner.Options{Dir: dir, Catalog: func(context.Context) *catalog.Catalog { return nil }})
		require.ErrorContains(t, err, "working directory")
	}
}

func TestManyRunsAtOnceKeepApart(t *testing.T) {
	b := newBench(t)
	r, err := runner.New(b.options)
	require.NoError(t, err)
	var wg sync.WaitGroup
	for n := range 20 {
		wg.Go(func() {
			result, err := r.Run(context.Background(), runner.Script{Text: fmt.Sprintf(`x=%d; for i in 1 2 3; do tools s get "n=$x" | jq .n; done`, n), Session: "s"})
			if err != nil || result.Stdout != strings.Repeat(fmt.Sprintf("%d\n", n), 3) {
				t.Errorf("%d: %v %+v", n, err, result)
			}
		})
	}
	wg.Wait()
}

// A process substitution waits for a command that opens its other end. When the
// script ends or is stopped before that, nothing of it stays.
func TestProcessSubstitutionsEndWithTheRun(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir()) // that of the machine has other runs' pipes
	b := newBench(t)
	for _, script := range []string{`echo <(tools s get)`, `x=1; tools s del a=$x > >(tools s put) 2> >(cat) | cat <(echo) <(tools s put)`, `echo <(tools s get) > /dev/null; exit 1`, `sleep 30 < /dev/null <(:)`} {
		before := goleak.IgnoreCurrent()
		b.options.Timeout = 500 * time.Millisecond
		b.run(t, script)
		goleak.VerifyNone(t, before)
		left, err := filepath.Glob(filepath.Join(os.TempDir(), "tis-*", "sh-interp-*"))
		require.NoError(t, err)
		require.Empty(t, left, script)
	}
}

// A text that becomes known during the run is refused before anything of it
// runs, and the shell that was to run it ends.
func TestRefusedTextsEndTheirShell(t *testing.T) {
	b := newBench(t)
	for _, script := range []string{
		"c='tools s put; echo ${PIPESTATUS[0]}'; eval \"$c\"; tools s put",
		"c='tools s put; printf -v x a'; trap \"$c\" EXIT; tools s put",
	} {
		r := b.run(t, script)
		require.Equal(t, 2, r.ExitCode, "%+v", r)
		require.Contains(t, r.Stderr, "TIS002")
		require.Contains(t, r.Stderr, "the text was not run")
		require.Empty(t, b.arrived, script)
	}
	r := b.run(t, "c='echo ${PIPESTATUS[0]}'; x=$(eval \"$c\"; echo never); echo \"[$x] $?\"")
	require.Equal(t, "[] 2\n", r.Stdout, r.Stderr)
}
