package approvals

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"strings"
	"time"

	"github.com/itchyny/gojq"

	"github.com/tools-in-shell/tis/catalog"
)

// Rule is one of the host's own decisions. The first rule that matches decides.
type Rule struct {
	// Tool is a glob over "server tool": "github delete-*". Case, - and _ don't matter.
	Tool string `json:"tool"`
	// When is a jq expression over the input; empty matches every input.
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

// Example is one call: "github delete-branch" and its input.
type Example struct {
	Tool  string          `json:"tool"`
	Input json.RawMessage `json:"input,omitempty"`
}

// Rules are compiled rules. A nil *Rules matches nothing.
type Rules struct{ rules []compiledRule }

type compiledRule struct {
	Rule
	n    int
	glob string
	when *gojq.Code
}

func (r *compiledRule) label() string { return fmt.Sprintf("%d (%s)", r.n, r.Tool) }

// conditionTime bounds one evaluation of a condition.
const conditionTime = 100 * time.Millisecond

// CompileRules compiles the rules and checks their examples. An error names
// the rule and the field.
func CompileRules(rules []Rule) (*Rules, error) {
	out := &Rules{}
	for i, rule := range rules {
		at := func(field string) string { return fmt.Sprintf("rules[%d].%s", i, field) }
		c := compiledRule{Rule: rule, n: i, glob: spelling(rule.Tool)}
		if strings.TrimSpace(rule.Tool) == "" {
			return nil, fmt.Errorf(`%s: it is empty; want a glob over "server tool"`, at("tool"))
		}
		switch rule.Decision {
		case "allow", "ask", "deny":
		default:
			return nil, fmt.Errorf("%s: it is %q; want allow, ask or deny", at("decision"), rule.Decision)
		}
		if rule.When != "" {
			query, err := gojq.Parse(rule.When)
			if err != nil {
				return nil, fmt.Errorf("%s: not a jq expression: %w", at("when"), err)
			}
			if c.when, err = gojq.Compile(query); err != nil {
				return nil, fmt.Errorf("%s: not a jq expression: %w", at("when"), err)
			}
		}
		if err := c.checkExamples(at); err != nil {
			return nil, err
		}
		out.rules = append(out.rules, c)
	}
	return out, nil
}

func (r *compiledRule) checkExamples(at func(string) string) error {
	if r.Examples == nil {
		return nil
	}
	for _, group := range []struct {
		name string
		list []Example
		want bool
	}{{"examples.match", r.Examples.Match, true}, {"examples.no_match", r.Examples.NoMatch, false}} {
		for j, e := range group.list {
			input := e.Input
			if len(input) == 0 {
				input = json.RawMessage("{}")
			}
			matched, err := r.matches(context.Background(), e.Tool, input)
			if err != nil {
				return fmt.Errorf("%s[%d]: %w", at(group.name), j, err)
			}
			if matched != group.want {
				return fmt.Errorf("%s[%d]: the rule gives %t for %s %s", at(group.name), j, matched, e.Tool, input)
			}
		}
	}
	return nil
}

// match finds the first rule for a call. A rule that cannot be evaluated comes
// back with its fault: it asks.
func (rs *Rules) match(ctx context.Context, call catalog.Call) (*compiledRule, error) {
	if rs == nil {
		return nil, nil
	}
	for i := range rs.rules {
		r := &rs.rules[i]
		if matched, err := r.matches(ctx, call.Tool.Key(), call.Input); err != nil || matched {
			return r, err
		}
	}
	return nil, nil
}

func (r *compiledRule) matches(ctx context.Context, tool string, input json.RawMessage) (bool, error) {
	if !globMatch(r.glob, spelling(tool)) {
		return false, nil
	}
	if r.when == nil {
		return true, nil
	}
	value, err := jqValue(input)
	if err != nil {
		return false, err
	}
	ctx, cancel := context.WithTimeout(ctx, conditionTime)
	defer cancel()
	v, ok := r.when.RunWithContext(ctx, value).Next()
	if err, isErr := v.(error); isErr {
		if errors.Is(err, context.DeadlineExceeded) {
			return false, fmt.Errorf("the condition took longer than %v", conditionTime)
		}
		return false, err
	}
	return ok && v != nil && v != false, nil
}

// spelling is how tools are compared with globs.
func spelling(s string) string { return strings.ToLower(catalog.Shown(strings.TrimSpace(s))) }

// globMatch matches * (any text) and ? (one character).
func globMatch(glob, s string) bool {
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
	return strings.Trim(glob[i:], "*") == ""
}

// jqValue decodes an input for gojq with integers of any size kept exact.
func jqValue(input json.RawMessage) (any, error) {
	dec := json.NewDecoder(bytes.NewReader(input))
	dec.UseNumber()
	var v any
	if err := dec.Decode(&v); err != nil {
		return nil, err
	}
	return jqNumbers(v), nil
}

func jqNumbers(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for k, x := range v {
			v[k] = jqNumbers(x)
		}
	case []any:
		for i, x := range v {
			v[i] = jqNumbers(x)
		}
	case json.Number:
		if n, ok := new(big.Int).SetString(v.String(), 10); ok {
			if n.IsInt64() {
				return int(n.Int64())
			}
			return n
		}
		f, err := v.Float64()
		if err != nil && f == 0 {
			return v.String()
		}
		return f
	}
	return v
}
