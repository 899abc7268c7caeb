package catalog_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tools-in-shell/tis/catalog"
)

func tool(server, name, schema string) *catalog.Tool {
	return &catalog.Tool{Server: server, Name: name, Description: "Does " + name + ". More.", InputSchema: json.RawMessage(schema)}
}

const typed = `{"type":"object","$defs":{"s":{"type":"string"}},"properties":{
	"s":{"type":"string"},"n":{"type":"integer"},"ns":{"type":["string","null"]},"ref":{"$ref":"#/$defs/s"},"any":{},
	"all":{"allOf":[{"type":"string"},{"minLength":1}]},"one":{"anyOf":[{"type":"string"},{"type":"null"}]},"mix":{"anyOf":[{"type":"string"},{"type":"integer"}]},
	"e":{"enum":["1","2"]},"c":{"const":"7"},"perPage":{"type":"integer"},"under_score":{"type":"string"}}}`

func sample() *catalog.Catalog {
	return catalog.New([]catalog.Source{
		{Name: "github", Loaded: true, Tools: []*catalog.Tool{
			tool("github", "list_pulls", typed), tool("github", "getIssue", `{}`), tool("github", "same_name", `{}`), tool("github", "same-name", `{}`),
			tool("github", "strict", `{"type":"object","properties":{"a":{"type":"integer"}},"required":["a"],"additionalProperties":false}`),
			tool("github", "broken", `{"type":"nonsense"}`), tool("github", "remote", `{"$ref":"https://example.com/x.json"}`)}},
		{Name: "both", Loaded: true, Tools: []*catalog.Tool{tool("both", "inner", `{}`)}},
	}, []*catalog.Tool{tool("", "web_fetch", typed), tool("", "both", `{}`), tool("", "bash", `{}`), tool("", "ask_user", `{}`), tool("", "search", `{}`)},
		catalog.Options{KeepVisible: []string{"web_fetch", "nothing_there"}})
}

func resolve(t *testing.T, stdin string, args ...string) (catalog.Request, *catalog.Error) {
	t.Helper()
	if stdin == "" {
		return sample().Resolve(context.Background(), args, nil, nil)
	}
	return sample().Resolve(context.Background(), args, strings.NewReader(stdin), nil)
}

func TestResolveCalls(t *testing.T) {
	for _, c := range []struct{ stdin, line, tool, input string }{
		{"", "github list-pulls", "github list_pulls", `{}`},
		{"", "GitHub List_Pulls", "github list_pulls", `{}`},
		{"", "github get-issue", "github getIssue", `{}`},
		{"", "github same_name", "github same_name", `{}`},
		{"", "github same-name", "github same-name", `{}`},
		{"", "web-fetch s=42", "web_fetch", `{"s":"42"}`},
		{"", "both inner", "both inner", `{}`},
		{"", "both a=1", "both", `{"a":1}`},
		{"", `search {"q":1}`, "search", `{"q":1}`},
		{"", "search q=1", "search", `{"q":1}`},
		{"", "github list-pulls n=7 s=7 ns=7 ref=7 any=7", "github list_pulls", `{"n":7,"s":"7","ns":"7","ref":"7","any":7}`},
		{"", "github list-pulls all=7 one=7 mix=7 e=1 c=7", "github list_pulls", `{"all":"7","one":"7","mix":7,"e":"1","c":"7"}`},
		{"", "github list-pulls --per-page 5 --under-score x", "github list_pulls", `{"perPage":5,"under_score":"x"}`},
		{"", "github list-pulls PERPAGE=5 other-key=1", "github list_pulls", `{"perPage":5,"other-key":1}`},
		{"", "github list-pulls --flag --n -5 --s=a=b -- --last", "github list_pulls", `{"flag":true,"n":-5,"s":"a=b","last":true}`},
		{"", `github list-pulls any=[1,2] x={"a":1.10} y=nope z=`, "github list_pulls", `{"any":[1,2],"x":{"a":1.10},"y":"nope","z":""}`},
		{"", `github list-pulls any=9007199254740993 x=1e400 y=1.10`, "github list_pulls", `{"any":9007199254740993,"x":1e400,"y":1.10}`},
		{`{"a":1,"b":2}`, `github list-pulls {"b":3,"d":4} d=5`, "github list_pulls", `{"a":1,"b":3,"d":5}`},
		{` {"a":1, "a":2} `, "github list-pulls -", "github list_pulls", `{"a":2}`},
		{" \n", "github list-pulls", "github list_pulls", `{}`},
	} {
		t.Run(c.line, func(t *testing.T) {
			req, err := resolve(t, c.stdin, strings.Split(c.line, " ")...)
			require.Nil(t, err)
			require.NotNil(t, req.Call, req.Text)
			require.Equal(t, c.tool, req.Call.Tool.Key())
			require.Equal(t, c.input, string(req.Call.Input))
		})
	}
}

