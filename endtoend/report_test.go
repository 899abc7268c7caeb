package endtoend_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tools-in-shell/tis/approvals"
	"github.com/tools-in-shell/tis/catalog"
	"github.com/tools-in-shell/tis/mcpsource"
	"github.com/tools-in-shell/tis/report"
	"github.com/tools-in-shell/tis/runner"
)

const (
	reportRuns    = 1000
	reportWorkers = 8
	// A pool's servers are used for a few runs and die at most twice each, since
	// one that dies more often is started again later and later.
	poolServers = 8
	maxDeaths   = 2
	maxResult   = 2000
)

// Over a real server that fails, is late and crashes, in scripts that are
// stopped in every way, the report tells what was done: every changing call
// that the server received is in it exactly once, and nothing else is, unless
// its outcome is said to be unknown.
func TestTheReportIsTrue(t *testing.T) {
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
	tally := &tally{n: map[string]int{}}
	var all sync.WaitGroup
	for worker := range reportWorkers {
		all.Go(func() {
			random := rand.New(rand.NewPCG(seed, uint64(worker)))
			for left := reportRuns / reportWorkers; left > 0; {
				left -= batch(t, random, left, tally)
			}
		})
	}
	all.Wait()
	t.Log(tally.n)
	for _, what := range []string{"runs", "done ok", "done failed", "outcome unknown", "needs_approval", "call_limit", "time_limit", "cancelled", "resource_limit", "failed", "died"} {
		require.Positive(t, tally.n[what], "no run shows: %s", what)
	}
	require.GreaterOrEqual(t, tally.n["runs"], reportRuns)
}

// tally counts what the runs showed.
type tally struct {
	mu sync.Mutex
	n  map[string]int
}

func (c *tally) add(what string, n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.n[what] += n
}

// batch makes runs, at most limit, over servers that it starts and ends, and
// holds their reports against the servers' logs. It returns how many it made.
func batch(t *testing.T, random *rand.Rand, limit int, tally *tally) (made int) {
	dir, err := os.MkdirTemp(t.TempDir(), "")
	check(t, err)
	var servers []mcpsource.ServerConfig
	for n := range poolServers {
		name := fmt.Sprintf("s%d", n)
		servers = append(servers, mcpsource.ServerConfig{Name: name, Command: serverProgram, Args: []string{filepath.Join(dir, name+".log")}, OnDemand: true, StartTimeout: 20 * time.Second})
	}
	pool := mcpsource.NewPool(servers, mcpsource.Options{})
	pool.Start(context.Background())
	work := filepath.Join(dir, "work")
	check(t, os.Mkdir(work, 0o700))
	deaths := make([]int, poolServers)
	var runs []generated
	for made < limit {
		g := generate(random, made)
		for g.server = 0; g.server < poolServers && deaths[g.server]+g.deaths > maxDeaths; {
			g.server++
		}
		if g.server == poolServers {
			break
		}
		if deaths[g.server] += g.deaths; g.deaths > 0 {
			tally.add("died", g.deaths)
		}
		if strings.Contains(g.script, "doom") {
			deaths[g.server] = maxDeaths
		}
		g.script = strings.ReplaceAll(g.script, "SERVER", fmt.Sprintf("s%d", g.server))
		o := runner.Options{
			Dir: work, Utilities: true, Timeout: g.timeout, CallTimeout: 120 * time.Millisecond, MaxCalls: g.calls, MaxCommands: g.commands, MaxResult: maxResult,
			Gate:    approvals.NewGate(approvals.NewMemory(), approvals.Config{}),
			Catalog: func(context.Context) *catalog.Catalog { return catalog.New(pool.Sources(), nil, catalog.Options{}) },
		}
		r, err := runner.New(o)
		check(t, err)
		ctx, cancel := context.WithTimeout(context.Background(), g.cancel)
		g.result, err = r.Run(ctx, runner.Script{Text: g.script, Session: "s"})
		cancel()
		check(t, err)
		runs = append(runs, g)
		made++
	}
	check(t, pool.Close())
	// Only now can no call arrive any more.
	arrived := map[string]arrival{}
	for n := range poolServers {
		for _, a := range readLog(t, filepath.Join(dir, fmt.Sprintf("s%d.log", n))) {
			key := a.key()
			if _, twice := arrived[key]; twice {
				t.Errorf("the call %s arrived twice", key)
			}
			arrived[key] = a
		}
	}
	for _, g := range runs {
		g.check(t, arrived, tally)
	}
	for key := range arrived {
		t.Errorf("the call %s arrived and is in no report", key)
	}
	tally.add("runs", made)
	return made
}

// check ends a goroutine that is not the test's own.
func check(t *testing.T, err error) {
	if err != nil {
		t.Errorf("%v", err)
		panic(err)
	}
}

func (a arrival) key() string {
	var in struct{ Call string }
	if json.Unmarshal(a.Input, &in) != nil {
		return "?"
	}
	return in.Call
}

// generated is one run: a script and its limits, and what came of it.
type generated struct {
	script          string
	server, deaths  int
	timeout, cancel time.Duration
	calls           int
	commands        int64
	result          report.Result
}

