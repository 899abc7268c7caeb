package mcpsource_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestEveryPageIsListed(t *testing.T) {
	for _, tc := range []struct {
		name, pages string
		tools       []string
		warnings    []string // parts, in order
		asked       int
	}{
		{"one page", `{"-":{"tools":[{"name":"a"},{"name":"b"}]}}`, []string{"a", "b"}, nil, 1},
		{"none", `{"-":{"tools":[]}}`, []string{}, nil, 1},
		{"three pages", `{"-":{"tools":[{"name":"a"}],"nextCursor":"2"},"2":{"tools":[{"name":"b"}],"nextCursor":"☃ 3"},"☃ 3":{"tools":[{"name":"c"}]}}`,
			[]string{"a", "b", "c"}, nil, 3},
		{"a null cursor is none", `{"-":{"tools":[{"name":"a"}],"nextCursor":null}}`, []string{"a"}, nil, 1},
		{"the empty cursor is one", `{"-":{"tools":[{"name":"a"}],"nextCursor":""},"":{"tools":[{"name":"b"}],"nextCursor":"c"},"c":{"tools":[{"name":"c"}]}}`,
			[]string{"a", "b", "c"}, nil, 3},
		{"the empty cursor starts again", `{"-":{"tools":[{"name":"a"}],"nextCursor":""},"":{"tools":[{"name":"a"}],"nextCursor":""}}`,
			[]string{"a"}, []string{`the cursor "" of tools/list again`}, 2},
		{"a cursor that repeats", `{"-":{"tools":[{"name":"a"}],"nextCursor":"p"},"p":{"tools":[{"name":"b"}],"nextCursor":"p"}}`,
			[]string{"a", "b"}, []string{`the cursor "p" of tools/list again`}, 2},
		{"two cursors in a circle", `{"-":{"tools":[{"name":"a"}],"nextCursor":"p"},"p":{"tools":[{"name":"b"}],"nextCursor":"q"},"q":{"tools":[{"name":"c"}],"nextCursor":"p"}}`,
			[]string{"a", "b", "c"}, []string{`the cursor "p"`}, 3},
		{"a name twice", `{"-":{"tools":[{"name":"a","description":"first"},{"name":"a"},{"name":"b"}]}}`,
			[]string{"a", "b"}, []string{`lists the tool "a" more than once`}, 1},
		{"a tool without a name", `{"-":{"tools":[{"description":"?"},7,{"name":"b"}]}}`,
			[]string{"b"}, []string{"left out", "left out"}, 1},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			cfg := program(t, "plain", "TEST_PAGES", tc.pages)
			src := source(t, startPool(t, cfg), "x")
			require.Nil(t, src.Unavailable, "%v", src.Unavailable)
			assert.True(t, src.Loaded)
			assert.Equal(t, tc.tools, names(src))
			require.Len(t, src.Warnings, len(tc.warnings), "%q", src.Warnings)
			for i, w := range tc.warnings {
				assert.Contains(t, src.Warnings[i], w)
			}
			assert.Equal(t, tc.asked, asked(t, cfg, "tools/list"))
		})
	}
}

func TestWarningsHaveALimit(t *testing.T) {
	pages := `{"-":{"tools":[` + strings.Repeat(`{"name":"a"},`, 500) + `{"name":"b"}]}}`
	src := source(t, startPool(t, program(t, "plain", "TEST_PAGES", pages)), "x")
	assert.Len(t, src.Warnings, 21)
	assert.Equal(t, []string{"a", "b"}, names(src))
}

func TestToolsAreKeptAsTheyCame(t *testing.T) {
	const raw = `{"name":"a","x-odd":1.10,"annotations":{"readOnlyHint":true,"big":12345678901234567890},"inputSchema":{"type":"object","properties":{"z":{"minimum":1.0},"a":{"maximum":1e400}}}}`
	p := startPool(t, program(t, "plain", "TEST_PAGES", `{"-":{"tools":[`+raw+`]}}`))
	got, err := p.Raw(t.Context(), "x")
	require.NoError(t, err)
	assert.Equal(t, []json.RawMessage{json.RawMessage(raw)}, got)
	a := tool(t, p, "x", "a")
	assert.Equal(t, `{"type":"object","properties":{"z":{"minimum":1.0},"a":{"maximum":1e400}}}`, string(a.InputSchema))
	assert.True(t, a.Hints.IsReadOnly())
	assert.Nil(t, a.Hints.Destructive)
	_, err = p.Raw(t.Context(), "y")
	assert.ErrorContains(t, err, "no such server: y")
}

func TestAChangedListShowsInTheNextSources(t *testing.T) {
	cfg := program(t, "plain",
		"TEST_PAGES", `{"-":{"tools":[{"name":"change"},{"name":"echo"}]}}`,
		"TEST_PAGES_AFTER", `{"-":{"tools":[{"name":"echo"},{"name":"change","description":"other"},{"name":"fresh"}]}}`)
	p := startPool(t, cfg)
	before := tool(t, p, "x", "echo")
	_, err := call(t, p, "change", `{}`)
	require.NoError(t, err)
	require.Eventually(t, func() bool { return len(source(t, p, "x").Tools) == 3 }, 5*time.Second, 5*time.Millisecond)
	assert.Same(t, before, tool(t, p, "x", "echo"), "a tool that did not change stays, with its compiled schema")
	assert.Equal(t, "other", tool(t, p, "x", "change").Description)
	p.Sources()
	assert.Equal(t, 2, asked(t, cfg, "tools/list"), "an unchanged list is not asked for again")
}

func TestARefreshThatFailsLeavesTheOldList(t *testing.T) {
	p := startPool(t, program(t, "plain", "TEST_PAGES", `{"-":{"tools":[{"name":"change"},{"name":"echo"}]}}`, "TEST_PAGES_AFTER", `{"-":7}`))
	_, err := call(t, p, "change", `{}`)
	require.NoError(t, err)
	time.Sleep(50 * time.Millisecond)
	src := source(t, p, "x")
	assert.Nil(t, src.Unavailable)
	assert.Equal(t, []string{"change", "echo"}, names(src))
}

func TestAnSDKServersPagesAndChanges(t *testing.T) {
	p := startPool(t, program(t, "sdk"))
	assert.ElementsMatch(t, []string{"ask_roots", "echo", "grow", "wait"}, names(source(t, p, "x")))
	_, err := call(t, p, "grow", `{}`)
	require.NoError(t, err)
	require.Eventually(t, func() bool { return len(source(t, p, "x").Tools) == 5 }, 5*time.Second, 5*time.Millisecond)
	out, err := call(t, p, "grown", `{}`)
	require.NoError(t, err)
	assert.Equal(t, "new", out.Parts[0].Text)
}
