package corpus_test

import (
	"context"
	"flag"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tools-in-shell/tis/catalog"
	"github.com/tools-in-shell/tis/corpus"
	"github.com/tools-in-shell/tis/report"
	"github.com/tools-in-shell/tis/runner"
	"github.com/tools-in-shell/tis/runner/sandbox"
)

var update = flag.Bool("update", false, "write what the cases do now into their files")

func TestMain(m *testing.M) {
	sandbox.Main()
	os.Exit(m.Run())
}

// shell runs a job for real, with the host's utilities.
func shell(ctx context.Context, j corpus.Job) (report.Result, error) {
	r, err := runner.New(runner.Options{Dir: j.Dir, Catalog: func(context.Context) *catalog.Catalog { return j.Catalog }, Gate: j.Gate, MaxCalls: j.MaxCalls, Utilities: true})
	if err != nil {
		return report.Result{}, err
	}
	return r.Run(ctx, runner.Script{Text: j.Script, Name: j.Name, Session: j.Session})
}

func TestTheCorpusStands(t *testing.T) {
	var files []string
	require.NoError(t, filepath.WalkDir("cases", func(path string, d fs.DirEntry, err error) error {
		if strings.HasSuffix(path, ".txtar") {
			files = append(files, path)
		}
		return err
	}))
	require.GreaterOrEqual(t, len(files), 150)
	for _, file := range files {
		name := strings.TrimSuffix(strings.TrimPrefix(filepath.ToSlash(file), "cases/"), ".txtar")
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c, err := corpus.Load(file)
			require.NoError(t, err)
			require.NotEmpty(t, c.About, "the text before the first file says what the case shows")
			out, err := corpus.Replay(t.Context(), c, shell)
			require.NoError(t, err)
			if *update {
				_, err := c.Update(out)
				require.NoError(t, err)
				return
			}
			for _, d := range c.Compare(out) {
				assert.Fail(t, "want/"+d.Name+" is different", "%s", d.Diff)
			}
		})
	}
}
