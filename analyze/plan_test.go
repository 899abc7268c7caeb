package analyze

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"mvdan.cc/sh/v3/syntax"

	"github.com/tools-in-shell/tis/approvals"
	"github.com/tools-in-shell/tis/catalog"
)

func testCatalog() *catalog.Catalog {
	yes := true
	schema := json.RawMessage(`{"type":"object","properties":{"branch":{"type":"string"}},"required":["branch"],"additionalProperties":false}`)
	return catalog.New([]catalog.Source{
		{Name: "github", Loaded: true, Tools: []*catalog.Tool{
			{Server: "github", Name: "delete_branch", InputSchema: schema, Hints: catalog.Hints{Destructive: &yes}},
			{Server: "github", Name: "list_pulls", Hints: catalog.Hints{ReadOnly: &yes}},
		}},
		{Name: "docs", Load: func(context.Context) ([]*catalog.Tool, error) { panic("analysis loads nothing") }},
	}, []*catalog.Tool{{Name: "web_fetch"}}, catalog.Options{})
}

// preview judges by name, as no gate has to.
func preview(calls []catalog.Call) ([]approvals.Verdict, error) {
	verdicts := make([]approvals.Verdict, len(calls))
	for i, c := range calls {
		switch {
		case strings.HasPrefix(c.Tool.Name, "delete"):
			verdicts[i].Risk = "needs_approval"
		case c.Tool.Hints.IsReadOnly():
			verdicts[i].Risk = "read_only"
		default:
			verdicts[i].Risk = "changes"
		}
	}
	return verdicts, nil
}

func TestPlan(t *testing.T) {
	for _, r := range []struct{ script, want string }{
		{``, `{"calls":[],"complete":true}`},
		{`tools --help; tools search x; tools search "$x"; tools github --help; tools`, `{"calls":[],"complete":true}`},
		{"tools github list-pulls\ntools GitHub delete_branch branch=x", `{"calls":[{"tool":"tools github list-pulls","input":{},"risk":"read_only","where":"script","line":1},{"tool":"tools github delete-branch","input":{"branch":"x"},"risk":"needs_approval","where":"script","line":2}],"complete":true}`},
		{`for i in 1 2; do tools web-fetch u=1; done`, `{"calls":[{"tool":"tools web-fetch","input":{"u":1},"risk":"changes","where":"script","line":1}],"complete":true}`},
		{`f() { x=$(tools github list-pulls); tools web-fetch; }; f`, `{"calls":[{"tool":"tools github list-pulls","input":{},"risk":"read_only","where":"substitution","line":1},{"tool":"tools web-fetch","input":{},"risk":"changes","where":"function","line":1}],"complete":true}`},
		{`tools github delete-branch branch=$b`, `{"calls":[{"tool":"tools github delete-branch","input":null,"risk":"checked_at_run_time","where":"script","line":1}],"complete":true}`},
		{`echo '{}' | tools github delete-branch`, `{"calls":[{"tool":"tools github delete-branch","input":null,"risk":"checked_at_run_time","where":"script","line":1}],"complete":true}`},
		{`tools web-fetch "url=$u"`, `{"calls":[{"tool":"tools web-fetch","input":null,"risk":"checked_at_run_time","where":"script","line":1}],"complete":true}`},
		{`tools -- github delete-branch branch=$b`, `{"calls":[{"tool":"tools github delete-branch","input":null,"risk":"checked_at_run_time","where":"script","line":1}],"complete":true}`},
		{`timeout 5 tools web-fetch $u`, `{"calls":[{"tool":"tools web-fetch","input":null,"risk":"checked_at_run_time","where":"script","line":1}],"complete":true}`},
		{`tools github delete-branch nope=1`, `{"calls":[{"tool":"tools github delete-branch","input":null,"risk":"checked_at_run_time","where":"script","line":1}],"complete":true}`},
		{`tools docs search-docs q=a`, `{"calls":[{"tool":"tools docs search-docs","input":null,"risk":"checked_at_run_time","where":"script","line":1}],"complete":true}`},
		{`tools() { :; }; tools github list-pulls`, `{"calls":[{"tool":"tools github list-pulls","input":null,"risk":"checked_at_run_time","where":"script","line":1}],"complete":false}`},
	} {
		s, err := Parse(r.script, "")
		require.NoError(t, err)
		plan, err := s.Plan(testCatalog(), preview)
		require.NoError(t, err)
		got, err := json.Marshal(plan)
		require.NoError(t, err)
		require.Equal(t, r.want, string(got), r.script)
	}
}

