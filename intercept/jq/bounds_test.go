package jq_test

import (
	"bytes"
	"context"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tools-in-shell/tis/intercept/jq"
)

// Each of these would take the process with it, or all of its memory.
func TestWhatGrowsWithoutEndIsStopped(t *testing.T) {
	const tree = "reduce range(40) as $i (1; [., .])" // a million million leaves
	deep := strings.Repeat("[", 9000) + strings.Repeat("]", 9000)
	for name, c := range map[string]struct {
		program, in string
		exit        int
		says        string
	}{
		"parentheses":                {strings.Repeat("(", 200_000) + "1" + strings.Repeat(")", 200_000), "", 3, "nested too deeply"},
		"minus signs":                {". | " + strings.Repeat("-", 300_000) + "1", "", 3, "too large"},
		"sums":                       {"1" + strings.Repeat("+1", 200_000), "", 3, "too large"},
		"indices":                    {"." + strings.Repeat("[0]", 200_000), "", 3, "too large"},
		"functions":                  {strings.Repeat("def f: ", 60_000) + strings.Repeat("1;", 60_000) + "f", "", 3, "too large"},
		"interpolations":             {`"` + strings.Repeat(`\(`, 30_000) + "1" + strings.Repeat(")", 30_000) + `"`, "", 3, "nested too deeply"},
		"tries":                      {strings.Repeat("try ", 150_000) + "1", "", 3, "too large"},
		"megabytes":                  {strings.Repeat(" ", 2<<20) + "1", "", 3, "too large"},
		"deep input":                 {".", strings.Repeat("[", 200_000) + strings.Repeat("]", 200_000), 5, "depth limit"},
		"deep comparison":            {"reduce range(100000) as $i (0; [.]) | . == .", "null", 5, "nested too deeply"},
		"deep sort":                  {"[range(2) | reduce range(100000) as $i (0; [.])] | sort", "null", 5, "nested too deeply"},
		"deep contains":              {"(reduce range(100000) as $i (0; [.])) as $x | $x | contains($x)", "null", 5, "nested too deeply"},
		"deep unique":                {"[range(2) | reduce range(100000) as $i (0; {a: .})] | unique", "null", 5, "nested too deeply"},
		"string doubling":            {`reduce range(64) as $i ("x"; . + .) | length`, "null", 5, "the string is too long"},
		"array doubling":             {`reduce range(64) as $i ([range(1000)]; . + .) | length`, "null", 5, "the array is too long"},
		"string repetition":          {`"x" * 100000000000`, "null", 5, "too long"},
		"far index":                  {`.[1000000000000] = 1`, "null", 5, "too large"},
		"squares":                    {`reduce range(200) as $i (2; . * .)`, "null", 0, ""},
		"endless stack":              {"def f: 1 + f; f", "null", 5, "calls itself too deeply"},
		"endless list":               {`[range(1e12) | "x" * 1000000]`, "null", 5, "too much memory"},
		"tree that shares: print":    {tree, "null", 5, ""},
		"tree that shares: compare":  {tree + " | . == .", "null", 5, "too large"},
		"tree that shares: sort":     {tree + " | sort", "null", 5, "too large"},
		"tree that shares: flatten":  {tree + " | flatten", "null", 5, "too large"},
		"tree that shares: tojson":   {tree + " | tojson", "null", 5, "too long"},
		"tree that shares: contains": {tree + " | contains(.)", "null", 5, "too large"},
		"tree that shares: index":    {tree + " | .[.]", "null", 5, "too large"},
		"tree that shares: minus":    {tree + " | . - .", "null", 5, "too large"},
		"tree that shares: merge":    {"reduce range(40) as $i (1; {a: ., b: .}) | . * .", "null", 5, "too large"},
		"tree that shares: delpaths": {tree + " | delpaths([[.]])", "null", 5, "too large"},
		"text doubling":              {`reduce range(64) as $i ("x"; "\(.)\(.)") | length`, "null", 5, "the string is too long"},
		"join of one string":         {`("x" * 100000000) as $x | [range(1000) | $x] | join("") | length`, "null", 5, "the string is too long"},
		"add of one string":          {`("x" * 100000000) as $x | [range(1000) | $x] | add | length`, "null", 5, "the string is too long"},
		"csv of one string":          {`("x" * 100000000) as $x | [range(1000) | $x] | @csv | length`, "null", 5, "the string is too long"},
		"gsub with a long string":    {`("x" * 100000000) as $x | "a" * 1000 | gsub("a"; $x) | length`, "null", 5, "the string is too long"},
		"characters":                 {`"x" * 100000000 | explode | length`, "null", 5, "the array is too long"},
		"split":                      {`"x" * 100000000 / "" | length`, "null", 5, "the array is too long"},
		"transpose":                  {"[[range(100000)]] + [range(100000) | []] | transpose | length", "null", 5, "the array is too long"},
		"many places":                {`"a" * 100000 | indices("aa" * 20000) | length`, "null", 0, ""},
		"laborious regex":            {`"a{1000}" * 1000 as $r | "a" * 1000000 | test($r)`, "null", 5, "too long"},
		"catastrophic regex":         {`("a" * 20000) | test("(a*)*b")`, "null", 0, ""},
		"deep and read":              {"[..] | length", deep, 0, ""},
		"deep and flattened":         {"flatten", deep, 0, ""},
	} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), 100*time.Second)
			if c.exit != 0 && c.says == "" { // only the end of its time stops it
				cancel()
				ctx, cancel = context.WithTimeout(t.Context(), 300*time.Millisecond)
			}
			defer cancel()
			out, errOut, exit := invocation{Args: []string{"-c", c.program}, In: c.in}.run(ctx)
			assert.Equal(t, c.exit, exit, "%.300s", errOut)
			assert.Contains(t, errOut, c.says)
			if c.exit != 0 && c.says != "" {
				assert.Empty(t, out)
				assert.LessOrEqual(t, strings.Count(errOut, "\n"), 2, "%.300s", errOut)
			}
		})
	}
}