func TestResolveRefusals(t *testing.T) {
	for _, c := range []struct{ stdin, line, code, text string }{
		{"", "nope", "unknown_command", "tools --help"},
		{"", "githib x", "unknown_command", "github"},
		{"", "github list-pull", "unknown_command", "list-pulls"},
		{"", "github Same_Name", "unknown_command", "same_name or"},
		{"", "bash x=1", "unknown_command", "call it directly"},
		{"", "ask-user x=1", "unknown_command", "call it directly"},
		{"", "github list-pulls stray", "invalid_input", "stray"},
		{"", "github list-pulls {bad", "invalid_input", "not JSON"},
		{"", "github list-pulls [1]", "invalid_input", "an array"},
		{"", "github list-pulls s=\xff", "invalid_input", "UTF-8"},
		{"[1]", "github list-pulls", "invalid_input", "an array"},
		{`{"a":1} {"b":2}`, "github list-pulls", "invalid_input", "follows"},
		{"{\"a\":\"\xff\"}", "github list-pulls", "invalid_input", "UTF-8"},
		{"{\"a\":\"\x00\"}", "github list-pulls", "invalid_input", "NUL"},
		{" ", "github list-pulls -", "invalid_input", "empty"},
		{strings.Repeat(" ", 5<<20), "github list-pulls", "invalid_input", "4 MiB"},
	} {
		t.Run(c.line, func(t *testing.T) {
			_, err := resolve(t, c.stdin, strings.Split(c.line, " ")...)
			require.NotNil(t, err)
			require.Equal(t, c.code, string(err.Code))
			require.Contains(t, err.Message, c.text)
			require.NotContains(t, err.Line(), "\n")
		})
	}
}

func TestInvalidSchemasWarnAndStayCallable(t *testing.T) {
	for _, name := range []string{"broken", "remote"} {
		req, err := resolve(t, "", "github", name, "x=1")
		require.Nil(t, err)
		require.Nil(t, req.Call.Tool.Check(req.Call.Input))
		require.NotEmpty(t, req.Call.Tool.SchemaWarning())
	}
	require.Contains(t, strings.Join(sample().Warnings(), "\n"), "nothing_there")
}

func TestHelpAndSearch(t *testing.T) {
	for line, has := range map[string]string{
		"--help": "github (7 tools)", "help": "web-fetch", "github": "list-pulls", "github --help": "getIssue",
		"github list-pulls x --help": `"perPage"`, "search list pull": "tools github list-pulls", "search lst pulls": "list-pulls", "search pul": "list-pulls", "search zzz": "tools --help",
	} {
		req, err := resolve(t, "", strings.Split(line, " ")...)
		require.Nil(t, err, line)
		require.Contains(t, req.Text, has, line)
	}
}

func TestOnDemandServersLoadOnceTogether(t *testing.T) {
	var loads atomic.Int32
	fail := atomic.Bool{}
	fail.Store(true)
	c := catalog.New([]catalog.Source{{Name: "docs", Load: func(context.Context) ([]*catalog.Tool, error) {
		loads.Add(1)
		if fail.Load() {
			return nil, errors.New("no answer")
		}
		return []*catalog.Tool{tool("docs", "find", `{}`)}, nil
	}}}, nil, catalog.Options{})
	req, err := c.Resolve(context.Background(), []string{"--help"}, nil, nil)
	require.Nil(t, err)
	require.Contains(t, req.Text, "docs (not loaded)")
	require.Zero(t, loads.Load())
	_, needs, _ := c.ResolveLiteral([]string{"docs", "find"})
	require.Equal(t, "docs", needs)
	_, err = c.Resolve(context.Background(), []string{"docs", "find"}, nil, nil)
	require.Equal(t, catalog.Unavailable, err.Code)
	require.True(t, err.Retryable)
	fail.Store(false)
	loads.Store(0)
	var wg sync.WaitGroup
	for range 20 {
		wg.Go(func() {
			_, err := c.Resolve(context.Background(), []string{"docs", "find"}, nil, nil)
			if err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	require.EqualValues(t, 1, loads.Load())
}