// acts are what the server is told to do, with how often.
var acts = []struct {
	do    string
	often int
	dies  bool
}{{"", 30, false}, {"do=fail", 8, false}, {"do=rpcerror", 4, false}, {"do=slow ms=10", 8, false}, {"do=slow ms=100", 4, false}, {"do=hang", 3, false}, {"do=big n=500", 3, false}, {"do=big n=5000", 3, false},
	{"do=garbage", 2, false}, {"do=exit", 3, true}, {"do=doom", 1, true}, {"do=exit_after", 2, true}, {"do=hang_up", 1, true}}

// places are where a call stands. None makes its call twice.
var places = []string{"%", "% || true", "% &", "% & wait", "( % )", "{ %; } 2> /dev/null", "x=$(%)", "% | while read -r l; do :; done", "echo '{}' | % -", "if %; then :; fi", "! %", "timeout 0.05 %", "timeout 5 %", "f() { %; }; f", "for i in 1; do %; done",
	"eval '%'", "bash -c '%'", "echo '%' | bash", "trap '%' EXIT", "read -r l < <(%)", "echo x | xargs -I{} %", "% & % &", "(% &)", "while %; do break; done", "% | cat", "coffee=1 %", "% > out", "% | %", "% | true"}

// generate makes the n-th run of a batch.
func generate(random *rand.Rand, n int) generated {
	g := generated{timeout: 20 * time.Second, cancel: time.Minute, calls: 50, commands: 10_000}
	call := 0
	one := func() string {
		pick := random.IntN(72)
		i := 0
		for ; pick >= acts[i].often; i++ {
			pick -= acts[i].often
		}
		act := acts[i]
		if act.dies && g.deaths == maxDeaths {
			act = acts[0]
		}
		if act.dies {
			g.deaths++
		}
		tool := "put"
		if random.IntN(5) == 0 {
			tool = "get"
		}
		call++
		return strings.TrimSpace(fmt.Sprintf("tools SERVER %s call=r%d-%d %s", tool, n, call, act.do))
	}
	var lines []string
	for range 1 + random.IntN(8) {
		place := places[random.IntN(len(places))]
		for strings.Contains(place, "%") {
			place = strings.Replace(place, "%", one(), 1)
		}
		lines = append(lines, place)
	}
	end := "wait; exit 3"
	switch random.IntN(8) {
	case 0, 1:
		lines = append(lines, "x=1; tools SERVER del x=$x", one())
	case 2:
		g.timeout = time.Duration(20+random.IntN(300)) * time.Millisecond
	case 3:
		g.cancel = time.Duration(5+random.IntN(300)) * time.Millisecond
	case 4:
		g.calls = 1 + random.IntN(4)
	case 5:
		g.commands = int64(2 + random.IntN(12))
	case 6:
		end = "exit 3" // with jobs at work
	}
	g.script = strings.Join(append(lines, end), "\n")
	return g
}

// check holds one report against what arrived, and takes out what it tells.
func (g *generated) check(t *testing.T, arrived map[string]arrival, tally *tally) {
	fault := func(format string, args ...any) {
		result, _ := json.Marshal(g.result)
		t.Errorf("%s\n%s\n%s", fmt.Sprintf(format, args...), g.script, result)
	}
	tools := g.result.Tools
	switch {
	case tools == nil: // nothing was changed
		tools = &report.Tools{}
	case tools.Stopped != nil:
		tally.add(string(tools.Stopped.Reason), 1)
	default:
		tally.add("failed", 1)
	}
	told := map[string]bool{}
	for _, d := range tools.Done {
		key := arrival{Input: d.Input}.key()
		a, came := arrived[key]
		unknown := strings.HasPrefix(d.Error, "outcome unknown")
		switch {
		case told[key]:
			fault("%s is told twice", key)
		case !came && !unknown:
			fault("%s is told as done and did not arrive", key)
		case came && (a.Tool != "put" || string(a.Input) != string(d.Input)):
			fault("%s is told as another call than it was: %+v", key, a)
		case d.OK != (d.Error == "") || d.OK != (d.Result != nil):
			fault("%s is told as both", key)
		}
		if answered := false; came && !unknown {
			var in struct {
				Do string
				N  int
			}
			check(t, json.Unmarshal(d.Input, &in))
			switch in.Do {
			case "exit", "doom", "hang", "hang_up":
				fault("nobody can know how %s ended", key)
			case "", "slow", "exit_after":
				answered = true
			case "big":
				answered = in.N <= maxResult
			}
			if answered != d.OK {
				fault("%s is told as ok=%v", key, d.OK)
			}
		}
		told[key] = true
		switch {
		case unknown:
			tally.add("outcome unknown", 1)
		case d.OK:
			tally.add("done ok", 1)
		default:
			tally.add("done failed", 1)
		}
	}
	reads := 0
	prefix, _, _ := strings.Cut(g.first(), "-")
	for key, a := range arrived {
		mine, _, _ := strings.Cut(key, "-")
		switch {
		case mine != prefix:
			continue
		case a.Tool == "get":
			reads++
		case !told[key]:
			fault("%s arrived and is not told: %s", key, a.Tool)
		}
		delete(arrived, key)
	}
	if g.result.Tools != nil && reads > tools.ReadOnlyCalls {
		fault("%d read-only calls arrived", reads)
	}
}

// first is the script from the key of its first call on.
func (g *generated) first() string {
	_, rest, _ := strings.Cut(g.script, "call=")
	return rest
}
