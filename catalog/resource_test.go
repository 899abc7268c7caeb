package catalog_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"mvdan.cc/sh/v3/shell"

	"github.com/tools-in-shell/tis/catalog"
)

// books are a server's resources.
type books struct {
	offered bool
	list    []catalog.Resource
	err     error
	asked   int
}

func (b *books) Offered() bool { return b.offered }
func (b *books) Execute(context.Context, json.RawMessage) (catalog.Output, error) {
	return catalog.TextOutput("read"), nil
}
func (b *books) List(context.Context) ([]catalog.Resource, error) {
	b.asked++
	return b.list, b.err
}

func library(b *books, tools ...string) catalog.Source {
	src := source("docs", tools...)
	src.Resources = b
	return src
}

// asked is a line's request, and the one of the look before the start.
func asked(t *testing.T, c *catalog.Catalog, line string) (ran, seen catalog.Request, fault *catalog.Error) {
	t.Helper()
	args, err := shell.Fields(line, nil)
	require.NoError(t, err)
	seen, needs, seenFault := c.ResolveLiteral(args)
	require.Empty(t, needs)
	ran, fault = c.Resolve(t.Context(), args, nil, nil)
	require.Equal(t, fault == nil, seenFault == nil, "both looks agree on %s", line)
	require.Equal(t, ran.Call, seen.Call, line)
	return ran, seen, fault
}

func TestReadingAResourceIsACall(t *testing.T) {
	c := catalog.New([]catalog.Source{library(&books{offered: true}, "search", "resource")}, nil, catalog.Options{})
	for line, uri := range map[string]string{
		"docs --resource docs://a":             "docs://a",
		"docs --resource=docs://a?b=c":         "docs://a?b=c",
		"DOCS -- --resource file:///x":         "file:///x",
		`docs --resource 'a:{"b":1}'`:          `a:{"b":1}`,
		`docs --resource urn:9007199254740993`: "urn:9007199254740993",
	} {
		ran, _, fault := asked(t, c, line)
		require.Nil(t, fault, line)
		require.NotNil(t, ran.Call, line)
		assert.Equal(t, "docs --resource", ran.Call.Tool.Key())
		assert.Equal(t, "tools docs --resource", ran.Call.Tool.Command())
		assert.True(t, ran.Call.Tool.Hints.IsReadOnly())
		assert.True(t, *ran.Call.Tool.Hints.OpenWorld)
		var in map[string]any
		require.NoError(t, json.Unmarshal(ran.Call.Input, &in))
		assert.Equal(t, map[string]any{"uri": uri}, in)
		assert.Nil(t, ran.Call.Tool.Check(ran.Call.Input))
		assert.Same(t, ran.Call.Tool, c.Tool("mcp_docs__--resource"))
	}
}

func TestWhatIsNoResource(t *testing.T) {
	c := catalog.New([]catalog.Source{library(&books{offered: true}, "search", "resource")}, nil, catalog.Options{})
	for line, want := range map[string]string{
		"docs --resource a:b c":       "takes one URI",
		"docs --resource a:b --x":     "takes one URI",
		"docs --resource=a:b uri=c:d": "takes one URI",
		"docs --resources a:b":        "has no tool",
		"--resource a:b":              "no server or tool",
	} {
		_, _, fault := asked(t, c, line)
		require.NotNil(t, fault, line)
		assert.Contains(t, fault.Message, want, line)
	}
	for _, line := range []string{"docs --resource nonsense", "docs --resource ''", "docs --resource=", "docs --resource -", "docs --resource '{\"uri\":\"a:b\"}'"} {
		ran, _, fault := asked(t, c, line)
		require.Nil(t, fault, line)
		assert.Equal(t, catalog.InvalidInput, ran.Call.Tool.Check(ran.Call.Input).Code, line)
	}
	args := []string{"docs", "--resource", "a:\xff"}
	_, fault := c.Resolve(t.Context(), args, nil, nil)
	assert.Equal(t, catalog.InvalidInput, fault.Code)
}

// Tools and keys may be called resource: the form is the server's only where no
// tool stands.
func TestToolsAndKeysCalledResource(t *testing.T) {
	c := catalog.New([]catalog.Source{library(&books{offered: true}, "search", "resource", "--resource"), source("plain", "get")},
		tops("docs"), catalog.Options{})
	for line, want := range map[string]string{
		"docs search --resource a:b":   "docs search",
		"docs resource --resource a:b": "docs resource",
		"docs --resource a:b":          "docs", // the top-level tool's own key
		"plain get --resource a:b":     "plain get",
	} {
		ran, _, fault := asked(t, c, line)
		require.Nil(t, fault, line)
		assert.Equal(t, want, ran.Call.Tool.Key(), line)
	}
	alone := catalog.New([]catalog.Source{library(&books{offered: true}, "--resource")}, nil, catalog.Options{})
	ran, _, fault := asked(t, alone, "docs --resource uri=a:b")
	require.Nil(t, fault)
	assert.Nil(t, ran.Call.Tool.Executor, "a server's own tool of that name comes first")
}

