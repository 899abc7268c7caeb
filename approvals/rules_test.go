package approvals_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tools-in-shell/tis/approvals"
	"github.com/tools-in-shell/tis/catalog"
)

func TestWhichToolsARuleMatches(t *testing.T) {
	for _, c := range []struct {
		server, name, glob string
		want               bool
	}{
		{"github", "delete_branch", "github delete-*", true},
		{"github", "delete_branch", "github delete_*", true},
		{"github", "delete_branch", "github delete_branch", true},
		{"github", "delete-branch", "github delete_branch", true},
		{"github", "delete_branch", "GitHub Delete-Branch", true},
		{"GitHub", "deleteBranch", "github deletebranch", true},
		{"my_hub", "x", "my-hub *", true},
		{"github", "delete_branch", " github   delete-branch ", true},
		{"github", "delete_branch", "*", true},
		{"github", "delete_branch", "**", true},
		{"github", "delete_branch", "* *branch", true},
		{"github", "delete_branch", "*branch*", true},
		{"github", "delete_branch", "github delete?branch", true},
		{"github", "a/b", "github *", true},
		{"github", "naïve", "github na?ve", true},
		{"github", "delete_branch", "github", false},
		{"github", "delete_branch", "delete-branch", false},
		{"github", "delete_branch", "github delete", false},
		{"github", "delete_branch", "github delete-branch?", false},
		{"github", "delete_branch", "git delete-*", false},
		{"github", "delete_branch", "linear *", false},
		{"", "web_fetch", "web-fetch", true},
		{"", "web_fetch", "web_*", true},
		{"", "web_fetch", "* web-fetch", false},
		{"a", strings.Repeat("a", 2000), strings.Repeat("*a", 200) + "b", false},
	} {
		v := gate(t, approvals.Rule{Tool: c.glob, Decision: "deny"}).authorize("s", catalog.Call{Tool: &catalog.Tool{Server: c.server, Name: c.name}, Input: json.RawMessage(`{}`)})
		require.Equal(t, c.want, v.Outcome == approvals.Deny, "%s on %s %s", c.glob, c.server, c.name)
	}
}

func TestConditions(t *testing.T) {
	for _, c := range []struct{ when, input, want string }{
		{`.branch == "main"`, `{"branch":"main"}`, "holds"},
		{`.branch == "main"`, `{"branch":"x"}`, "no"},
		{`.branch == "main"`, `{}`, "no"},
		{`.force`, `{"force":true}`, "holds"},
		{`.force`, `{"force":false}`, "no"},
		{`.force`, `{"force":null}`, "no"},
		{`.n`, `{"n":0}`, "holds"},
		{`select(.n == 1)`, `{"n":1}`, "holds"},
		{`select(.n == 1)`, `{"n":2}`, "no"},
		{`.branch | test("^tmp/")`, `{"branch":"tmp/x"}`, "holds"},
		{`true`, `{}`, "holds"},
		{`  `, `{}`, "holds"},
		// Several values must agree.
		{`.paths[] | startswith("/etc")`, `{"paths":["/etc/a","/etc/b"]}`, "holds"},
		{`.paths[] | startswith("/etc")`, `{"paths":["/tmp/a"]}`, "no"},
		{`.paths[] | startswith("/etc")`, `{"paths":[]}`, "no"},
		{`.paths[] | startswith("/etc")`, `{"paths":["/tmp/a","/etc/b"]}`, "fails: both true and false"},
		{`any(.paths[]; startswith("/etc"))`, `{"paths":["/tmp/a","/etc/b"]}`, "holds"},
		// Numbers are exact, however they are spelled.
		{`.n == 9007199254740993`, `{"n":9007199254740993}`, "holds"},
		{`.n == 9007199254740993`, `{"n":9007199254740992}`, "no"},
		{`.n == 9007199254740993`, `{"n":9007199254740993.0}`, "holds"},
		{`.n == 9007199254740993`, `{"n":9007199254740993000e-3}`, "holds"},
		{`.n == 1`, `{"n":1.0}`, "holds"},
		{`.n == 123456789012345678901234567890`, `{"n":123456789012345678901234567890}`, "holds"},
		{`.n == 123456789012345678901234567890`, `{"n":123456789012345678901234567891}`, "no"},
		{`.a[0].n > 1e300`, `{"a":[{"n":1e400}]}`, "holds"},
		{`.n < 0.2`, `{"n":0.1}`, "holds"},
		{`.n < -1`, `{"n":-1.5}`, "holds"},
		{`.n > 5`, `{"n":1e5000}`, "fails: more than 1000 digits"},
		{`.n > 5`, `{"n":1e99999999999999999999}`, "fails: more than 1000 digits"},
		{`.n > 5`, `{"n":1e-5000}`, "fails: too small"},
		// What fails or takes too long asks.
		{`.branch + 1`, `{"branch":"x"}`, "fails: cannot add"},
		{`error("no")`, `{}`, "fails: no"},
		{`halt`, `{}`, "fails: halt"},
		{`def f: f; f`, `{}`, "fails: longer than 100ms"},
		{`repeat(1)`, `{}`, "fails: longer than 100ms"},
		{`[limit(3; repeat(.n))] | length == 3`, `{"n":1}`, "holds"},
		// A condition sees the input alone.
		{`env == {} and $ENV == {}`, `{}`, "holds"},
	} {
		start := time.Now()
		v := gate(t, approvals.Rule{Tool: "*", When: c.when, Decision: "deny"}).authorize("s", call(t, `{"readOnlyHint":true}`, c.input))
		got := map[approvals.Outcome]string{approvals.Deny: "holds", approvals.Run: "no", approvals.Ask: "fails"}[v.Outcome]
		want, why, _ := strings.Cut(c.want, ": ")
		require.Equal(t, want, got, "%s on %s: %s", c.when, c.input, v.Why)
		require.Contains(t, v.Why, why, "%s on %s", c.when, c.input)
		require.Less(t, time.Since(start), 5*time.Second)
	}
}

