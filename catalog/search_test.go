package catalog_test

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"mvdan.cc/sh/v3/shell"

	"github.com/tools-in-shell/tis/catalog"
)

func described(server, name, desc string) *catalog.Tool {
	return &catalog.Tool{Server: server, Name: name, Description: desc}
}

func found(t *testing.T, c *catalog.Catalog, query string) []string {
	req, err := c.Resolve(context.Background(), append([]string{"search"}, strings.Fields(query)...), nil, nil)
	require.Nil(t, err)
	return strings.Split(strings.TrimSuffix(req.Text, "\n"), "\n")
}

func TestSearchRanks(t *testing.T) {
	c := catalog.New([]catalog.Source{
		{Name: "github", Loaded: true, Tools: []*catalog.Tool{
			described("github", "list_pulls", "List pull requests of a repository. Newest first."), described("github", "delete_branch", "Delete a branch for good."),
			described("github", "get_issue", "Get one issue."), described("github", "createComment", "Comment on an issue or a pull request.")}},
		{Name: "linear", Description: "Tickets of the team", Loaded: true, Tools: []*catalog.Tool{described("linear", "create_issue", "Create an issue."), described("linear", "list_issues", "List issues.")}},
	}, []*catalog.Tool{described("", "web_fetch", "Fetch a page of the web, branch or no branch.")}, catalog.Options{})
	for query, first := range map[string]string{
		"delete branch":         "tools github delete-branch", // every word in the name
		"branch":                "tools github delete-branch", // a name before a description
		"branches":              "tools github delete-branch", // plural
		"del branch":            "tools github delete-branch", // prefix
		"delet brnch":           "tools github delete-branch", // a letter is missing
		"delete brancb":         "tools github delete-branch", // a letter is another
		"delete barnch":         "tools github delete-branch", // two letters are swapped
		"pull requests":         "tools github list-pulls",
		"create-comment":        "tools github createComment",
		"createComment":         "tools github createComment",
		"linear issues":         "tools linear list-issues",
		"github issue":          "tools github get-issue",
		"page":                  "tools web-fetch",
		"tickets create":        "tools linear create-issue",
		"please list the pulls": "tools github list-pulls", // one word too many
		"LIST_PULLS":            "tools github list-pulls",
	} {
		got := found(t, c, query)
		require.True(t, strings.HasPrefix(got[0], first+" '{"), "%s: %s", query, strings.Join(got, "\n"))
		words, err := shell.Fields(strings.TrimSuffix(got[0][:strings.Index(got[0], "  # ")], " "), nil)
		require.NoError(t, err)
		req, _, fault := c.ResolveLiteral(words[1:])
		require.Nil(t, fault)
		require.NotNil(t, req.Call)
	}
	for _, query := range []string{"weather", "x", "!!!", "zebra crossing delete", "\x1b[31m"} {
		got := found(t, c, query)
		require.Len(t, got, 1, query)
		require.True(t, strings.HasPrefix(got[0], "no tool matches"), got[0])
		require.Contains(t, got[0], "tools --help")
		require.NotContains(t, got[0], "\x1b")
	}
	require.Equal(t, "tools github list-pulls '{}'  # List pull requests of a repository.", found(t, c, "list pulls")[0])
}

func TestSearchPrintsTenLinesAtMost(t *testing.T) {
	src := catalog.Source{Name: "s", Loaded: true}
	for _, n := range strings.Fields("a b c d e f g h i j k l m") {
		src.Tools = append(src.Tools, described("s", "thing_"+n, "It\nhas\nlines. And more."))
	}
	got := found(t, catalog.New([]catalog.Source{src}, nil, catalog.Options{}), "things")
	require.Len(t, got, 10)
	require.Equal(t, "tools s thing-a '{}'  # It has lines.", got[0])
}

func TestSentence(t *testing.T) {
	for in, want := range map[string]string{
		"": "", "One. Two.": "One.", "No end": "No end", "Use e.g. this. Two": "Use e.g. this.", "v1.2 is out! Yes": "v1.2 is out!",
		"\n  Wrapped\n  line. More": "Wrapped line.", "Heading\n\nBody. More.": "Heading", "\x1b[31mred\x07": "[31mred", "Really? Yes.": "Really?",
	} {
		require.Equal(t, want, catalog.Sentence(in))
	}
	require.Len(t, []rune(catalog.Sentence(strings.Repeat("é", 500))), 200)
	require.Equal(t, "list-all-x", catalog.Shown("list_all_x"))
}
