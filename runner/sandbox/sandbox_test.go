package sandbox_test

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tools-in-shell/tis/runner/sandbox"
)

func TestMain(m *testing.M) {
	sandbox.Main()
	os.Exit(m.Run())
}

func run(t *testing.T, u *sandbox.Utilities, dir string, args ...string) (string, error) {
	t.Helper()
	path, ok := sandbox.Look(args[0])
	require.True(t, ok, args[0])
	cmd := u.Command(context.Background(), path, dir, args, []string{"PATH=" + sandbox.Path()})
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	err := cmd.Run()
	return out.String(), err
}

// Each attempt succeeds without confinement, so that it can't fail inside for
// another reason.
func TestConfinedUtilitiesReachOnlyTheirFolders(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Log("confinement is Linux only; nothing to check on " + runtime.GOOS)
		return
	}
	p := sandbox.Probe()
	require.True(t, p.Files, p.Missing)
	dir, other := t.TempDir(), t.TempDir()
	secret := filepath.Join(other, "secret")
	require.NoError(t, os.WriteFile(secret, []byte("hush\n"), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "mine"), []byte("mine\n"), 0o600))
	require.NoError(t, os.Symlink(secret, filepath.Join(dir, "link")))
	inside := &sandbox.Utilities{Write: []string{dir}, Protections: p}
	outside := &sandbox.Utilities{Write: []string{dir}}

	out, err := run(t, inside, dir, "cat", "mine")
	require.NoError(t, err)
	require.Equal(t, "mine\n", out)
	for _, args := range [][]string{
		{"cat", secret},
		{"cat", "link"},
		{"cat", "/etc/hostname"},
		{"ls", other},
		{"ls", "/proc/self/"},
		{"cat", "/proc/self/environ"},
		{"touch", secret},
		{"chmod", "600", secret},
		{"truncate", "-s", "5", secret},
		{"cp", "mine", filepath.Join(other, "copy")},
		{"find", other, "-name", "secret"},
	} {
		_, err := run(t, outside, dir, args...)
		require.NoError(t, err, "outside: %v", args)
		out, err := run(t, inside, dir, args...)
		require.Error(t, err, "inside: %v", args)
		require.NotContains(t, out, "hush")
	}
}

func TestOnlyListedProgramsAreFound(t *testing.T) {
	for _, name := range []string{"bash", "sudo", "curl", "../bin/cat", "/bin/cat", "ssh", ""} {
		_, ok := sandbox.Look(name)
		require.False(t, ok, name)
	}
	_, ok := sandbox.Look("cat")
	require.True(t, ok)
}