func TestAPlanIsIncompleteWhereCommandsAreHidden(t *testing.T) {
	for script, want := range map[string]bool{
		`echo a | jq . | grep tools`: true, `[ -e f ] && [ $x = y ]`: true, `[a-z] f`: false, `[$x f`: false, `$x github list-pulls`: false, `"$x"`: false, `$(a)`: false, `tools $x`: false, `tools github $x`: false, `tools "$s" "$t"`: false,
		`eval "$x"`: false, `eval 'echo a'`: true, `eval 'a ('`: false, `source x.sh`: false, `. ./x`: false, `bash x.sh`: false, `bash`: false, `bash -c "$x"`: false, `bash -c 'echo a'`: true,
		`trap "$x" EXIT`: false, `trap 'echo a' EXIT`: true, `trap - EXIT`: true, `ls | xargs rm`: false, `find . -name x`: true, `find . -exec x {} ;`: false, `find $x`: false,
		`sudo ls`: false, `parallel x`: false, `foo tools github`: false, `foo bar`: true, `./x.sh`: false, `/usr/bin/jq .`: true, `python3 -c 'os.system("tools x")'`: false, `env $x`: false, `env A=$x foo`: false,
		`command $x`: false, `command -v $x`: true, `builtin $x`: false, `exec $x`: false, `nice $x`: false, `nice -n 5 $x`: false, `nohup $x`: false, `env A=b $x`: false, `env`: true, `exec $x; $y`: false,
		`env() { :; }; env foo`: false, `env() { :; }; env tools web-fetch`: false, `foo() { :; }; sh -c 'foo tools web-fetch'`: true, `bash() { :; }; bash -c 'tools web-fetch'`: false, `xargs() { :; }; xargs`: false, `tools -- github $x`: false,
		`timeout $x tools github list-pulls`: false, `nice -x tools a`: false, `timeout 5 xargs`: false, `alias x=y`: false, `mapfile -C f x`: false, `command -v tools`: true, `type tools`: true, `f() { :; }; f tools`: true,
		`exec >f`: true, `x=$y`: true, `if false; then $x; fi`: true, `f() { $x; }`: true, `f() { $x; }; f`: false,
	} {
		s, err := Parse(script, "")
		require.NoError(t, err, script)
		plan, err := s.Plan(testCatalog(), preview)
		require.NoError(t, err)
		require.Equal(t, want, plan.Complete, script)
	}
}

func TestPlanReturnsThePreviewsError(t *testing.T) {
	s, err := Parse("tools web-fetch", "")
	require.NoError(t, err)
	failed := errors.New("no store")
	_, err = s.Plan(testCatalog(), func([]catalog.Call) ([]approvals.Verdict, error) { return nil, failed })
	require.ErrorIs(t, err, failed)
	_, err = s.Plan(testCatalog(), func([]catalog.Call) ([]approvals.Verdict, error) { return nil, nil })
	require.Error(t, err)
}

func TestVisibleResolvesAndChecks(t *testing.T) {
	s, err := Parse("x=$(tools docs search-docs q=a)\n  tools github delete-branch branch=x\ntools github delete-branch nope=1\ntools nope\ntools --help\ntools docs other", "")
	require.NoError(t, err)
	v := s.Visible(testCatalog())
	require.Len(t, v, 5)
	require.Equal(t, "docs", v[0].NeedsLoad)
	require.Equal(t, InSubstitution, v[0].Where)
	require.Nil(t, v[0].Call)
	require.Equal(t, "delete_branch", v[1].Call.Tool.Name)
	require.JSONEq(t, `{"branch":"x"}`, string(v[1].Call.Input))
	require.Equal(t, [2]int{2, 3}, [2]int{v[1].Line, v[1].Col})
	require.Nil(t, v[1].Err)
	require.Equal(t, catalog.InvalidInput, v[2].Err.Code)
	require.Nil(t, v[2].Call)
	require.Equal(t, catalog.UnknownCommand, v[3].Err.Code)
	require.Equal(t, []string{"docs"}, s.NamesLoads(testCatalog()))
}

func TestParseErrorsTellWhere(t *testing.T) {
	_, err := Parse("tools misc note\nif true; then", "x.sh")
	var e *ParseError
	require.ErrorAs(t, err, &e)
	require.Equal(t, 2, e.Line)
	require.Equal(t, 10, e.Col)
	require.Regexp(t, "^x.sh:2:10: .*then", err.Error())
	_, err = Parse(strings.Repeat("#", MaxSize+1), "")
	require.ErrorAs(t, err, &e)
	_, err = Parse("echo ${a:h}${(f)b}", "")
	require.ErrorAs(t, err, &e)
	require.Equal(t, 1, e.Line)
}

func TestStdinAttached(t *testing.T) {
	for script, want := range map[string]string{
		`a | b`: "b", `a | b | c`: "b c", `a |& b`: "b", `a | { b; }`: "", `a | (b)`: "", `a | while b; do c; done`: "", `a | time b`: "b", `a | time -p b`: "b",
		`a | time { b; }`: "", `a | (b | c)`: "c", `a | { b | c; } | d`: "c d", `a <f`: "a", `a 0<f`: "a", `a <>f`: "a", `a <<<x`: "a", "a <<E\nE": "a", "a <<-E\nE": "a", `a <&3`: "a", `a <&-`: "a", `a 0>&1`: "a",
		`a >f`: "", `a 3<f`: "", `a 2>&1`: "", `{ a; } <f`: "", `f() { a | b; }`: "b", `x=$(a | b)`: "b", `a <(b | c)`: "c", `echo "$(a <f)"`: "a", "cat <<E\n$(a | b)\nE": "b cat",
		`a | b && c`: "b", `a && b | c`: "c", `! a | b`: "b", `a | b &`: "b", `a >(b)`: "", `time a <f`: "a", `$x <f`: "", `a | time b | c`: "b c",
	} {
		s, err := Parse(script, "")
		require.NoError(t, err, script)
		var got []string
		StdinAttached(s.File, func(c *syntax.CallExpr) {
			if lit := c.Args[0].Lit(); lit != "" {
				got = append(got, lit)
			}
		})
		require.ElementsMatch(t, strings.Fields(want), got, script)
	}
}
