package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/tools-in-shell/tis/runner/sandbox"
)

func main() {
	sandbox.Main()
	runs := flag.Int("runs", 15, "how often each command is timed")
	only := flag.String("only", "", "measure only the rows whose name has this in it")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := compare(ctx, *runs, *only); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// row is one comparison. Its commands run in turn, so that a busy moment of the
// machine is every command's.
type row struct {
	name string
	// target is the largest ratio of ours to theirs that is wanted.
	target float64
	ours   measure
	theirs measure
}

// measure is how long something takes; per divides it.
type measure struct {
	name string
	once func(ctx context.Context) (time.Duration, error)
}

func compare(ctx context.Context, runs int, only string) error {
	dir, err := os.MkdirTemp("", "tis-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	p, err := prepare(ctx, dir)
	if err != nil {
		return err
	}
	fmt.Printf("%s, %s, %d CPUs, median of %d runs in turn (lowest to highest)\n\n", machine(), runtime.Version(), runtime.NumCPU(), runs)
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "WHAT\tOURS\tTHEIRS\tRATIO\tWANTED")
	for _, r := range p.rows() {
		if !strings.Contains(r.name, only) {
			continue
		}
		var ours, theirs []time.Duration
		for range runs {
			for _, m := range []struct {
				measure
				to *[]time.Duration
			}{{r.ours, &ours}, {r.theirs, &theirs}} {
				d, err := m.once(ctx)
				if err != nil {
					return fmt.Errorf("%s: %s: %w", r.name, m.name, err)
				}
				*m.to = append(*m.to, d)
			}
		}
		a, b := summary(ours), summary(theirs)
		fmt.Fprintf(w, "%s\t%s %s\t%s %s\t%.2f\tat most %.2f\n", r.name, r.ours.name, a, r.theirs.name, b, float64(a.median)/float64(b.median), r.target)
	}
	return w.Flush()
}

type spread struct{ low, median, high time.Duration }

func summary(times []time.Duration) spread {
	slices.Sort(times)
	return spread{times[0], times[len(times)/2], times[len(times)-1]}
}

func (s spread) String() string {
	return fmt.Sprintf("%s (%s to %s)", short(s.median), short(s.low), short(s.high))
}

// short is a time with three digits.
func short(d time.Duration) string {
	for _, unit := range []time.Duration{time.Second, time.Millisecond, time.Microsecond} {
		if d >= unit {
			return d.Round(unit / 100).String()
		}
	}
	return d.String()
}

// machine is what the processor says it is.
func machine() string {
	raw, _ := os.ReadFile("/proc/cpuinfo") // elsewhere there is none
	for line := range strings.Lines(string(raw)) {
		if key, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(key) == "model name" {
			return strings.TrimSpace(value)
		}
	}
	return runtime.GOOS + "/" + runtime.GOARCH
}

// peers are the programs that take part, and where they were put.
type peers struct {
	dir                  string // scratch
	root                 string // the repository
	tis, tisLint         string
	bash, jq, shellcheck string
	bwrap, node          string
	npm                  string // node_modules
	catalogs             []string
}

// prepare builds ours and installs theirs.
func prepare(ctx context.Context, dir string) (*peers, error) {
	root, err := output(ctx, "", "go", "env", "GOMOD")
	if err != nil {
		return nil, err
	}
	p := &peers{dir: dir, root: filepath.Dir(strings.TrimSpace(root))}
	p.catalogs, err = filepath.Glob(filepath.Join(p.root, "testdata/catalogs/*.json"))
	if err != nil {
		return nil, err
	}
	var missing []string
	for _, want := range []struct {
		path             *string
		program, Package string
	}{{&p.bash, "bash", "bash"}, {&p.jq, "jq", "jq"}, {&p.shellcheck, "shellcheck", "shellcheck"}, {&p.bwrap, "bwrap", "bubblewrap"}, {&p.node, "node", "nodejs"}} {
		if *want.path, err = exec.LookPath(want.program); err != nil {
			missing = append(missing, want.Package)
		}
	}
	if len(missing) > 0 {
		return nil, fmt.Errorf("missing here; install them with: apt-get install %s", strings.Join(missing, " "))
	}
	for _, program := range []struct {
		path *string
		pkg  string
	}{{&p.tis, "tis"}, {&p.tisLint, "tis-lint"}} {
		*program.path = filepath.Join(dir, program.pkg)
		if _, err := output(ctx, p.root, "go", "build", "-o", *program.path, "./cmd/"+program.pkg); err != nil {
			return nil, err
		}
	}
	for _, folder := range []string{"bench/peers", "testdata/npm"} {
		if _, err := os.Stat(filepath.Join(p.root, folder, "node_modules")); err == nil {
			continue
		}
		if _, err := output(ctx, filepath.Join(p.root, folder), "npm", "ci", "--no-audit", "--no-fund", "--loglevel=error"); err != nil {
			return nil, err
		}
	}
	p.npm = filepath.Join(p.root, "bench/peers/node_modules/.bin")
	return p, p.write()
}

// output runs a program to its end and returns what it printed.
func output(ctx context.Context, dir, name string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir = dir
	out, err := cmd.Output()
	if err != nil {
		detail := ""
		if exit, ok := err.(*exec.ExitError); ok {
			detail = "\n" + string(exit.Stderr)
		}
		return "", fmt.Errorf("%s %s: %w%s", filepath.Base(name), strings.Join(args, " "), err, detail)
	}
	return string(out), nil
}
