package jq_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tools-in-shell/tis/intercept/jq"
)

// invocation is a command line and what it prints.
type invocation struct {
	Args  []string          `json:"args"`
	In    string            `json:"in"`
	Files map[string]string `json:"files"`
	Out   string            `json:"out"`
	Err   string            `json:"err"` // "" is not looked at
	Exit  int               `json:"exit"`
	Newer bool              `json:"newer"` // jq 1.6 does it otherwise
}

func (c invocation) name() string { return strings.Join(c.Args, " ") + " < " + c.In }

// run runs it in process.
func (c invocation) run(ctx context.Context) (stdout, stderr string, exit int) {
	var out, errOut bytes.Buffer
	open := func(name string) (io.ReadCloser, error) {
		if text, ok := c.Files[name]; ok {
			return io.NopCloser(strings.NewReader(text)), nil
		}
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	}
	exit = jq.Main(ctx, c.Args, strings.NewReader(c.In), &out, &errOut, []string{"A=b", "Z=", "B=c=d"}, open)
	return out.String(), errOut.String(), exit
}

// golden reads what jq 1.7.1 does.
func golden(t testing.TB) []invocation {
	f, err := os.Open(filepath.Join("testdata", "jq-1.7.jsonl"))
	require.NoError(t, err)
	defer f.Close()
	var list []invocation
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var c invocation
		require.NoError(t, json.Unmarshal(lines.Bytes(), &c))
		list = append(list, c)
	}
	require.NoError(t, lines.Err())
	require.Greater(t, len(list), 900)
	return list
}

func TestWhatJQ17Does(t *testing.T) {
	for i, c := range golden(t) {
		t.Run(strconv.Itoa(i), func(t *testing.T) {
			t.Parallel() // programs share what is worked out once
			out, errOut, exit := c.run(context.Background())
			assert.Equal(t, c.Out, out, "%s\n%s", c.name(), errOut)
			assert.Equal(t, c.Exit, exit, "%s\n%s", c.name(), errOut)
			if c.Err != "" {
				assert.Equal(t, c.Err, errOut, c.name())
			}
		})
	}
}

// The same table against the jq program of this machine, which may be older.
// It takes jq far longer to start than to run, so that outside of CI every tenth
// invocation has to do.
func TestTheJQProgramAgrees(t *testing.T) {
	ci := os.Getenv("TIS_CI")+os.Getenv("CI") != ""
	path, err := exec.LookPath("jq")
	if err != nil {
		require.False(t, ci, "CI needs the jq program")
		t.Log("there is no jq program to compare with; the golden values stand alone")
		return
	}
	version, err := exec.Command(path, "--version").Output()
	require.NoError(t, err)
	old := strings.HasPrefix(string(version), "jq-1.6")
	known := old || strings.HasPrefix(string(version), "jq-1.7")
	compared := 0
	for i, c := range golden(t) {
		if c.Newer && old || !ci && i%10 != 0 {
			continue
		}
		compared++
		t.Run(strconv.Itoa(i), func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			for name, text := range c.Files {
				require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
			}
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			cmd := exec.CommandContext(ctx, path, c.Args...)
			cmd.Dir, cmd.Stdin, cmd.Env = dir, strings.NewReader(c.In), []string{"A=b", "Z=", "B=c=d", "HOME=" + dir}
			out, _ := cmd.Output()
			if known {
				assert.Equal(t, c.Out, string(out), c.name())
				assert.Equal(t, c.Exit, cmd.ProcessState.ExitCode(), c.name())
			} else if c.Out != string(out) || c.Exit != cmd.ProcessState.ExitCode() {
				t.Logf("%q differs in %s", c.Args, version)
			}
		})
	}
	t.Logf("%d invocations compared with %s", compared, version)
	require.Greater(t, compared, 40)
}