// A cancelled context ends whatever is under way soon, also a wait for input.
func TestCancellation(t *testing.T) {
	for _, program := range []string{"def f: f; f", "last(repeat(1))", "last(range(1e18))", "[limit(1e15; repeat(1))]", "until(false; .)", "range(1e18) | empty", "first(repeat(1) | select(. > 1))"} {
		t.Run(program, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
			defer cancel()
			from := time.Now()
			_, errOut, exit := invocation{Args: []string{"-n", program}}.run(ctx)
			assert.Equal(t, 5, exit)
			assert.Empty(t, errOut)
			assert.Less(t, time.Since(from), 10*time.Second)
		})
	}
	for _, args := range [][]string{{"."}, {"-n", "input"}, {"-n", "[inputs]"}, {"-R", "."}, {"-s", "."}, {"--stream", "."}} {
		t.Run("waiting: "+strings.Join(args, " "), func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
			defer cancel()
			in, silent := io.Pipe()
			defer silent.Close()
			from := time.Now()
			var out bytes.Buffer
			assert.Equal(t, 5, jq.Main(ctx, args, in, &out, io.Discard, nil, nil))
			assert.Empty(t, out.String())
			assert.Less(t, time.Since(from), 10*time.Second)
		})
	}
}

// Without a way to open files no program reaches one.
func TestNoFileIsReachedButThroughTheOpener(t *testing.T) {
	for _, args := range [][]string{
		{".", "/etc/passwd"}, {"-f", "/etc/passwd"}, {"--slurpfile", "x", "/etc/passwd", "-n", "$x"}, {"--rawfile", "x", "/etc/passwd", "-n", "$x"},
		{"-L", "/etc", "-n", `import "passwd" as $p; $p`}, {"-L", "/", "-n", `include "etc/passwd"; 1`}, {"-n", `"/etc/passwd" | modulemeta`}, {"-n", `import "/etc/passwd" as p; 1`},
	} {
		var out, errOut bytes.Buffer
		exit := jq.Main(t.Context(), args, strings.NewReader("1"), &out, &errOut, nil, nil)
		require.NotZero(t, exit, "%q", args)
		require.NotContains(t, out.String()+errOut.String(), "root:", "%q", args)
	}
	var out bytes.Buffer
	require.Zero(t, jq.Main(t.Context(), []string{"-nc", "[env, $ENV]"}, strings.NewReader(""), &out, io.Discard, []string{"A=b"}, nil))
	require.Equal(t, `[{"A":"b"},{"A":"b"}]`+"\n", out.String(), "only the script's own environment")
}

func FuzzMain(f *testing.F) {
	for _, c := range golden(f) {
		if n := len(c.Args); n > 0 {
			f.Add(c.Args[n-1], c.In)
		}
	}
	f.Fuzz(func(t *testing.T, program, in string) {
		ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
		defer cancel()
		_, errOut, exit := invocation{Args: []string{"-c", program}, In: in}.run(ctx)
		require.Contains(t, []int{0, 1, 2, 3, 4, 5}, min(exit, 5), errOut)
	})
}