func TestAServerWithoutResources(t *testing.T) {
	without := source("docs", "search")
	for _, src := range []catalog.Source{without, library(&books{}, "search")} {
		c := catalog.New([]catalog.Source{src}, nil, catalog.Options{})
		_, _, fault := asked(t, c, "docs --resource a:b")
		require.NotNil(t, fault)
		assert.Equal(t, catalog.UnknownCommand, fault.Code)
		assert.Contains(t, fault.Message, "has no resources")
		ran, _, _ := asked(t, c, "docs --help")
		assert.NotContains(t, ran.Text, "esource")
		assert.Empty(t, c.ResourceLine("docs", "a:b"))
		assert.Nil(t, c.Tool("mcp_docs__--resource"))
	}
}

// An on-demand server is loaded first, and may turn out to have resources.
func TestResourcesOfAnOnDemandServer(t *testing.T) {
	b := &books{}
	src := catalog.Source{Name: "docs", Resources: b, Load: func(context.Context) ([]*catalog.Tool, error) { b.offered = true; return nil, nil }}
	c := catalog.New([]catalog.Source{src}, nil, catalog.Options{})
	_, needs, _ := c.ResolveLiteral([]string{"docs", "--resource", "a:b"})
	assert.Equal(t, "docs", needs)
	req, fault := c.Resolve(t.Context(), []string{"docs", "--resource", "a:b"}, nil, nil)
	require.Nil(t, fault)
	assert.Equal(t, "docs --resource", req.Call.Tool.Key())
}

func TestHelpAndListOfResources(t *testing.T) {
	b := &books{offered: true, list: []catalog.Resource{
		{URI: "docs://it's", Name: "Guide", Description: "How to.\nMore."}, {URI: "docs://{page}", Name: "A page", Template: true}, {URI: "docs://\x1b[2J"},
	}}
	c := catalog.New([]catalog.Source{library(b, "search")}, nil, catalog.Options{})
	ran, _, _ := asked(t, c, "docs --help")
	assert.Contains(t, ran.Text, "Resources: tools docs --resource lists them, tools docs --resource URI reads one\n")
	for _, line := range []string{"docs --resource --help", "docs --resource -h", "docs --resource a:b --help", "docs --resource=a:b --help"} {
		ran, _, fault := asked(t, c, line)
		require.Nil(t, fault, line)
		assert.Contains(t, ran.Text, "reads a resource", line)
	}
	assert.Zero(t, b.asked)
	ran, seen, fault := asked(t, c, "docs --resource")
	require.Nil(t, fault)
	assert.Contains(t, ran.Text, "Guide: How to.")
	assert.Contains(t, ran.Text, `'docs://it'\''s'`)
	assert.Contains(t, ran.Text, "(fill in the {parts}) A page")
	assert.NotContains(t, ran.Text, "\x1b")
	assert.Equal(t, 1, b.asked, "the look before the start asks no server")
	assert.Nil(t, seen.Call)

	b.list = make([]catalog.Resource, 300)
	ran, _, _ = asked(t, c, "docs --resource")
	assert.Contains(t, ran.Text, "and 100 more")
	assert.Less(t, strings.Count(ran.Text, "\n"), 210)
	b.err = errors.New("no\nluck")
	_, fault = c.Resolve(t.Context(), []string{"docs", "--resource"}, nil, nil)
	assert.Equal(t, catalog.Unavailable, fault.Code)
	assert.Equal(t, "tools docs --resource 'a b:c'", c.ResourceLine("docs", "a b:c"))
}

// A catalog file says which servers have resources, so that scripts can be
// looked at without them.
func TestResourcesInACatalogFile(t *testing.T) {
	sources, _, err := catalog.ParseCatalogFile(strings.NewReader(`{"servers": {"docs": {"resources": true, "tools": []}, "plain": {"resources": false, "tools": []}}}`), "file")
	require.NoError(t, err)
	c := catalog.New(sources, nil, catalog.Options{})
	ran, _, fault := asked(t, c, "docs --resource a:b")
	require.Nil(t, fault)
	_, err = ran.Call.Tool.Executor.Execute(t.Context(), ran.Call.Input)
	require.ErrorContains(t, err, "cannot be read here")
	_, _, fault = asked(t, c, "plain --resource a:b")
	require.NotNil(t, fault)
	_, fault = c.Resolve(t.Context(), []string{"docs", "--resource"}, nil, nil)
	require.Equal(t, catalog.Unavailable, fault.Code)
	_, _, err = catalog.ParseCatalogFile(strings.NewReader(`{"servers": {"docs": {"resources": "yes"}}}`), "file")
	require.ErrorContains(t, err, "resources: it is a string; want true or false")
}
