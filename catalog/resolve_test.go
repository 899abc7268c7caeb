package catalog_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"mvdan.cc/sh/v3/shell"

	"github.com/tools-in-shell/tis/catalog"
)

// source is a loaded server with tools that take anything.
func source(name string, tools ...string) catalog.Source {
	src := catalog.Source{Name: name, Loaded: true}
	for _, t := range tools {
		src.Tools = append(src.Tools, tool(name, t, `{}`))
	}
	return src
}

func tops(names ...string) []*catalog.Tool {
	var out []*catalog.Tool
	for _, n := range names {
		out = append(out, tool("", n, `{}`))
	}
	return out
}

// meaning is a line's outcome in a word: the tool it calls, "help", "plan" or
// the error's code.
func meaning(c *catalog.Catalog, stdin, line string) string {
	args, err := shell.Fields(line, nil)
	if err != nil {
		return err.Error()
	}
	req, fault := c.Resolve(context.Background(), args, nil, nil)
	if stdin != "" {
		req, fault = c.Resolve(context.Background(), args, strings.NewReader(stdin), nil)
	}
	switch {
	case fault != nil:
		return string(fault.Code)
	case req.Plan:
		return "plan"
	case req.Call != nil:
		return req.Call.Tool.Key()
	case strings.HasPrefix(req.Text, "tools "), strings.HasPrefix(req.Text, "no tool matches"):
		if strings.Contains(req.Text, "Input schema:") {
			return "help of a tool"
		}
		return "found"
	case strings.Contains(req.Text, "Find:"):
		return "help"
	}
	return "help of a server"
}

func TestBuiltInWordsAndRealToolsOfTheirNames(t *testing.T) {
	with := catalog.New([]catalog.Source{source("s", "t")}, tops("search", "plan", "scripts", "help"), catalog.Options{})
	without := catalog.New([]catalog.Source{source("s", "t")}, nil, catalog.Options{})
	server := catalog.New([]catalog.Source{source("search", "web")}, nil, catalog.Options{})
	for _, c := range []struct {
		on                  *catalog.Catalog
		stdin, line, wanted string
	}{
		{with, "", "search", "invalid_input"},
		{with, "", "search some words", "found"},
		{with, "", "search '{}'", "search"},
		{with, "", "search q=1", "search"},
		{with, "", "search --q 1", "search"},
		{with, `{"q":1}`, "search", "search"},
		{with, "", "search --help", "help of a tool"},
		{with, "", "plan", "plan"},
		{with, "", "plan -- a=1", "plan"},
		{with, `{}`, "help", "help"},
		{with, "", "help", "help"},
		{with, "", "help s", "help of a server"},
		{with, "", "help s t", "help of a tool"},
		{with, "", "scripts", "scripts"},
		{with, "", "scripts stray", "unknown_command"},
		{without, "", "search a=b", "found"},
		{without, "", "search --help", "help"},
		{without, "", "SEARCH t", "found"},
		{without, "echo", "plan", "plan"},
		{without, "", "plan -", "plan"},
		{without, "", "plan more", "invalid_input"},
		{without, "", "scripts", "unknown_command"},
		{without, "", "help nope", "unknown_command"},
		{without, "", "-h", "help"},
		{without, "", "", "help"},
		{without, "", "-- --help", "help"},
		{server, "", "search web", "search web"},
		{server, "", "search other words", "found"},
		{server, "", "search --help", "help of a server"},
	} {
		t.Run(c.line, func(t *testing.T) { require.Equal(t, c.wanted, meaning(c.on, c.stdin, c.line)) })
	}
}

func TestServerAndToolOfOneName(t *testing.T) {
	loads := 0
	late := catalog.Source{Name: "late", Load: func(context.Context) ([]*catalog.Tool, error) {
		loads++
		return []*catalog.Tool{tool("late", "inner", `{}`)}, nil
	}}
	c := catalog.New([]catalog.Source{source("both", "inner"), late}, tops("both", "late"), catalog.Options{})
	for _, x := range []struct{ line, wanted string }{
		{"both", "both"}, {"both inner", "both inner"}, {"both INNER", "both inner"}, {"both --help", "help of a server"},
		{"both '{}'", "both"}, {"both a=1", "both"}, {"both --inner", "both"}, {"both stray", "invalid_input"},
		{"late a=1", "late"},
	} {
		require.Equal(t, x.wanted, meaning(c, "", x.line), x.line)
	}
	require.Zero(t, loads)
	_, needs, err := c.ResolveLiteral([]string{"late", "inner"})
	require.Nil(t, err)
	require.Equal(t, "late", needs)
	require.Equal(t, "late inner", meaning(c, "", "late inner"))
	require.Equal(t, 1, loads)
}

