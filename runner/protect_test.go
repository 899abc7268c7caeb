package runner_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tools-in-shell/tis/catalog"
	"github.com/tools-in-shell/tis/runner"
	"github.com/tools-in-shell/tis/runner/sandbox"
)

// A config that lies in the working directory is not the script's to read or
// change, whatever it is called and by whatever program.
func TestProtectedFiles(t *testing.T) {
	mounts := sandbox.Probe().Network
	if !mounts {
		require.Empty(t, os.Getenv("TIS_CI"), "CI needs user namespaces")
	}
	ways := []string{
		`echo '{}' > conf/tis.json`, `: > conf/tis.json`, `echo x >> conf/tis.json`, `cat < conf/tis.json`, `x=$(<conf/tis.json); echo "$x"`, `source conf/tis.json`, `bash conf/tis.json`,
		`read -r x < conf/tis.json; echo "$x"`, `mapfile -t l < conf/tis.json; echo "${l[0]}"`, `jq -R . conf/tis.json`, `jq -n --rawfile x conf/tis.json '$x'`, `cd conf; echo y > ./tis.json`, `echo y > "$PWD/conf/../conf/tis.json"`,
	}
	if mounts { // by the host's utilities
		ways = append(ways,
			`cat conf/tis.json`, `grep . conf/tis.json`, `cp other conf/tis.json`, `mv other conf/tis.json`, `rm -f conf/tis.json`, `ln conf/tis.json hard; cat hard; echo x > hard`, `ln -s conf/tis.json soft; cat soft; echo x > soft`,
			`ln -s conf d; echo x > d/tis.json; cat d/tis.json`, `mv conf moved; mkdir conf; cp other conf/tis.json; cat moved/tis.json`, `rm -rf conf; mkdir -p conf; cp other conf/tis.json`, `sed -i s/secret/x/ conf/tis.json`, `tee conf/tis.json < other`,
			`cp conf/tis.json copy; cat copy`, `tar cf - conf | tar xOf -`, `dd if=other of=conf/tis.json`, `chmod 777 conf/tis.json; cat conf/tis.json`, `truncate -s 0 conf/tis.json`, `find conf -name tis.json -delete`,
		)
	}
	for _, way := range ways {
		t.Run(way, func(t *testing.T) {
			dir := t.TempDir()
			config := filepath.Join(dir, "conf", "tis.json")
			require.NoError(t, os.Mkdir(filepath.Join(dir, "conf"), 0o755))
			require.NoError(t, os.WriteFile(config, []byte("echo secret\n"), 0o644))
			require.NoError(t, os.WriteFile(filepath.Join(dir, "other"), []byte("other\n"), 0o644))
			run := func(protected ...string) (stdout string) {
				r, err := runner.New(runner.Options{Dir: dir, Utilities: true, Protected: protected, Catalog: func(context.Context) *catalog.Catalog { return catalog.New(nil, nil, catalog.Options{}) }})
				require.NoError(t, err)
				result, err := r.Run(t.Context(), runner.Script{Text: way})
				require.NoError(t, err)
				return result.Stdout
			}
			out := run(config)
			assert.NotContains(t, out, "secret")
			have, err := os.ReadFile(config)
			require.NoError(t, err)
			assert.Equal(t, "echo secret\n", string(have))
			// Unprotected the way works, so that it shows something.
			out = run()
			have, _ = os.ReadFile(config)
			moved, _ := filepath.Glob(filepath.Join(dir, "moved", "*"))
			assert.True(t, len(out) > 0 || string(have) != "echo secret\n" || len(moved) > 0, "the way leads nowhere by itself")
		})
	}
}

// A free name stays free.
func TestProtectedNamesThatAreFree(t *testing.T) {
	for _, way := range []string{`echo '{"rules":[]}' > tis.json`, `cp other tis.json`, `ln -s other tis.json`, `mkdir d; echo x > d/../tis.json`} {
		dir := t.TempDir()
		require.NoError(t, os.WriteFile(filepath.Join(dir, "other"), []byte("other\n"), 0o644))
		r, err := runner.New(runner.Options{Dir: dir, Utilities: true, Protected: []string{filepath.Join(dir, "tis.json")}, Catalog: func(context.Context) *catalog.Catalog { return catalog.New(nil, nil, catalog.Options{}) }})
		require.NoError(t, err)
		_, err = r.Run(t.Context(), runner.Script{Text: way})
		require.NoError(t, err)
		require.NoFileExists(t, filepath.Join(dir, "tis.json"), way)
	}
}
