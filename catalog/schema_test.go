package catalog_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tools-in-shell/tis/catalog"
)

func TestASchemaMessageSaysWhereWhatAndTheHelp(t *testing.T) {
	schema := `{"type":"object","additionalProperties":false,"required":["repo"],"properties":{
		"repo":{"type":"string"},"number":{"type":"integer","minimum":1},"state":{"enum":["open","closed"]},"labels":{"type":"array","items":{"type":"string"}},
		"deep":{"type":"object","properties":{"a b":{"type":"boolean"}},"required":["a b"]},"id":{"anyOf":[{"type":"string"},{"type":"integer"},{"type":"null"}]},
		"when":{"oneOf":[{"type":"string","pattern":"^x"},{"type":"object","required":["at"]}]}}}`
	for input, says := range map[string]string{
		`{}`:                                             "at $: missing property 'repo'",
		`{"repo":7}`:                                     "at $.repo: got number, want string (it is 7)",
		`{"repo":null}`:                                  "at $.repo: got null, want string (it is null)",
		`{"repo":"a","number":"seven"}`:                  `at $.number: got string, want integer (it is "seven")`,
		`{"repo":"a","number":1.5}`:                      `at $.number: got number, want integer (it is 1.5)`,
		`{"repo":"a","number":0}`:                        "at $.number: minimum: got 0, want 1",
		`{"repo":"a","state":"ajar"}`:                    `at $.state: value must be one of 'open', 'closed' (it is "ajar")`,
		`{"repo":"a","labels":["x",{}]}`:                 "at $.labels[1]: got object, want string (it is an object)",
		`{"repo":"a","labels":"x"}`:                      "at $.labels: got string, want array",
		`{"repo":"a","deep":{}}`:                         "at $.deep: missing property 'a b'",
		`{"repo":"a","deep":{"a b":"yes"}}`:              `at $.deep["a b"]: got string, want boolean`,
		`{"repo":"a","id":[]}`:                           "at $.id: got array, want string or integer or null (it is an array)",
		`{"repo":"a","stat":1}`:                          "at $: additional properties 'stat' not allowed (did you mean state?)",
		`{"repo":"a","number":1e99999999}`:               "at $.number: the exponent",
		`[]`:                                             "no JSON object: it is an array",
		`{"repo":"` + strings.Repeat("long\n", 3) + `"}`: "not JSON",
	} {
		err := tool("gh", "x", schema).Check(json.RawMessage(input))
		require.NotNil(t, err, input)
		require.Equal(t, catalog.InvalidInput, err.Code)
		require.Contains(t, err.Message, says)
		require.True(t, strings.HasSuffix(err.Message, "; see tools gh x --help"), err.Message)
		require.NotContains(t, err.Message, "\n")
		require.LessOrEqual(t, len(err.Message), 900)
	}
	for _, input := range []string{`{"repo":""}`, `{"repo":"a","number":9007199254740993}`, `{"repo":"a","number":2.0}`, `{"repo":"a","id":null}`, `{"repo":"a","number":1e400}`} {
		require.Nil(t, tool("gh", "x", schema).Check(json.RawMessage(input)), input)
	}
}

func TestNumbersAreComparedByValue(t *testing.T) {
	x := tool("", "x", `{"properties":{"n":{"maximum":9007199254740992}}}`)
	require.Nil(t, x.Check(json.RawMessage(`{"n":9007199254740992}`)))
	require.NotNil(t, x.Check(json.RawMessage(`{"n":9007199254740993}`)))
}

func TestDrafts(t *testing.T) {
	tuple := `{"properties":{"p":{"items":[{"type":"string"}]}}}`
	require.NotEmpty(t, tool("", "x", tuple).SchemaWarning(), "a list of items is no draft 2020-12")
	old := strings.Replace(tuple, "{", `{"$schema":"http://json-schema.org/draft-07/schema#",`, 1)
	require.Empty(t, tool("", "x", old).SchemaWarning())
	require.NotNil(t, tool("", "x", old).Check(json.RawMessage(`{"p":[1]}`)))
	require.NotNil(t, tool("", "x", `{"properties":{"p":{"prefixItems":[{"type":"string"}]}}}`).Check(json.RawMessage(`{"p":[1]}`)))
}

