package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// A promise of confinement that cannot be kept is no silent setting.
func TestARequiredSandboxIsRefusedAndNothingRuns(t *testing.T) {
	for mode, exit := range map[string]int{"required": exitUsage, "best_effort": exitOK, "off": exitOK} {
		dir := t.TempDir()
		config := filepath.Join(dir, "tis.json")
		require.NoError(t, os.WriteFile(config, []byte(`{"sandbox":"`+mode+`"}`), 0o600))
		var out, errOut bytes.Buffer
		p := program{stdin: strings.NewReader("echo x > ran"), stdout: &out, stderr: &errOut, getenv: func(k string) (string, bool) { return dir, k == "HOME" }}
		require.Equal(t, exit, p.main(context.Background(), []string{"run", "-c", config, "--dir", dir, "-"}), errOut.String())
		_, err := os.Stat(filepath.Join(dir, "ran"))
		require.Equal(t, exit == exitOK, err == nil)
		if exit != exitOK {
			require.Contains(t, errOut.String(), "required")
			require.Contains(t, errOut.String(), "best_effort")
		}
	}
}
