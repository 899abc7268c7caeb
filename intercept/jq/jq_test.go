package jq_test

import (
	"bytes"
	"context"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tools-in-shell/tis/intercept/jq"
)

func run(ctx context.Context, stdin string, args ...string) (string, string, int) {
	var out, errOut bytes.Buffer
	open := func(name string) (io.ReadCloser, error) {
		if text, ok := strings.CutPrefix(name, "text:"); ok {
			return io.NopCloser(strings.NewReader(text)), nil
		}
		return nil, os.ErrNotExist
	}
	exit := jq.Main(ctx, args, strings.NewReader(stdin), &out, &errOut, []string{"A=b"}, open)
	return out.String(), errOut.String(), exit
}

var invocations = []struct {
	args []string
	in   string
	out  string
	exit int
	own  bool // jq 1.6 does it otherwise, or it needs files of the test
}{
	{args: []string{"-c", "."}, in: `{"b":1,"a":[1,2,{"z":1,"y":2}]}`, out: "{\"b\":1,\"a\":[1,2,{\"z\":1,\"y\":2}]}\n"},
	{args: []string{"."}, in: `{"b":1,"a":[]}`, out: "{\n  \"b\": 1,\n  \"a\": []\n}\n"},
	{args: []string{"-c", ".input"}, in: `{"input":{"repo":"a","number":1}}`, out: "{\"repo\":\"a\",\"number\":1}\n"},
	{args: []string{"-c", "{number, title, mergeable}"}, in: `{"title":"t","number":1}`, out: "{\"number\":1,\"title\":\"t\",\"mergeable\":null}\n"},
	{args: []string{"-c", `{"z":1,a:2,(.k):3}`}, in: `{"k":"b"}`, out: "{\"z\":1,\"a\":2,\"b\":3}\n"},
	{args: []string{"-c", ".a=1"}, in: `{"z":1}`, out: "{\"z\":1,\"a\":1}\n"},
	{args: []string{"-c", "keys_unsorted"}, in: `{"c":1,"b":2}`, out: "[\"c\",\"b\"]\n"},
	{args: []string{"-c", "keys_unsorted"}, in: `[5,6]`, out: "[0,1]\n"},
	{args: []string{"-c", "keys_unsorted"}, in: `1`, exit: 5},
	{args: []string{"-c", "del(.b)"}, in: `{"c":1,"b":2,"a":3}`, out: "{\"c\":1,\"a\":3}\n"},
	{args: []string{"-cS", "."}, in: `{"b":1,"a":2}`, out: "{\"a\":2,\"b\":1}\n"},
	{args: []string{"-r", ".[]"}, in: `["a","b",1]`, out: "a\nb\n1\n"},
	{args: []string{"-j", ".[]"}, in: `["a",1]`, out: "a1"},
	{args: []string{"-a", "."}, in: `"é😀"`, out: "\"\\u00e9\\ud83d\\ude00\"\n"},
	{args: []string{"-n", "1+1"}, out: "2\n"},
	{args: []string{"-s", "-c", "."}, in: "1 2\n3", out: "[1,2,3]\n"},
	{args: []string{"-R", "."}, in: "a\nb", out: "\"a\"\n\"b\"\n"},
	{args: []string{"-Rs", "."}, in: "a\nb\n", out: "\"a\\nb\\n\"\n"},
	{args: []string{"-nR", "[inputs]|length"}, in: "a\nb\n", out: "2\n"},
	{args: []string{"-n", "[inputs]|add"}, in: "1 2 3", out: "6\n"},
	{args: []string{"-c", "[.,input]"}, in: "1 2", out: "[1,2]\n"},
	{args: []string{"--arg", "x", "1", "-n", "$x"}, out: "\"1\"\n"},
	{args: []string{"--argjson", "x", `{"b":1,"a":2}`, "-nc", "$x"}, out: "{\"b\":1,\"a\":2}\n"},
	{args: []string{"-nc", "$ARGS.positional", "--args", "a", "b"}, out: "[\"a\",\"b\"]\n"},
	{args: []string{"-nc", "$ARGS.positional", "--jsonargs", "1", `{"a":2}`}, out: "[1,{\"a\":2}]\n"},
	{args: []string{"-nc", "$ARGS.named", "--arg", "q", "1"}, out: "{\"q\":\"1\"}\n"},
	{args: []string{"-n", "env.A"}, out: "\"b\"\n", own: true},
	{args: []string{"-n", "$ENV|length"}, out: "1\n", own: true},
	{args: []string{"-e", "."}, in: "false", out: "false\n", exit: 1},
	{args: []string{"-e", "."}, in: "1", out: "1\n"},
	{args: []string{"-e", "empty"}, in: "1", exit: 4},
	{args: []string{".a"}, in: `[1]`, exit: 5},
	{args: []string{".[0"}, in: `[1]`, exit: 3},
	{args: []string{"--nope", "."}, in: "1", exit: 2},
	{args: []string{"."}, in: `{"a"`, exit: 2, own: true},
	{args: []string{"-n", `error("x")`}, exit: 5},
	{args: []string{"-n", "halt_error"}, exit: 5},
	{args: []string{"-n", `"bye\n"|halt_error(3)`}, exit: 3},
	{args: []string{"-n", "1,halt,2"}, out: "1\n"},
	{args: []string{"--tab", "."}, in: `[1]`, out: "[\n\t1\n]\n"},
	{args: []string{"--indent", "1", "."}, in: `[1]`, out: "[\n 1\n]\n"},
	{args: []string{"--indent", "9", "."}, in: `[1]`, exit: 2},
	{args: []string{"-c", "--stream", "."}, in: `{"a":[1,2]}`, out: "[[\"a\",0],1]\n[[\"a\",1],2]\n[[\"a\",1]]\n[[\"a\"]]\n"},
	{args: []string{"--seq", "-c", "."}, in: "1", out: "\x1e1\n", own: true},
	{args: []string{"--raw-output0", ".[]"}, in: `["a","b"]`, out: "a\x00b\x00", own: true},
	{args: []string{"."}, in: "9007199254740993", out: "9007199254740993\n", own: true},
	{args: []string{"-c", "."}, in: `[1.10,1e400,12345678901234567890]`, out: "[1.10,1e400,12345678901234567890]\n", own: true},
	{args: []string{".+1"}, in: "9007199254740993", out: "9007199254740994\n", own: true},
	{args: []string{"-r", "@tsv"}, in: `["a\tb",1]`, out: "a\\tb\t1\n"},
	{args: []string{"-r", "@csv"}, in: `["a,b",1]`, out: "\"a,b\",1\n"},
	{args: []string{"-r", "@base64"}, in: `"hi"`, out: "aGk=\n"},
	{args: []string{"-c", "group_by(.k)|map(length)"}, in: `[{"k":1},{"k":2},{"k":1}]`, out: "[2,1]\n"},
	{args: []string{"-c", "sort_by(.n)|map(.n)"}, in: `[{"n":2},{"n":1}]`, out: "[1,2]\n"},
	{args: []string{"-r", `.[]|select(.d|not)|.n`}, in: `[{"n":1,"d":false},{"n":2,"d":true}]`, out: "1\n"},
	{args: []string{"-c", `map({(.k):.v})|add`}, in: `[{"k":"a","v":1},{"k":"b","v":2}]`, out: "{\"a\":1,\"b\":2}\n"},
	{args: []string{"-c", `. as [$a,$b]|{a:$a,b:$b}`}, in: `[1,2]`, out: "{\"a\":1,\"b\":2}\n"},
	{args: []string{"-c", `reduce .[] as $x (0;.+$x)`}, in: `[1,2,3]`, out: "6\n"},
	{args: []string{"-c", `try error("x") catch .`}, in: `1`, out: "\"x\"\n"},
	{args: []string{"-c", `[limit(2;.[])]`}, in: `[1,2,3]`, out: "[1,2]\n"},
	{args: []string{"-r", `"\(.a)-\(.b)"`}, in: `{"a":1,"b":"x"}`, out: "1-x\n"},
	{args: []string{".", "text:[1]"}, out: "[\n  1\n]\n", own: true},
	{args: []string{"-c", ".", "none.json"}, exit: 2},
	{args: []string{"-f", "text:.a", "text:{\"a\":7}"}, out: "7\n", own: true},
	{args: []string{"-n", "--slurpfile", "x", "text:1 2", "-c", "$x"}, out: "[1,2]\n", own: true},
	{args: []string{"-n", "--rawfile", "x", "text:hi", "$x"}, out: "\"hi\"\n", own: true},
	{args: []string{"-n", "input_filename"}, out: "null\n"},
	{args: []string{""}, in: "1", out: "1\n"},
	{args: []string{"-cn", "[1,2]"}, out: "[1,2]\n"},
	{args: []string{"-C", "-c", "."}, in: `[1]`, out: "\x1b[1;39m[\x1b[0m\x1b[0;39m1\x1b[0m\x1b[1;39m]\x1b[0m\n", own: true},
}

