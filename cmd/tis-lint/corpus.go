package main

import (
	"context"
	"fmt"
	"io/fs"
	"path/filepath"
	"runtime"
	"strings"
	"sync"

	"github.com/tools-in-shell/tis/catalog"
	"github.com/tools-in-shell/tis/corpus"
	"github.com/tools-in-shell/tis/report"
	"github.com/tools-in-shell/tis/runner"
)

// corpusCommand replays the cases of a folder.
type corpusCommand struct {
	Update bool   `help:"Write what the cases do now into their files."`
	Dir    string `arg:"" placeholder:"DIR" help:"Folder with txtar files, or one file."`
}

// replayed is what became of one case.
type replayed struct {
	changed bool
	differs []corpus.Difference
	err     error
}

func (c *corpusCommand) Run(ctx context.Context, p *program) error {
	var files []string
	err := filepath.WalkDir(c.Dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() && strings.HasSuffix(path, ".txtar") {
			files = append(files, path)
		}
		return err
	})
	if err != nil {
		return usagef("%s: %w", c.Dir, reason(err))
	}
	if len(files) == 0 {
		return usagef("%s: there are no txtar files", c.Dir)
	}
	results := make([]replayed, len(files))
	next := make(chan int)
	var wg sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), len(files)) {
		wg.Go(func() {
			for i := range next {
				results[i] = c.replay(ctx, files[i])
			}
		})
	}
	for i := range files {
		next <- i
	}
	close(next)
	wg.Wait()
	different, broken, written := 0, 0, 0
	for i, r := range results {
		switch {
		case r.err != nil:
			broken++
			fmt.Fprintf(p.stderr, "tis-lint: %v\n", r.err)
		case r.changed:
			written++
			fmt.Fprintf(p.stdout, "%s: written\n", files[i])
		case len(r.differs) > 0:
			different++
			for _, d := range r.differs {
				fmt.Fprint(p.stdout, visibleLines(d.Diff))
			}
		}
	}
	fmt.Fprintf(p.stdout, "%s: %d different, %d broken, %d written\n", many(len(files), "case"), different, broken, written)
	switch {
	case broken > 0:
		return exitError(exitUsage)
	case different > 0:
		return exitError(exitFindings)
	}
	return nil
}

func (c *corpusCommand) replay(ctx context.Context, file string) (r replayed) {
	one, err := corpus.Load(file)
	if err != nil {
		return replayed{err: err}
	}
	out, err := corpus.Replay(ctx, one, shell)
	if err != nil {
		return replayed{err: err}
	}
	if c.Update {
		r.changed, r.err = one.Update(out)
		return r
	}
	r.differs = one.Compare(out)
	return r
}

// shell runs a job as tis run does, in a folder of its own.
func shell(ctx context.Context, j corpus.Job) (report.Result, error) {
	r, err := runner.New(runner.Options{Dir: j.Dir, Catalog: func(context.Context) *catalog.Catalog { return j.Catalog }, Gate: j.Gate, MaxCalls: j.MaxCalls, Utilities: true})
	if err != nil {
		return report.Result{}, err
	}
	return r.Run(ctx, runner.Script{Text: j.Script, Name: j.Name, Session: j.Session})
}

// visibleLines spells out what would steer a terminal, line by line.
func visibleLines(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		b.WriteString(catalog.Visible(strings.TrimSuffix(line, "\n")) + "\n")
	}
	return b.String()
}
