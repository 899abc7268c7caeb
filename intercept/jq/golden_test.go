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
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/itchyny/gojq"
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
	require.Greater(t, len(list), 500)
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
func TestTheJQProgramAgrees(t *testing.T) {
	path, err := exec.LookPath("jq")
	if err != nil {
		ci := os.Getenv("TIS_CI") + os.Getenv("CI")
		require.Empty(t, ci, "CI needs the jq program")
		t.Log("there is no jq program to compare with; the golden values stand alone")
		return
	}
	version, err := exec.Command(path, "--version").Output()
	require.NoError(t, err)
	old := strings.HasPrefix(string(version), "jq-1.6")
	known := old || strings.HasPrefix(string(version), "jq-1.7")
	compared := 0
	for _, c := range golden(t) {
		if c.Newer && old {
			continue
		}
		dir := t.TempDir()
		for name, text := range c.Files {
			require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
		}
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		cmd := exec.CommandContext(ctx, path, c.Args...)
		cmd.Dir, cmd.Stdin, cmd.Env = dir, strings.NewReader(c.In), []string{"A=b", "HOME=" + dir}
		out, _ := cmd.Output()
		cancel()
		compared++
		if known {
			assert.Equal(t, c.Out, string(out), c.name())
			assert.Equal(t, c.Exit, cmd.ProcessState.ExitCode(), c.name())
		} else if c.Out != string(out) || c.Exit != cmd.ProcessState.ExitCode() {
			t.Logf("%q differs in %s", c.Args, version)
		}
	}
	t.Logf("%d invocations compared with %s", compared, version)
	require.Greater(t, compared, 400)
}

// Apart from the order of keys and the messages, the rewritten program does
// what gojq does with it as it was written.
func TestRewritingChangesTheOrderAlone(t *testing.T) {
	compared := 0
	for _, c := range golden(t) {
		program := c.Args[max(0, len(c.Args)-1):]
		if len(program) == 0 || c.Exit != 0 || strings.Contains(c.In, "\x1e") || exponent.MatchString(c.In) {
			continue
		}
		want, ok := plainly(program[0], c.In)
		if !ok || differsInGojq(program[0]) {
			continue
		}
		c.Args = []string{"-cS", program[0]}
		out, errOut, _ := c.run(context.Background())
		assert.Equal(t, want, sorted(t, out), "%s\n%s", c.name(), errOut)
		compared++
	}
	t.Logf("%d programs compared with gojq", compared)
	require.Greater(t, compared, 120)
}

// exponent is a number that jq writes in a spelling of its own.
var exponent = regexp.MustCompile(`[0-9][eE]`)

// differsInGojq tells the programs that see the order of keys, or what gojq
// does otherwise on purpose, in their results.
func differsInGojq(program string) bool {
	for _, s := range []string{
		"keys", "..", "paths", "tojson", "tostring", `\(`, "@", "[.[]", "map(", "to_entries", "stream", "entries",
		"tonumber", "e1000", "1e", "limit", "ltrimstr", "first", "path(", "input", "unique", "debug", "reduce", "catch",
		"foreach", "recurse", "any", "all", "walk", "add", "env", "now", "flatten", "join", "IN", "INDEX", "1.1", "number", "html",
		"combinations", "del(", "isempty", "error", "nth", "while", "search", "__loc__", "nan", "infinite", ".[]", "fromjson",
	} {
		if strings.Contains(program, s) {
			return true
		}
	}
	return false
}

// plainly runs a program on gojq as it is, on every value of in.
func plainly(program, in string) (string, bool) {
	query, err := gojq.Parse(program)
	if err != nil {
		return "", false
	}
	code, err := gojq.Compile(query)
	if err != nil {
		return "", false
	}
	var inputs []any
	dec := json.NewDecoder(strings.NewReader(in))
	dec.UseNumber()
	for {
		var v any
		if err := dec.Decode(&v); err == io.EOF {
			break
		} else if err != nil {
			return "", false
		}
		inputs = append(inputs, v)
	}
	var b strings.Builder
	for _, v := range inputs {
		for iter := code.Run(v); ; {
			v, ok := iter.Next()
			if !ok {
				break
			}
			if _, bad := v.(error); bad {
				return "", false
			}
			text, err := gojq.Marshal(v)
			if err != nil {
				return "", false
			}
			b.Write(append(text, '\n'))
		}
	}
	return b.String(), true
}

// sorted prints values as gojq does.
func sorted(t *testing.T, text string) string {
	t.Helper()
	var b strings.Builder
	dec := json.NewDecoder(strings.NewReader(text))
	dec.UseNumber()
	for {
		var v any
		err := dec.Decode(&v)
		if err == io.EOF {
			return b.String()
		}
		require.NoError(t, err, text)
		line, err := gojq.Marshal(v)
		require.NoError(t, err)
		b.Write(append(line, '\n'))
	}
}
