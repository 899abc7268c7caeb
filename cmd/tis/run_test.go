package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// tis runs the program on stdin and arguments, in an environment of its own.
func tis(t *testing.T, stdin string, args ...string) (exit int, stdout, stderr string) {
	t.Helper()
	home := t.TempDir()
	env := map[string]string{"HOME": home, "XDG_STATE_HOME": home, "PATH": os.Getenv("PATH")}
	var out, errOut bytes.Buffer
	p := program{stdin: strings.NewReader(stdin), stdout: &out, stderr: &errOut, getenv: func(k string) (string, bool) { v, ok := env[k]; return v, ok }}
	exit = p.main(context.Background(), args)
	return exit, out.String(), errOut.String()
}

func TestScriptsThatCannotBeRead(t *testing.T) {
	dir := t.TempDir()
	config := filepath.Join(dir, "tis.json")
	require.NoError(t, os.WriteFile(config, []byte(`{}`), 0o600))
	file := func(name, text string) string {
		path := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		return path
	}
	for name, c := range map[string]struct{ script, says string }{
		"missing":      {filepath.Join(dir, "none.sh"), "none.sh: no such file or directory"},
		"a directory":  {dir, "is a directory, want a shell script"},
		"binary":       {file("binary", "\x7fELF\x00\x00"), "is a binary file, want a shell script"},
		"too large":    {file("large.sh", strings.Repeat("# filler\n", 500_000)), "larger than 4 MiB"},
		"below a file": {file("plain", "") + "/x.sh", "not a directory"},
	} {
		t.Run(name, func(t *testing.T) {
			exit, stdout, stderr := tis(t, "", "run", "-c", config, "--dir", t.TempDir(), c.script)
			assert.Equal(t, 2, exit)
			assert.Empty(t, stdout)
			assert.Equal(t, 1, strings.Count(stderr, "\n"), stderr)
			assert.Contains(t, stderr, "script "+c.script)
			assert.Contains(t, stderr, c.says)
		})
	}
}

func TestWorkingDirectoriesThatCannotBeUsed(t *testing.T) {
	dir := t.TempDir()
	config := filepath.Join(dir, "tis.json")
	require.NoError(t, os.WriteFile(config, []byte(`{}`), 0o600))
	for _, c := range []struct{ dir, says string }{
		{filepath.Join(dir, "none"), "no such file or directory"},
		{config, "not a directory"},
	} {
		exit, stdout, stderr := tis(t, "echo ran", "run", "-c", config, "--dir", c.dir, "-")
		assert.Equal(t, 2, exit)
		assert.Empty(t, stdout)
		assert.Contains(t, stderr, c.dir)
		assert.Contains(t, stderr, c.says)
		assert.Equal(t, 1, strings.Count(stderr, "\n"), stderr)
	}
}
