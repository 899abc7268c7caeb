package analyze

import (
	"context"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/stretchr/testify/require"
	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/interp"
	"mvdan.cc/sh/v3/syntax"
	"pgregory.net/rapid"
)

// executed runs a parsed script with every command but the shell's own
// answered in process, and returns the words and stdin of each tools command by
// the position of its first word.
func executed(t require.TestingT, file *syntax.File) map[string][][]string {
	attached := map[string]bool{}
	StdinAttached(file, func(c *syntax.CallExpr) {
		if len(c.Args) > 0 {
			attached[c.Args[0].Pos().String()] = true
		}
	})
	type seen struct {
		pos  string
		args []string
	}
	calls := make(chan seen, 1000)
	ctx, cancel := context.WithTimeout(context.Background(), 200*time.Millisecond)
	defer cancel()
	run := func(ctx context.Context, args []string) error {
		pos := interp.HandlerCtx(ctx).Pos.String()
		if t := unwrap(args, notShadowed); t.name == "tools" && !t.opaque {
			args := t.args
			if attached[pos] || slices.Contains(args, "-") {
				args = append(slices.Clone(args), "(stdin)")
			}
			select {
			case calls <- seen{pos, args}:
			default:
				cancel()
			}
		}
		return nil
	}
	files := fstest.MapFS{"a": {}, "ab": {}, "b=x": {}, "g": {}, "tools": {}}
	r, err := interp.New(
		interp.StdIO(strings.NewReader(""), io.Discard, io.Discard),
		interp.Env(expand.ListEnviron("HOME=/home/me", "PWD=/", "x=tools", "t=a b")),
		interp.Dir("/"),
		interp.ExecHandlers(func(interp.ExecHandlerFunc) interp.ExecHandlerFunc { return run }),
		interp.OpenHandler(func(context.Context, string, int, os.FileMode) (io.ReadWriteCloser, error) {
			return nil, &os.PathError{Op: "open", Path: "x", Err: fs.ErrNotExist}
		}),
		interp.ReadDirHandler2(func(context.Context, string) ([]fs.DirEntry, error) { return files.ReadDir(".") }),
		interp.StatHandler(func(context.Context, string, bool) (fs.FileInfo, error) { return nil, fs.ErrNotExist }),
	)
	require.NoError(t, err)
	_ = r.Run(ctx, file)
	out := map[string][][]string{}
	for {
		select {
		case c := <-calls:
			out[c.pos] = append(out[c.pos], c.args)
		default:
			return out
		}
	}
}

// checkSound compares what is said to be visible with what runs.
func checkSound(t rapid.TB, script string) (checked int) {
	s, err := Parse(script, "")
	if err != nil {
		return 0
	}
	visible := map[string][]string{}
	for _, c := range s.findings().commands {
		if c.literal {
			visible[fmt.Sprintf("%d:%d", c.line, c.col)] = c.args
		}
	}
	if len(visible) == 0 {
		return 0
	}
	for pos, calls := range executed(t, s.File) {
		want, ok := visible[pos]
		if !ok {
			continue
		}
		for _, got := range calls {
			checked++
			if !slices.Equal(want, got) {
				t.Fatalf("%q at %s: visible %q, executed %q", script, pos, want, got)
			}
		}
	}
	return checked
}

// pieces are glued into words and scripts at random.
var (
	pieces = []string{"a", "b=", "=", "~", "/x", ":", "*", "?", "[", "]", "{", "}", ",", "..", "1", "3", `"`, `"`, `'`, `'`, `\`, `$x`, `"$t"`, `$(echo a)`,
		`$'a\tb'`, `$'\x41'`, `$'\'`, `$"q"`, "`echo a`", "$((1+1))", "@(", "|", ")", "-", "--", "é", "\n", " ", "#", "!", "$", "<(a)", "{a,b}", "{1..3}", `\~`, `\"`, "\\\n", "tools"}
	shapes = []string{"%s", "x=1; %s", "if true; then %s; fi", "f() { %s; }; f", "for i in 1 2; do %s; done", "( %s )", "{ %s; }", "echo | %s", "%s | cat", "y=$(%s)", "%s <<< '{}'", "! %s",
		"cat <<E\n$(%s)\nE", "true && %s", "false || %s", "case a in a) %s;; esac", "time %s", "cat <(%s)", "shopt -s expand_aliases extglob nullglob\n%s", "echo | while :; do %s; break; done",
		"alias tools='tools y '\n%s", "alias env=x\nshopt -s expand_aliases\n%s", "x=`%s`", "echo \"`%s`\"", "set -f; %s", "IFS=l; %s", "%s & wait", "exit; %s", "[[ -n $(%s) ]]", "((1+$(%s)))"}
	heads = []string{"tools g l", "command tools g", "env A=b tools", "timeout 5 tools g l", "A=b tools g l", `"tools" g`, `\tools g`, "nice -n 5 tools g", "exec tools g", "{tools,g}", "nohup tools"}
)

func TestWhatIsVisibleIsWhatRuns(t *testing.T) {
	if f := flag.Lookup("rapid.checks"); f.Value.String() == f.DefValue {
		require.NoError(t, f.Value.Set("20000"))
		defer f.Value.Set(f.DefValue)
	}
	checked := 0
	rapid.Check(t, func(t *rapid.T) {
		var word strings.Builder
		for _, p := range rapid.SliceOfN(rapid.SampledFrom(pieces), 0, 8).Draw(t, "word") {
			word.WriteString(p)
		}
		script := rapid.SampledFrom(heads).Draw(t, "head") + " " + word.String()
		for _, shape := range rapid.SliceOfN(rapid.SampledFrom(shapes), 0, 3).Draw(t, "shapes") {
			script = strings.Replace(shape, "%s", script, 1)
		}
		checked += checkSound(t, script)
	})
	require.Positive(t, checked)
}

// FuzzVisible looks for a script of which a visible call runs as another one.
func FuzzVisible(f *testing.F) {
	for _, head := range heads {
		for _, shape := range shapes {
			f.Add(strings.Replace(shape, "%s", head+" a=b", 1))
		}
	}
	for _, p := range pieces {
		f.Add("tools g l " + p)
	}
	f.Fuzz(func(t *testing.T, script string) {
		if len(script) > 2000 {
			return
		}
		s, err := Parse(script, "")
		if err != nil {
			return
		}
		s.findings()
		// The positions in texts that run later are not those of the script, and
		// loops that only end by the clock would make this slow.
		for _, no := range []string{"eval", "trap", "source", ".", "while", "until", "for", "()", "function", "bash", "sh"} {
			if strings.Contains(script, no) {
				return
			}
		}
		checkSound(t, script)
	})
}

// FuzzParse looks for a text that Parse takes and the checks do not agree on.
func FuzzParse(f *testing.F) {
	for _, s := range []string{"", "tools g l", "if true; then", "echo $(( (1) ))", "cat <<E\nx\nE", "`", "${a[1]:-{}", "a\x00b", "\xff"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		slow := time.AfterFunc(5*time.Second, func() { panic(fmt.Sprintf("over 5 seconds: %q", text)) })
		defer slow.Stop()
		s, err := Parse(text, "name")
		if err != nil {
			require.IsType(t, &ParseError{}, err)
			require.NotEmpty(t, err.Error())
			return
		}
		require.NoError(t, CheckNesting(text))
		for _, c := range s.findings().commands {
			require.True(t, c.known || !c.literal)
			require.GreaterOrEqual(t, c.line, 0)
		}
	})
}
