package runner_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tools-in-shell/tis/catalog"
	"github.com/tools-in-shell/tis/runner"
)

func TestAWorkingDirectoryFromWhichAPrivateFolderIsReached(t *testing.T) {
	home := t.TempDir()
	secret, work, link := filepath.Join(home, "state", "tis"), filepath.Join(home, "work"), filepath.Join(home, "link")
	require.NoError(t, os.MkdirAll(secret, 0o700))
	require.NoError(t, os.MkdirAll(work, 0o700))
	require.NoError(t, os.Symlink(secret, link))
	start := func(dir string, private ...string) error {
		_, err := runner.New(runner.Options{Dir: dir, Private: private, Catalog: func(context.Context) *catalog.Catalog { return catalog.New(nil, nil, catalog.Options{}) }})
		return err
	}
	require.NoError(t, start(home, secret), "it is empty")
	require.NoError(t, os.WriteFile(filepath.Join(secret, "token"), []byte("x"), 0o600))
	for _, dir := range []string{home, filepath.Join(home, "state"), secret, link} {
		require.ErrorContains(t, start(dir, secret), "could read "+secret)
		require.ErrorContains(t, start(dir, link), "could read "+link, "links are followed")
	}
	require.NoError(t, start(work, secret))
	require.NoError(t, start(home, filepath.Join(home, "missing")))
	require.NoError(t, start(filepath.Join(home, "work"), filepath.Join(home, "wor")))
}