func TestTheFirstRuleThatMatchesDecides(t *testing.T) {
	rules := []approvals.Rule{
		{Tool: "linear *", Decision: "deny", Message: "no linear"},
		{Tool: "github *", When: `.branch == "main"`, Decision: "deny", Message: "use close-issue instead"},
		{Tool: "github *", When: `.branch | startswith("tmp/")`, Decision: "allow"},
		{Tool: "github *", When: `.branch | startswith("ask/")`, Decision: "ask", Message: "explain it"},
		{Tool: "github *", When: `.branch | startswith("tmp/x")`, Decision: "deny"},
	}
	for _, c := range []struct {
		mode         approvals.Mode
		input        string
		want         approvals.Outcome
		risk         approvals.Risk
		message, why string
	}{
		{approvals.Normal, `{"branch":"main"}`, approvals.Deny, approvals.RiskBlocked, "use close-issue instead", "rule 1 (github *)"},
		{approvals.Normal, `{"branch":"tmp/x"}`, approvals.Run, approvals.RiskChanges, "", "rule 2 (github *)"},
		{approvals.Normal, `{"branch":"ask/x"}`, approvals.Ask, approvals.RiskNeedsApproval, "explain it", "rule 3 (github *)"},
		{approvals.Normal, `{"branch":"x"}`, approvals.Ask, approvals.RiskNeedsApproval, "", "it declares that it is destructive"},
		{approvals.Normal, `{"branch":7}`, approvals.Ask, approvals.RiskNeedsApproval, "", "rule 2 (github *), which failed: "},
		// The mode counts after the rules.
		{approvals.Off, `{"branch":"main"}`, approvals.Deny, approvals.RiskBlocked, "use close-issue instead", "rule 1 (github *)"},
		{approvals.Off, `{"branch":"ask/x"}`, approvals.Ask, approvals.RiskNeedsApproval, "explain it", "rule 3 (github *)"},
		{approvals.Off, `{"branch":7}`, approvals.Ask, approvals.RiskNeedsApproval, "", "rule 2 (github *), which failed: "},
		{approvals.Off, `{"branch":"x"}`, approvals.Run, approvals.RiskChanges, "", "mode off"},
		{approvals.Protective, `{"branch":"tmp/x"}`, approvals.Run, approvals.RiskChanges, "", "rule 2 (github *)"},
	} {
		w := newWorld(t, c.mode, approvals.NewMemory(), rules...)
		v := w.authorize("s", call(t, destructive, c.input))
		require.Equal(t, c.want, v.Outcome, "%s %s", c.mode, c.input)
		require.Equal(t, c.risk, v.Risk, "%s %s", c.mode, c.input)
		require.Equal(t, c.message, v.Message, "%s %s", c.mode, c.input)
		require.Contains(t, v.Why, c.why)
		previewed, err := w.Preview(ctx, "s", []catalog.Call{call(t, destructive, c.input)})
		require.NoError(t, err)
		require.Equal(t, v, previewed[0])
	}
}

