package approvals_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tools-in-shell/tis/approvals"
	"github.com/tools-in-shell/tis/catalog"
)

// defined is a call of github delete_branch as a server might define it.
func defined(t *testing.T, rest string) catalog.Call {
	t.Helper()
	tool, err := catalog.ToolFromMCP("github", json.RawMessage(`{"name":"delete_branch",`+rest+`}`))
	require.NoError(t, err)
	return catalog.Call{Tool: tool, Input: json.RawMessage(`{}`)}
}

func TestWhatChangedAboutATool(t *testing.T) {
	const before = `"description":"Delete a draft.\nIt stays in the bin.","inputSchema":{"type":"object","properties":{"branch":{"type":"string"}}},"annotations":{"destructiveHint":true}`
	for name, c := range map[string]struct {
		after string
		want  []string
	}{
		"nothing":           {before, nil},
		"the order of keys": {`"description":"Delete a draft.\nIt stays in the bin.","inputSchema":{"properties":{"branch":{"type":"string"}},"type":"object"},"annotations":{"destructiveHint":true}`, nil},
		"a line of the description": {strings.Replace(before, "a draft", "everything", 1),
			[]string{"description", "- Delete a draft.", "+ Delete everything."}},
		"a line more":    {strings.Replace(before, `bin."`, `bin.\nOr not."`, 1), []string{"description", "+ Or not."}},
		"no description": {strings.Replace(before, `Delete a draft.\nIt stays in the bin.`, "", 1), []string{"description", "- Delete a draft.", "- It stays in the bin.", "+ "}},
		"the schema": {strings.Replace(before, `{"branch":`, `{"all":{"default":true},"branch":`, 1),
			[]string{"input schema", `+     "all": {`, `+       "default": true`, `+     },`}},
		"the hints": {strings.Replace(before, `"destructiveHint":true`, `"destructiveHint":true,"openWorldHint":true`, 1),
			[]string{"hints", `-   "destructiveHint": true`, `+   "destructiveHint": true,`, `+   "openWorldHint": true`}},
		"a text that would hide": {strings.Replace(before, "a draft.", "a draft\\u202e.\\u0007\\u001b[2K", 1),
			[]string{"description", "- Delete a draft.", `+ Delete a draft\u202e.\u0007\u001b[2K`}},
		"what is too long to keep": {`"description":"` + strings.Repeat("x", 70_000) + `"`, []string{"its definition is not the one that was allowed, and too long to show how"}},
		"very many lines":          {strings.Replace(before, "a draft.", strings.Repeat(`a\n`, 5000), 1), []string{"description", "- 2 lines", "+ 5002 lines"}},
	} {
		t.Run(name, func(t *testing.T) {
			w := gate(t)
			after := defined(t, c.after)
			first := w.ask([]catalog.Call{after})[0]
			changed, err := w.Changed(ctx, first)
			require.NoError(t, err)
			require.Empty(t, changed, "nobody has allowed it yet")

			w.ask([]catalog.Call{defined(t, before)}, approvals.Allow)
			changed, err = w.Changed(ctx, first)
			require.NoError(t, err)
			require.Equal(t, c.want, changed)
			e, err := w.Explain(ctx, "s", after)
			require.NoError(t, err)
			require.ElementsMatch(t, c.want, e.Changed)
		})
	}
}

func TestManyChangesAreCutOff(t *testing.T) {
	w := gate(t)
	var lines []string
	for n := range 100 {
		lines = append(lines, fmt.Sprint("line ", n))
	}
	w.ask([]catalog.Call{defined(t, `"description":"one"`)}, approvals.AllowAlways)
	r := w.ask([]catalog.Call{defined(t, `"description":"`+strings.Join(lines, `\n`)+`"`)})[0]
	changed, err := w.Changed(ctx, r)
	require.NoError(t, err)
	require.Len(t, changed, 41)
	require.Equal(t, "... and 62 more lines", changed[40])
}

// A question shows what changed, and where the call stands in the script.
func TestAQuestionShowsWhatChangedAndTheLine(t *testing.T) {
	w := gate(t)
	w.ask([]catalog.Call{defined(t, `"description":"Delete a draft."`)}, approvals.Allow)
	c := defined(t, `"description":"Delete it all."`)
	r := w.ask([]catalog.Call{c})[0]
	r.Line, r.Source = 7, "  tools github delete-branch \u202e\x1b[2K; exit"
	text := w.Question(ctx, r, c.Tool)
	require.Contains(t, text, "  what changed  the tool is not the one that was allowed in this session before\n    description\n    - Delete a draft.\n    + Delete it all.\n")
	require.Contains(t, text, `  in the script line 7: tools github delete-branch \u202e\u001b[2K; exit`+"\n")
	r = w.ask([]catalog.Call{defined(t, `"description":"Delete a draft."`)})[0]
	require.NotContains(t, w.Question(ctx, r, nil), "what changed")
	require.NotContains(t, w.Question(ctx, r, nil), "in the script")
}
