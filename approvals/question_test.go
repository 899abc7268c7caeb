package approvals_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tools-in-shell/tis/approvals"
	"github.com/tools-in-shell/tis/catalog"
)

func TestAQuestionSaysWhatItIsAbout(t *testing.T) {
	yes := true
	tool := &catalog.Tool{Server: "git\u202ehub", Name: "delete", Description: "Delete\u200b it.\x1b[2J For ever. Really.", Hints: catalog.Hints{Destructive: &yes}}
	rules, err := approvals.CompileRules([]approvals.Rule{{Tool: "*", When: `.why == "rule"`, Decision: "ask", Message: "use archive instead"}})
	require.NoError(t, err)
	gate := approvals.NewGate(approvals.NewMemory(), approvals.Config{Rules: rules})
	ask := func(input string) string {
		r, err := gate.Ask(t.Context(), "s", "r", []catalog.Call{{Tool: tool, Input: json.RawMessage(input)}})
		require.NoError(t, err)
		return gate.Question(t.Context(), r[0], tool)
	}
	assert.Equal(t, `tools git\u202ehub delete
  what it does  Delete\u200b it.[2J For ever.
  why it asks   it declares that it is destructive (mode normal)
  exact input
    {
      "n": 9007199254740993,
      "x": "a\u2066b"
    }
`, ask("{\"n\":9007199254740993,\"x\":\"a\u2066b\"}"))
	q := ask(`{"why":"rule"}`)
	assert.Contains(t, q, "rule")
	assert.Contains(t, q, "use archive instead")
	// Of a long input both ends are shown, and how much is not.
	q = ask(`{"a":"first` + strings.Repeat("é", 5000) + `last"}`)
	assert.Contains(t, q, "first")
	assert.Contains(t, q, "last")
	assert.Contains(t, q, "bytes left out here; see all of it with: tis approvals list --session s --json")
	assert.Less(t, len(q), 5000)
	assert.NotContains(t, q, "\uFFFD")

	r, err := gate.Ask(t.Context(), "s", "r", []catalog.Call{{Tool: tool, Input: json.RawMessage(`{}`)}})
	require.NoError(t, err)
	assert.Contains(t, gate.Question(t.Context(), r[0], nil), "not there any more")
}