func TestSpellingsThatCouldMeanTwoThingsAreNeverPicked(t *testing.T) {
	c := catalog.New([]catalog.Source{source("a_b", "getIssue", "GetIssue", "list"), source("a-b", "x_y", "x-y", "listAll", "list_all")}, tops("k_l", "k-l"), catalog.Options{})
	for _, x := range []struct{ line, wanted string }{
		{"a_b list", "a_b list"}, {"a-b x_y", "a-b x_y"}, {"a-b x-y", "a-b x-y"}, {"A-B list", "unknown_command"}, {"a-b X-Y", "unknown_command"},
		{"a_b getIssue", "a_b getIssue"}, {"a_b get-issue", "unknown_command"}, {"a_b getissue", "unknown_command"},
		{"a-b list-all", "a-b list_all"}, {"a-b listAll", "a-b listAll"}, {"k-l", "k-l"}, {"k_l", "k_l"}, {"K-l", "unknown_command"},
	} {
		require.Equal(t, x.wanted, meaning(c, "", x.line), x.line)
	}
	_, err := c.Resolve(context.Background(), []string{"a-b", "X-Y"}, nil, nil)
	require.Contains(t, err.Message, "tools a-b x_y or tools a-b x-y")
}

func TestUnknownNamesGetNearSpellings(t *testing.T) {
	c := catalog.New([]catalog.Source{source("github", "list_pulls", "get_pull", "getIssue", "create_issue"), source("docs", "search_docs")}, tops("web_fetch"), catalog.Options{})
	for line, says := range map[string]string{
		"githob list-pulls":          "did you mean github?",
		"web-fech":                   "did you mean web-fetch?",
		"serach x":                   "did you mean search?",
		"list-pulls":                 "did you mean tools github list-pulls?",
		"github.list_pulls":          "did you mean tools github list-pulls?",
		"mcp_github__get_issue":      "did you mean tools github getIssue?",
		"mcp__docs__search_docs q=1": "did you mean tools docs search-docs?",
		"github list-pull":           "did you mean list-pulls",
		"github get-isue":            "did you mean getIssue",
		"github zzzzzz":              `github has no tool "zzzzzz"; run tools github --help`,
		"zzzzzz":                     `no server or tool is called "zzzzzz"; run tools --help`,
	} {
		_, err := c.Resolve(context.Background(), strings.Fields(line), nil, nil)
		require.NotNil(t, err, line)
		require.Equal(t, catalog.UnknownCommand, err.Code)
		require.Contains(t, err.Message, says)
	}
}

func TestHelpAnywhereOnATalkingLine(t *testing.T) {
	c := catalog.New([]catalog.Source{source("s", "t")}, nil, catalog.Options{})
	for line, wanted := range map[string]string{
		"s t --help": "help of a tool", "s t a=1 --help b=2": "help of a tool", "s t '{bad' --help": "help of a tool", "s t -h": "help of a tool",
		"s t --text -h": "s t", "s t --text --help": "help of a tool", "s t --text=x -h": "help of a tool", "s t help=1": "s t",
		"s --help t": "help of a server", "s": "help of a server", "s -- t": "s t",
	} {
		require.Equal(t, wanted, meaning(c, "", line), line)
	}
}

func TestKeepVisibleToolsAreInBothPlaces(t *testing.T) {
	srv := source("github", "list_pulls", "merge")
	srv.Tools[1].Policy.StaysDirect = true
	late := catalog.Source{Name: "late", Load: func(context.Context) ([]*catalog.Tool, error) { return nil, nil }}
	c := catalog.New([]catalog.Source{srv, late}, tops("web_fetch", "bash", "ask_user", "other"),
		catalog.Options{KeepVisible: []string{"web-fetch", "mcp_github__list_pulls", "bash", "list_pulls", "mcp_late__x", "gone"}})
	var direct []string
	for _, x := range c.Direct() {
		direct = append(direct, x.RegistryName())
	}
	require.ElementsMatch(t, []string{"web_fetch", "bash", "ask_user", "mcp_github__list_pulls", "mcp_github__merge"}, direct)
	require.Len(t, c.Top(), 2)
	require.Len(t, c.Servers()[0].Tools, 1)
	require.Equal(t, "web_fetch", meaning(c, "", "web-fetch"))
	require.Equal(t, "github list_pulls", meaning(c, "", "github list-pulls"))
	for _, line := range []string{"bash", "ask-user", "github merge"} {
		_, err := c.Resolve(context.Background(), strings.Fields(line), nil, nil)
		require.Equal(t, catalog.UnknownCommand, err.Code)
		require.Contains(t, err.Message, "call it directly")
	}
	require.Equal(t, []string{`keep_visible names "gone", which is no tool`, `keep_visible names "list_pulls", which is no tool`}, c.Warnings())
}