func TestARuleThatAsksIsAnsweredLikeAnyOther(t *testing.T) {
	w := newWorld(t, approvals.Off, approvals.NewMemory(), approvals.Rule{Tool: "*", Decision: "ask", Message: "careful"})
	c := call(t, `{"readOnlyHint":true}`, `{}`)
	w.ask([]catalog.Call{c}, approvals.Allow)
	v := w.authorize("s", c)
	require.Equal(t, approvals.Run, v.Outcome)
	require.Equal(t, approvals.RiskReadOnly, v.Risk)
	require.Equal(t, approvals.Ask, w.authorize("s", c).Outcome)
}

func TestACallerThatHasGoneGetsNoVerdict(t *testing.T) {
	gone, cancel := context.WithCancel(ctx)
	cancel()
	w := gate(t, approvals.Rule{Tool: "*", When: "true", Decision: "allow"})
	_, err := w.Authorize(gone, "s", "r", call(t, `{}`, `{}`))
	require.ErrorIs(t, err, context.Canceled)
}

func TestRulesThatDoNotCompile(t *testing.T) {
	examples := func(match, noMatch []approvals.Example) *approvals.Examples {
		return &approvals.Examples{Match: match, NoMatch: noMatch}
	}
	example := func(tool, input string) []approvals.Example {
		return []approvals.Example{{Tool: "github delete_branch", Input: json.RawMessage(`{"b":1}`)}, {Tool: tool, Input: json.RawMessage(input)}}
	}
	for _, c := range []struct {
		rule approvals.Rule
		want string
	}{
		{approvals.Rule{Decision: "allow"}, "rules[1].tool: it is empty"},
		{approvals.Rule{Tool: " ", Decision: "allow"}, "rules[1].tool: it is empty"},
		{approvals.Rule{Tool: "github [dl]*", Decision: "allow"}, "rules[1].tool: \"github [dl]*\": only * and ?"},
		{approvals.Rule{Tool: "github {a,b}", Decision: "allow"}, "rules[1].tool: "},
		{approvals.Rule{Tool: "x"}, `rules[1].decision: it is ""`},
		{approvals.Rule{Tool: "x", Decision: "Allow"}, `rules[1].decision: it is "Allow"; want allow, ask or deny`},
		{approvals.Rule{Tool: "x", Decision: "ask", When: ".["}, "rules[1].when: not a jq expression"},
		{approvals.Rule{Tool: "x", Decision: "ask", When: "nosuch(1)"}, "rules[1].when: not a jq expression"},
		{approvals.Rule{Tool: "x", Decision: "ask", When: "input"}, "rules[1].when: not a jq expression"},
		{approvals.Rule{Tool: "x", Decision: "ask", When: `include "a"; 1`}, "rules[1].when: not a jq expression"},
		{approvals.Rule{Tool: "github *", Decision: "ask", Examples: examples(example("linear x", ``), nil)}, "rules[1].examples.match[1]: the rule does not match linear x {}"},
		{approvals.Rule{Tool: "github *", When: ".b == 1", Decision: "ask", Examples: examples(example("github x", `{"b":2}`), nil)}, `rules[1].examples.match[1]: the rule does not match github x {"b":2}`},
		{approvals.Rule{Tool: "linear *", Decision: "ask", Examples: examples(nil, example("linear x", `{}`))}, "rules[1].examples.no_match[1]: the rule matches linear x {}"},
		{approvals.Rule{Tool: "*", Decision: "ask", Examples: examples(example("", `{}`), nil)}, "rules[1].examples.match[1]: its tool is empty"},
		{approvals.Rule{Tool: "*", Decision: "ask", Examples: examples(example("x", `[]`), nil)}, "rules[1].examples.match[1]: its input is no JSON object"},
		{approvals.Rule{Tool: "*", When: ".b + {}", Decision: "ask", Examples: examples(nil, example("x", `{}`))}, "rules[1].examples.no_match[0]: github delete_branch"},
	} {
		_, err := approvals.CompileRules([]approvals.Rule{{Tool: "*", When: "false", Decision: "allow"}, c.rule})
		require.ErrorContains(t, err, c.want, "%+v", c.rule)
	}
}

func TestExamplesThatHold(t *testing.T) {
	_, err := approvals.CompileRules([]approvals.Rule{{Tool: "github delete-*", When: `.branch == "main"`, Decision: "deny", Examples: &approvals.Examples{
		Match:   []approvals.Example{{Tool: "GitHub delete_branch", Input: json.RawMessage(`{"branch":"main"}`)}},
		NoMatch: []approvals.Example{{Tool: "github delete-branch", Input: json.RawMessage(`{"branch":"x"}`)}, {Tool: "github delete-branch"}, {Tool: "linear delete-branch", Input: json.RawMessage(`{"branch":"main"}`)}},
	}}})
	require.NoError(t, err)
}
