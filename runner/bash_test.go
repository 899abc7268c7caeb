package runner_test

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tools-in-shell/tis/catalog"
	"github.com/tools-in-shell/tis/runner"
)

// The scripts of testdata/bash print the same here and in bash.
func TestBashAgrees(t *testing.T) {
	bash, err := exec.LookPath("bash")
	if err != nil {
		require.Empty(t, os.Getenv("TIS_CI"), "CI needs bash")
		t.Log("there is no bash to compare with; nothing was compared")
		return
	}
	files, err := filepath.Glob("testdata/bash/*.sh")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			text, err := os.ReadFile(file)
			require.NoError(t, err)
			dir := t.TempDir()
			cmd := exec.Command(bash, "--norc")
			cmd.Dir, cmd.Env = dir, []string{"HOME=" + dir, "PATH=" + os.Getenv("PATH"), "LC_ALL=C.UTF-8"}
			cmd.Stdin = bytes.NewReader(nil)
			cmd.Args = append(cmd.Args, "-c", string(text))
			want, _ := cmd.Output() // the exit code is compared

			r, err := runner.New(runner.Options{Dir: t.TempDir(), Utilities: true, Env: []string{"HOME=" + dir, "LC_ALL=C.UTF-8"},
				Catalog: func(context.Context) *catalog.Catalog { return catalog.New(nil, nil, catalog.Options{}) }})
			require.NoError(t, err)
			got, err := r.Run(t.Context(), runner.Script{Text: string(text)})
			require.NoError(t, err)
			assert.Equal(t, string(want), got.Stdout, got.Stderr)
			assert.Equal(t, cmd.ProcessState.ExitCode(), got.ExitCode)
		})
	}
}