func TestToolsOfServersMoveWhateverTheirNamesAre(t *testing.T) {
	for name, direct := range map[string]bool{"bash": true, "Tool-Search": true, "spawn_agent": true, "write_file": true, "read-file": true, "web_fetch": false} {
		require.Equal(t, direct, catalog.IsDirect(&catalog.Tool{Name: name}), name)
		require.False(t, catalog.IsDirect(&catalog.Tool{Name: name, Server: "s"}), name)
	}
	for _, p := range []catalog.Policy{{StaysDirect: true}, {ClientSide: true}, {NeverDeferrable: true}} {
		require.True(t, catalog.IsDirect(&catalog.Tool{Name: "x", Server: "s", Policy: p}))
	}
	require.False(t, catalog.IsDirect(&catalog.Tool{Name: "x", Policy: catalog.Policy{RequiresApproval: true}}))
}

func TestHostileNamesStayOnOneLineAndResolve(t *testing.T) {
	names := []string{"a\nb", "sp ace", "quo'te", "\x1b[31mred", "-dash", "ünï", "a\u2028b", "x\"y", "$(id)", "a=b", "*", "{z", strings.Repeat("long", 500), "\u202eflip"}
	var srv catalog.Source
	srv.Name, srv.Loaded = "ev\nil $x", true
	for _, n := range names {
		srv.Tools = append(srv.Tools, tool(srv.Name, n, `{"type":"object","required":["a\nb"],"properties":{"a\nb":{"type":"integer"}}}`))
	}
	c := catalog.New([]catalog.Source{srv}, nil, catalog.Options{})
	root, err := c.Resolve(context.Background(), nil, nil, nil)
	require.Nil(t, err)
	require.Equal(t, 5, strings.Count(root.Text, "\n"))
	for _, n := range names {
		help, err := c.Resolve(context.Background(), []string{srv.Name, n, "--help"}, nil, nil)
		require.Nil(t, err)
		line, _, _ := strings.Cut(help.Text, "\n")
		require.NotContains(t, help.Text, "\x1b")
		words, ferr := shell.Fields(line, func(string) string { return "EXPANDED" })
		require.NoError(t, ferr, line)
		req, err := c.Resolve(context.Background(), words[1:], nil, nil)
		require.Nil(t, err, line)
		require.Equal(t, n, req.Call.Tool.Name)
		bad := req.Call.Tool.Check(json.RawMessage(`{"a\nb":"x\ny"}`))
		_, stray := c.Resolve(context.Background(), []string{srv.Name, n, "st\nray\x1b"}, nil, nil)
		_, unknown := c.Resolve(context.Background(), []string{srv.Name, n + "\n?"}, nil, nil)
		for _, e := range []*catalog.Error{bad, stray, unknown} {
			require.NotNil(t, e)
			require.NotContains(t, e.Message, "\n")
			require.NotContains(t, e.Message, "\x1b")
		}
	}
}

func TestBrokenJSONIsNamedWithItsPlace(t *testing.T) {
	for arg, says := range map[string]string{
		`{"a":}`:         "it is not JSON (at byte 6: invalid character '}' looking for beginning of value)",
		`{"a":1 2}`:      "it is not JSON (at byte 8: invalid character '2' after object key:value pair)",
		`{"a":1`:         "it is not JSON (unexpected EOF)",
		`{"a":1} {}`:     "something follows an object",
		`["a"]`:          "it is an array",
		`{"a":"\uD8"}`:   "it is not JSON (at byte ",
		"{\"a\":\"\t\"}": "it is not JSON (at byte 7: ",
	} {
		_, err := input(`{}`, "", arg)
		require.NotNil(t, err, arg)
		require.Contains(t, err.Message, says)
	}
}