func TestInvocations(t *testing.T) {
	for _, c := range invocations {
		t.Run(strings.Join(c.args, " "), func(t *testing.T) {
			out, errOut, exit := run(context.Background(), c.in, c.args...)
			require.Equal(t, c.out, out, errOut)
			require.Equal(t, c.exit, exit, errOut)
			if exit >= 2 && exit != 4 && !strings.Contains(c.args[len(c.args)-1], "halt") {
				require.NotEmpty(t, errOut)
			}
		})
	}
}

// The same table against the jq program, where it is a matter of jq itself.
func TestTheJQProgramAgrees(t *testing.T) {
	path, err := exec.LookPath("jq")
	if err != nil {
		require.Empty(t, os.Getenv("TIS_CI"), "CI needs the jq program")
		t.Log("there is no jq program to compare with; the table above stands alone")
		return
	}
	for _, c := range invocations {
		if c.own {
			continue
		}
		cmd := exec.Command(path, c.args...)
		cmd.Stdin, cmd.Env = strings.NewReader(c.in), []string{"A=b"}
		out, _ := cmd.Output()
		require.Equal(t, c.out, string(out), "%q", c.args)
		require.Equal(t, c.exit, cmd.ProcessState.ExitCode(), "%q", c.args)
	}
}

func TestCancellationEndsAnEndlessProgramAndAWait(t *testing.T) {
	ctx, cancel := context.WithTimeout(context.Background(), 100*time.Millisecond)
	defer cancel()
	start := time.Now()
	run(ctx, "", "-n", "def f: f; f")
	pr, pw := io.Pipe()
	defer pw.Close()
	jq.Main(ctx, []string{"."}, pr, io.Discard, io.Discard, nil, nil)
	require.Less(t, time.Since(start), 5*time.Second)
}

func FuzzJQ(f *testing.F) {
	f.Add(".a", `{"a":1}`)
	f.Fuzz(func(t *testing.T, program, in string) {
		ctx, cancel := context.WithTimeout(context.Background(), 200*time.Millisecond)
		defer cancel()
		if strings.Contains(program, "repeat") || strings.Contains(program, "*") || strings.Contains(program, "range") {
			return // may take all memory, which a limit of the run ends
		}
		run(ctx, in, "-c", program)
	})
}
