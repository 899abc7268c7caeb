package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// shell is a built tis with a config whose tracker keeps its database.
type shell struct{ program, config, store, dir string }

func newShell(t *testing.T) shell {
	t.Helper()
	tmp := t.TempDir()
	s := shell{program: filepath.Join(tmp, "tis"), config: filepath.Join(tmp, "tis.json"), store: "sqlite:" + filepath.Join(tmp, "approvals.db"), dir: filepath.Join(tmp, "work")}
	if runtime.GOOS == "windows" {
		s.program += ".exe"
	}
	require.NoError(t, os.Mkdir(s.dir, 0o700))
	out, err := exec.Command("go", "build", "-o", s.program, "../../cmd/tis").CombinedOutput()
	require.NoError(t, err, string(out))

	// The config in the repository, with this test's program as the server.
	raw, err := os.ReadFile("tis.json")
	require.NoError(t, err)
	var config map[string]any
	require.NoError(t, json.Unmarshal(raw, &config))
	entry := config["mcpServers"].(map[string]any)["tracker"].(map[string]any)
	entry["command"], entry["args"] = serverCommand(t, nil).Path, []string{filepath.Join(tmp, "tracker.db")}
	entry["env"] = map[string]string{asServer: "1"}
	raw, err = json.Marshal(config)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(s.config, raw, 0o600))
	return s
}

// tis runs the program and returns its streams and exit code.
func (s shell) tis(t *testing.T, args ...string) (stdout, stderr string, exit int) {
	t.Helper()
	cmd := exec.Command(s.program, args...)
	var out, errs strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	if _, ok := err.(*exec.ExitError); err != nil && !ok {
		require.NoError(t, err)
	}
	return out.String(), errs.String(), cmd.ProcessState.ExitCode()
}

func (s shell) run(t *testing.T, args ...string) (stdout, stderr string, exit int) {
	t.Helper()
	return s.tis(t, append([]string{"run", "-c", s.config, "--store", s.store, "--dir", s.dir}, args...)...)
}

func TestTriageRunsStraightThrough(t *testing.T) {
	s := newShell(t)
	stdout, stderr, exit := s.run(t, "triage.sh")
	require.Equal(t, 0, exit, stderr)
	require.Empty(t, stderr)
	require.Equal(t, `#    LABEL    DAYS COMMENTS  TITLE
3    bug        47        2  Export crashes on an empty project
7    bug         9        0  Flaky test: TestRetryBackoff
9    bug         1        2  Login answers 500 after a deploy
5    chore      33        1  Slow search with more than 10,000 projects
2    feature    84        1  Dark mode for the settings page
8    feature     6        0  Let owners rename a workspace
merged branches: fix-typo, pg-driver
`, stdout)

	again, stderr, exit := s.run(t, "triage.sh")
	require.Equal(t, 0, exit, stderr)
	require.Equal(t, stdout, again, "what is labelled and commented on is left alone")
}

func TestCleanupIsHeldUntilAPersonHasAnswered(t *testing.T) {
	type result struct {
		Tools struct {
			Done    []json.RawMessage
			Stopped struct {
				Reason      string
				BeforeStart bool `json:"before_start"`
			}
		}
		Requests []struct {
			ID        string
			Arguments json.RawMessage
		} `json:"approval_requests"`
	}
	s := newShell(t)
	stdout, stderr, exit := s.run(t, "--json", "cleanup.sh")
	require.Equal(t, 1, exit, stderr)
	var held result
	require.NoError(t, json.Unmarshal([]byte(stdout), &held), stdout)
	require.Equal(t, "needs_approval", held.Tools.Stopped.Reason)
	require.True(t, held.Tools.Stopped.BeforeStart)
	require.Empty(t, held.Tools.Done)
	require.Len(t, held.Requests, 2)
	require.JSONEq(t, `{"branch":"fix-typo"}`, string(held.Requests[0].Arguments))
	require.JSONEq(t, `{"branch":"pg-driver"}`, string(held.Requests[1].Arguments))

	for _, r := range held.Requests {
		_, stderr, exit := s.tis(t, "approvals", "answer", r.ID, "allow", "-c", s.config, "--store", s.store)
		require.Equal(t, 0, exit, stderr)
	}
	stdout, stderr, exit = s.run(t, "cleanup.sh")
	require.Equal(t, 0, exit, stderr)
	require.True(t, strings.HasSuffix(stdout, "dark-mode\nfix-login\nmain\n"), stdout)

	_, stderr, exit = s.run(t, "cleanup.sh")
	require.Equal(t, 1, exit)
	require.Contains(t, stderr, "needs_approval", "an answer is good for one call")
}