func TestASchemaThatCannotBeUsedWarnsAndLetsObjectsThrough(t *testing.T) {
	for name, schema := range map[string]string{
		"no schema": `7`, "no JSON": `{`, "unknown type": `{"type":"strnig"}`, "remote": `{"$ref":"https://example.com/a.json"}`, "file": `{"$ref":"file:///etc/passwd"}`,
		"remote dialect": `{"$schema":"https://example.com/dialect"}`, "dangling": `{"$ref":"#/$defs/none"}`, "bad pattern": `{"properties":{"a":{"pattern":"(?!x)"}}}`,
		"circle": `{"$ref":"#"}`, "circle below": `{"$defs":{"a":{"$ref":"#/$defs/b"},"b":{"$ref":"#/$defs/a"}},"properties":{"a":{"$ref":"#/$defs/a"}}}`,
	} {
		t.Run(name, func(t *testing.T) {
			x := tool("s", "x", schema)
			c := catalog.New([]catalog.Source{{Name: "s", Loaded: true, Tools: []*catalog.Tool{x}}}, nil, catalog.Options{})
			require.Empty(t, c.Warnings(), "nothing is compiled before it is needed")
			require.Nil(t, x.Check(json.RawMessage(`{"a":1}`)))
			require.NotNil(t, x.Check(json.RawMessage(`[]`)))
			require.Len(t, c.Warnings(), 1)
			require.Contains(t, c.Warnings()[0], "s x: its input schema")
			require.NotContains(t, c.Warnings()[0], "\n")
			require.Contains(t, meaning(c, "", "s x --help"), "help of a tool")
		})
	}
	for _, schema := range []string{``, `{}`, `true`} {
		require.Empty(t, tool("s", "x", schema).SchemaWarning())
		require.Nil(t, tool("s", "x", schema).Check(json.RawMessage(`{"a":1}`)))
	}
}

func TestManyHugeNumbersAreCheckedInTime(t *testing.T) {
	x := tool("", "x", `{"properties":{"n":{"items":{"type":"integer"},"uniqueItems":true}}}`)
	start := time.Now()
	require.NotNil(t, x.Check(json.RawMessage(`{"n":[1e999999999999,`+strings.Repeat("1e999999,", 1000)+`1]}`)))
	require.Less(t, time.Since(start), time.Second)
}

func TestADigestNamesWhatAToolIs(t *testing.T) {
	yes := true
	base := catalog.Tool{Name: "n", Server: "s", Description: "d", InputSchema: json.RawMessage(`{"a":1,"b":[2]}`), Hints: catalog.Hints{ReadOnly: &yes}}
	make := func(change func(*catalog.Tool)) string {
		t := &catalog.Tool{Name: base.Name, Server: base.Server, Description: base.Description, InputSchema: base.InputSchema, Hints: base.Hints}
		change(t)
		return t.Digest()
	}
	same := make(func(*catalog.Tool) {})
	require.Len(t, same, 64)
	require.Equal(t, same, make(func(t *catalog.Tool) { t.InputSchema = json.RawMessage(` { "b" : [ 2 ] , "a" : 1 } `) }))
	require.Equal(t, same, make(func(t *catalog.Tool) { t.Executor = catalog.ExecutorFunc(nil) }))
	seen := map[string]bool{same: true}
	for _, change := range []func(*catalog.Tool){
		func(t *catalog.Tool) { t.Name = "m" }, func(t *catalog.Tool) { t.Server = "" }, func(t *catalog.Tool) { t.Description = "D" },
		func(t *catalog.Tool) { t.InputSchema = json.RawMessage(`{"a":1,"b":[3]}`) }, func(t *catalog.Tool) { t.InputSchema = nil },
		func(t *catalog.Tool) { t.Hints.ReadOnly = nil }, func(t *catalog.Tool) { t.Hints.Destructive = &yes },
		func(t *catalog.Tool) { t.Name, t.Server = "", "sn" },
	} {
		d := make(change)
		require.False(t, seen[d])
		seen[d] = true
	}
}

func TestCanonicalIsExact(t *testing.T) {
	for in, want := range map[string]string{
		`{"\ue000":1,"\ud83d\ude00":2,"a":3}`:               `{"a":3,"😀":2,"` + "\ue000" + `":1}`, // by UTF-16 units
		`[1.0, 1e0, 10e-1, 0.1e1, 1]`:                       `[1,1,1,1,1]`,
		`[-0, 0.000, 0e999999999999999999999]`:              `[0,0,0]`,
		`[1e400, 10e399, 1e+0400]`:                          `[1e400,1e400,1e400]`,
		`[0.10, 1e-1, -12.50]`:                              `[1e-1,1e-1,-125e-1]`,
		`[1e99999999999999999999, 1e-99999999999999999999]`: `[1e99999999999999999999,1e-99999999999999999999]`,
		`"a\/b\u0041<"`:                                     `"a/bA<"`,
		`{"a":1,"a":{"b":1,"b":2}}`:                         `{"a":{"b":2}}`,
		` null `:                                            `null`,
	} {
		got, err := catalog.Canonical(json.RawMessage(in))
		require.NoError(t, err)
		require.Equal(t, want, string(got))
	}
	for _, in := range []string{``, `{`, `{} {}`, "\"\xff\"", `"\ud800"`} {
		_, err := catalog.Canonical(json.RawMessage(in))
		require.Error(t, err, in)
	}
}
