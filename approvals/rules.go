package approvals

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/tools-in-shell/tis/catalog"
)

// Rule is one of the host's own decisions. The first rule that matches decides.
type Rule struct {
	// Tool is a glob over "server tool": "github delete-*". * is any text, ? one
	// character. Case, - and _ don't matter.
	Tool string `json:"tool"`
	// When is a jq expression over the input; empty matches every input. A rule
	// whose expression fails or takes too long asks.
	When string `json:"when,omitempty"`
	// Decision is allow, ask or deny.
	Decision string `json:"decision"`
	// Message reaches the script with the error.
	Message string `json:"message,omitempty"`
	// Examples are checked when the rules are compiled.
	Examples *Examples `json:"examples,omitempty"`
}

// Examples are calls that a rule must match, and calls that it must not.
type Examples struct {
	Match   []Example `json:"match,omitempty"`
	NoMatch []Example `json:"no_match,omitempty"`
}

// Example is one call: "github delete-branch" and its input, {} when left out.
type Example struct {
	Tool  string          `json:"tool"`
	Input json.RawMessage `json:"input,omitempty"`
}

// Rules are compiled rules, safe for concurrent use. A nil *Rules matches nothing.
type Rules struct{ rules []compiledRule }

type compiledRule struct {
	Rule
	n    int
	glob []rune
	when *condition // nil matches every input
}

func (r *compiledRule) label() string { return fmt.Sprintf("rule %d (%s)", r.n, r.Tool) }

// CompileRules compiles the rules and checks their examples. An error names
// the rule and the field.
func CompileRules(rules []Rule) (*Rules, error) {
	out := &Rules{rules: make([]compiledRule, len(rules))}
	for i, rule := range rules {
		field, err := out.rules[i].compile(rule, i)
		if err != nil {
			return nil, fmt.Errorf("rules[%d].%s: %w", i, field, err)
		}
	}
	return out, nil
}

func (r *compiledRule) compile(rule Rule, n int) (field string, err error) {
	*r = compiledRule{Rule: rule, n: n, glob: []rune(spelling(rule.Tool))}
	switch {
	case len(r.glob) == 0:
		return "tool", errors.New(`it is empty; want a glob over "server tool"`)
	case strings.ContainsAny(rule.Tool, `[]{}\`):
		return "tool", fmt.Errorf("%q: only * and ? are special in a glob; for a set of tools write one rule each", rule.Tool)
	}
	switch rule.Decision {
	case "allow", "ask", "deny":
	default:
		return "decision", fmt.Errorf("it is %q; want allow, ask or deny", rule.Decision)
	}
	if strings.TrimSpace(rule.When) != "" {
		if r.when, err = compileCondition(rule.When); err != nil {
			return "when", err
		}
	}
	if rule.Examples == nil {
		return "", nil
	}
	if i, err := r.check(rule.Examples.Match, true); err != nil {
		return fmt.Sprintf("examples.match[%d]", i), err
	}
	if i, err := r.check(rule.Examples.NoMatch, false); err != nil {
		return fmt.Sprintf("examples.no_match[%d]", i), err
	}
	return "", nil
}

// check verifies examples and returns the index of the first that fails.
func (r *compiledRule) check(examples []Example, want bool) (int, error) {
	for i, e := range examples {
		input := e.Input
		if len(input) == 0 {
			input = json.RawMessage("{}")
		}
		if spelling(e.Tool) == "" {
			return i, errors.New(`its tool is empty; want "server tool"`)
		}
		if _, err := catalog.Object(input); err != nil {
			return i, fmt.Errorf("its input is no JSON object: %w", err)
		}
		matched, err := (&subject{tool: []rune(spelling(e.Tool)), raw: input}).matches(context.Background(), r)
		if err != nil {
			return i, fmt.Errorf("%s %s: %w", e.Tool, input, err)
		}
		if matched != want {
			verb := map[bool]string{true: "matches", false: "does not match"}[matched]
			return i, fmt.Errorf("the rule %s %s %s", verb, e.Tool, input)
		}
	}
	return -1, nil
}

// match finds the first rule for a call. A rule that cannot be evaluated comes
// back with its fault: it asks.
func (rs *Rules) match(ctx context.Context, call catalog.Call) (*compiledRule, error) {
	if rs == nil {
		return nil, nil
	}
	s := &subject{tool: []rune(spelling(call.Tool.Key())), raw: call.Input}
	for i := range rs.rules {
		r := &rs.rules[i]
		if matched, err := s.matches(ctx, r); err != nil || matched {
			return r, err
		}
	}
	return nil, nil
}

// subject is a call as rules see it. The input is decoded when the first
// condition needs it.
type subject struct {
	tool    []rune
	raw     json.RawMessage
	input   any
	fault   error
	decoded bool
}

func (s *subject) matches(ctx context.Context, r *compiledRule) (bool, error) {
	if !globMatch(r.glob, s.tool) {
		return false, nil
	}
	if r.when == nil {
		return true, nil
	}
	if !s.decoded {
		s.input, s.fault = conditionInput(s.raw)
		s.decoded = true
	}
	if s.fault != nil {
		return false, s.fault
	}
	return r.when.holds(ctx, s.input)
}

// spelling is how tools are compared with globs: the tool's own name and the
// one it is shown with are alike in it.
func spelling(s string) string {
	return strings.ToLower(catalog.Shown(strings.Join(strings.Fields(s), " ")))
}

// globMatch matches * (any text) and ? (one character), in time of at most the
// product of the lengths.
func globMatch(glob, s []rune) bool {
	star, at := -1, 0
	i, j := 0, 0
	for j < len(s) {
		switch {
		case i < len(glob) && glob[i] == '*':
			star, at = i, j
			i++
		case i < len(glob) && (glob[i] == '?' || glob[i] == s[j]):
			i++
			j++
		case star >= 0:
			at++
			i, j = star+1, at
		default:
			return false
		}
	}
	for i < len(glob) && glob[i] == '*' {
		i++
	}
	return i == len(glob)
}
