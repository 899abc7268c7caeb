package catalog_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"mvdan.cc/sh/v3/shell"

	"github.com/tools-in-shell/tis/catalog"
)

func TestACatalogFile(t *testing.T) {
	file := `{"$schema":"x","servers":{
		"b":{"description":"Bees.","load":"start","tools":[{"name":"x","inputSchema":{"type":"object"},"annotations":{"readOnlyHint":true,"title":"X"},"policy":{"requires_approval":true}}]},
		"a":{"load":"on_demand","tools":[{"name":"y"}],"serverInfo":{"name":"anything"}},
		"c":{}},
	 "tools":[{"name":"web_fetch","description":"Fetch.","policy":{"client_side":false}}]}`
	servers, top, err := catalog.ParseCatalogFile(strings.NewReader(file), "c.json")
	require.NoError(t, err)
	require.Len(t, servers, 3)
	require.Equal(t, "a", servers[0].Name)
	require.False(t, servers[0].Loaded)
	require.Empty(t, servers[0].Tools)
	require.True(t, servers[1].Tools[0].Policy.RequiresApproval)
	require.True(t, servers[1].Tools[0].Hints.IsReadOnly())
	require.Equal(t, "web_fetch", top[0].RegistryName())
	c := catalog.New(servers, top, catalog.Options{})
	require.Equal(t, "a y", meaning(c, "", "a y"))
	root, fault := c.Resolve(context.Background(), nil, nil, nil)
	require.Nil(t, fault)
	for _, row := range []string{"a (1 tool)", "b (1 tool)", "Bees.", "c (0 tools)", "web-fetch"} {
		require.Contains(t, root.Text, row)
	}
}

func TestFaultsOfACatalogFileSayWhere(t *testing.T) {
	for in, want := range map[string]string{
		"{\n  \"servers\": {,}\n}":           "c.json:2:15: not a catalog file",
		``:                                   "c.json:1:",
		`{} {}`:                              "c.json:1:4: not a catalog file",
		`[]`:                                 "c.json: $: it is an array; want an object",
		`{"server":{}}`:                      `c.json: $: there is no key "server" (did you mean servers?)`,
		`{"servers":[]}`:                     "$.servers: it is an array",
		`{"servers":{"a":7}}`:                "$.servers.a: it is a number",
		`{"servers":{"a b":{"tols":[]}}}`:    `$.servers["a b"]: there is no key "tols" (did you mean tools?)`,
		`{"servers":{"a":{"load":"later"}}}`: `$.servers.a.load: it is "later"; want start or on_demand`,
		`{"servers":{"a":{"load":7}}}`:       "$.servers.a.load: it is a number; want a string",
		`{"servers":{"a":{"tools":{}}}}`:     "$.servers.a.tools: it is an object; want an array",
		`{"servers":{"a":{"tools":[{"name":"x"},7]}}}`:                  "$.servers.a.tools[1]: it is a number",
		`{"servers":{"a":{"tools":[{}]}}}`:                              "$.servers.a.tools[0]: a tool of server \"a\" has no name",
		`{"tools":[{"name":"x","policy":{"requires_aproval":true}}]}`:   `$.tools[0].policy: there is no key "requires_aproval" (did you mean requires_approval?)`,
		`{"tools":[{"name":"x","annotations":{"readOnlyHint":"yes"}}]}`: "$.tools[0]:",
	} {
		_, _, err := catalog.ParseCatalogFile(strings.NewReader(in), "c.json")
		require.ErrorContains(t, err, want, in)
		require.True(t, strings.HasPrefix(err.Error(), "c.json:"))
	}
}

func TestHintsAreWhatWasDeclared(t *testing.T) {
	yes, no := true, false
	for in, want := range map[string]catalog.Hints{
		`null`: {}, `{}`: {}, `{"title":"T"}`: {},
		`{"readOnlyHint":false,"idempotentHint":false}`:                         {},
		`{"title":"T","readOnlyHint":false,"idempotentHint":false}`:             {},
		`{"readOnlyHint":false}`:                                                {ReadOnly: &no},
		`{"readOnlyHint":false,"idempotentHint":true}`:                          {ReadOnly: &no, Idempotent: &yes},
		`{"readOnlyHint":false,"idempotentHint":false,"openWorldHint":false}`:   {ReadOnly: &no, Idempotent: &no, OpenWorld: &no},
		`{"readOnlyHint":true,"destructiveHint":true,"idempotentHint":null}`:    {ReadOnly: &yes, Destructive: &yes},
		`{"readOnlyHint":false,"idempotentHint":false,"destructiveHint":false}`: {ReadOnly: &no, Idempotent: &no, Destructive: &no},
	} {
		x, err := catalog.ToolFromMCP("s", json.RawMessage(`{"name":"x","inputSchema":null,"annotations":`+in+`}`))
		require.NoError(t, err)
		require.Equal(t, want, x.Hints, in)
		require.Empty(t, x.InputSchema)
	}
	for _, in := range []string{`{}`, `{"name":""}`, `7`, `{"name":7}`, `{`} {
		_, err := catalog.ToolFromMCP("s", json.RawMessage(in))
		require.Error(t, err, in)
	}
}

// realCatalogs are the catalogs of ten real servers.
func realCatalogs(t *testing.T) map[string]*catalog.Catalog {
	files, err := filepath.Glob("../testdata/catalogs/*.json")
	require.NoError(t, err)
	require.Len(t, files, 10)
	out := map[string]*catalog.Catalog{}
	for _, file := range files {
		f, err := os.Open(file)
		require.NoError(t, err)
		servers, top, err := catalog.ParseCatalogFile(f, file)
		require.NoError(t, err)
		require.NoError(t, f.Close())
		out[filepath.Base(file)] = catalog.New(servers, top, catalog.Options{})
	}
	return out
}

func TestRealToolsAreExplainedAndTheirLinesToCopyRun(t *testing.T) {
	tools := 0
	for file, c := range realCatalogs(t) {
		for _, s := range c.Servers() {
			for _, x := range s.Tools {
				tools++
				help, err := c.Resolve(context.Background(), []string{s.Name, catalog.Shown(x.Name), "--help"}, nil, nil)
				require.Nil(t, err, x.Key())
				require.Contains(t, help.Text, "Input schema:\n{")
				line, _, _ := strings.Cut(help.Text, "\n")
				require.True(t, strings.HasPrefix(line, x.Command()+" '{"), line)
				words, ferr := shell.Fields(line, nil)
				require.NoError(t, ferr)
				req, _, err := c.ResolveLiteral(words[1:])
				require.Nil(t, err, line)
				require.Same(t, x, req.Call.Tool)
				if fault := x.Check(req.Call.Input); fault != nil {
					require.NotContains(t, fault.Message, "missing property", line)
				}
				require.Len(t, x.Digest(), 64)
			}
		}
		require.Empty(t, c.Warnings(), file)
	}
	require.Equal(t, 186, tools)
}
