package catalog_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

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

func TestSchemaMessagesNameThePlace(t *testing.T) {
	for input, text := range map[string]string{
		`{}`: "'a'", `{"a":"x"}`: "$.a", `{"a":1,"b":2}`: "'b'", `[1]`: "an array",
	} {
		req, rerr := resolve(t, "", "github", "strict")
		require.Nil(t, rerr)
		err := req.Call.Tool.Check(json.RawMessage(input))
		require.NotNil(t, err, input)
		require.Contains(t, err.Message, text)
		require.Contains(t, err.Message, "tools github strict --help")
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
		"github list-pulls x --help": `"perPage"`, "search list pull": "tools github list-pulls", "search lst pulls": "no tool", "search pul": "list-pulls", "search zzz": "tools --help",
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

func TestRealCatalogsLoadAndExplainThemselves(t *testing.T) {
	files, err := filepath.Glob("../testdata/catalogs/*.json")
	require.NoError(t, err)
	require.Len(t, files, 10)
	for _, file := range files {
		f, err := os.Open(file)
		require.NoError(t, err)
		servers, top, err := catalog.ParseCatalogFile(f, file)
		f.Close()
		require.NoError(t, err)
		c := catalog.New(servers, top, catalog.Options{})
		for _, s := range c.Servers() {
			for _, tl := range s.Tools {
				require.Contains(t, tl.Help(), tl.Command())
				require.Empty(t, tl.SchemaWarning(), tl.Key())
				require.Len(t, tl.Digest(), 64)
			}
		}
	}
}

func TestCanonicalComparesByValue(t *testing.T) {
	same := [][2]string{{`{"b":1,"a":2}`, `{ "a":2.0, "b":1e0 }`}, {`{"x":100}`, `{"x":1e2}`}, {`{"x":-0}`, `{"x":0}`}, {`{"x":"é"}`, `{"x":"\u00e9"}`}}
	differ := [][2]string{{`{"x":9007199254740993}`, `{"x":9007199254740992}`}, {`{"x":1}`, `{"x":"1"}`}, {`{"x":1e400}`, `{"x":1e401}`}, {`{"x":null}`, `{}`}}
	canon := func(s string) string {
		b, err := catalog.Canonical(json.RawMessage(s))
		require.NoError(t, err)
		return string(b)
	}
	for _, p := range same {
		require.Equal(t, canon(p[0]), canon(p[1]))
	}
	for _, p := range differ {
		require.NotEqual(t, canon(p[0]), canon(p[1]))
	}
}

func TestHintsAreTakenAsDeclared(t *testing.T) {
	for annotations, readOnly := range map[string]bool{
		`{}`: false, `{"readOnlyHint":true}`: true, `{"readOnlyHint":true,"destructiveHint":true}`: false,
	} {
		tl, err := catalog.ToolFromMCP("s", json.RawMessage(`{"name":"x","annotations":`+annotations+`}`))
		require.NoError(t, err)
		require.Equal(t, readOnly, tl.Hints.IsReadOnly(), annotations)
	}
	tl, err := catalog.ToolFromMCP("s", json.RawMessage(`{"name":"x","annotations":{"readOnlyHint":false,"idempotentHint":false}}`))
	require.NoError(t, err)
	require.Nil(t, tl.Hints.ReadOnly)
}

func TestAnyObjectReachesTheToolAsItIs(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := rapid.MapOf(rapid.String(), rapid.OneOf(rapid.Map(rapid.Int(), func(n int) any { return n }), rapid.Map(rapid.String(), func(s string) any { return s }), rapid.Just[any](nil))).Draw(t, "m")
		for k, v := range m {
			if s, _ := v.(string); strings.ContainsRune(k, 0) || strings.ContainsRune(s, 0) {
				delete(m, k)
			}
		}
		raw, err := json.Marshal(m)
		require.NoError(t, err)
		for _, r := range []func() (catalog.Request, *catalog.Error){
			func() (catalog.Request, *catalog.Error) {
				return sample().Resolve(context.Background(), []string{"github", "get-issue", string(raw)}, nil, nil)
			},
			func() (catalog.Request, *catalog.Error) {
				return sample().Resolve(context.Background(), []string{"github", "get-issue"}, strings.NewReader(string(raw)), nil)
			},
		} {
			req, rerr := r()
			require.Nil(t, rerr)
			require.JSONEq(t, string(raw), string(req.Call.Input))
		}
	})
}

func TestAnyStringReachesAStringKeyAsItIs(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := strings.ReplaceAll(rapid.String().Draw(t, "s"), "\x00", "")
		req, rerr := sample().Resolve(context.Background(), []string{"github", "list-pulls", "s=" + s}, nil, nil)
		require.Nil(t, rerr)
		var got struct{ S string }
		require.NoError(t, json.Unmarshal(req.Call.Input, &got))
		require.Equal(t, s, got.S)
	})
}
