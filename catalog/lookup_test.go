package catalog_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/tools-in-shell/tis/catalog"
)

func TestLookup(t *testing.T) {
	c := catalog.New([]catalog.Source{
		{Name: "github", Loaded: true, Tools: []*catalog.Tool{tool("github", "list_pulls", `{}`), tool("github", "delete_branch", `{}`)}},
		{Name: "later", Load: nil, Tools: nil},
	}, []*catalog.Tool{tool("", "web_fetch", `{}`), tool("", "ask_user", `{}`)}, catalog.Options{})
	for _, r := range []struct {
		args  []string
		tool  string
		after int
		word  int // of what is unknown; -1 for nothing
		near  []string
	}{
		{[]string{"github", "list-pulls", "a=1"}, "tools github list-pulls", 2, -1, nil},
		{[]string{"web-fetch", "u=1"}, "tools web-fetch", 1, -1, nil},
		{[]string{"web-fetch"}, "tools web-fetch", 1, -1, nil},
		{[]string{"github", "list-pull"}, "", 0, 1, []string{"list-pulls"}},
		{[]string{"githab", "list-pulls"}, "", 0, 0, []string{"github"}},
		{[]string{"github"}, "", 0, -1, nil},
		{[]string{"github", "--help"}, "", 0, -1, nil},
		{[]string{"search", "x"}, "", 0, -1, nil},
		{nil, "", 0, -1, nil},
		{[]string{"ask-user", "q=1"}, "", 0, 0, nil},
	} {
		found, after, unknown := c.Lookup(r.args)
		if r.tool == "" {
			assert.Nil(t, found, "%q", r.args)
		} else if assert.NotNil(t, found, "%q", r.args) {
			assert.Equal(t, r.tool, found.Command())
		}
		assert.Equal(t, r.after, after, "%q", r.args)
		if r.word < 0 {
			assert.Nil(t, unknown, "%q", r.args)
		} else if assert.NotNil(t, unknown, "%q", r.args) {
			assert.Equal(t, r.word, unknown.Word)
			if r.near != nil {
				assert.Equal(t, r.near, unknown.Near)
			}
			assert.Equal(t, r.args[0] == "ask-user", unknown.Direct)
		}
	}
}

func TestFaults(t *testing.T) {
	schema := `{"type":"object","additionalProperties":false,"required":["a","b"],"properties":{"a":{"type":"integer"},"b":{},"c":{"type":"array","items":{"enum":["x"]}},"d":{"anyOf":[{"type":"string"},{"minimum":3}]}}}`
	to := tool("", "t", schema)
	assert.Empty(t, to.Faults(json.RawMessage(`{"a":1,"b":2}`)))
	assert.Nil(t, to.Check(json.RawMessage(`{"a":1,"b":2}`)))
	faults := to.Faults(json.RawMessage(`{"a":"1","c":["x","y"],"d":1,"e":2,"f":3}`))
	var seen []catalog.Fault
	for _, f := range faults {
		assert.NotEmpty(t, f.Message)
		f.Message = ""
		seen = append(seen, f)
	}
	assert.ElementsMatch(t, []catalog.Fault{
		{Path: []string{}, Missing: []string{"b"}}, {Path: []string{}, Extra: []string{"e", "f"}},
		{Path: []string{"a"}}, {Path: []string{"c", "1"}}, {Path: []string{"d"}, Way: true},
	}, seen)
}
