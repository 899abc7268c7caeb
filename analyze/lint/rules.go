package lint

import (
	"fmt"
	"strings"

	"github.com/agnivade/levenshtein"
)

// rules are all there are, by their codes.
var rules = []*Rule{
	ruleParse, ruleDialect, ruleDirective,
	ruleUnknown, ruleUnreadable, ruleSchema, ruleTwice, ruleDirect,
	ruleHeld, rulePartWay, ruleDenied, ruleNeverTaken,
	ruleTooMany, ruleUnbounded,
	ruleInherited, ruleSpliced, ruleUnquoted, ruleSwallowed,
	ruleShadowed, ruleHidden, ruleDead,
	ruleOneByOne,
}

// Rules lists the rules by their codes. The list and what it points at must not
// be changed.
func Rules() []*Rule { return rules }

// Find is the rule with a code, or with a name; nil when there is none.
func Find(code string) *Rule {
	for _, r := range rules {
		if r.Code == code || r.Name == code {
			return r
		}
	}
	return nil
}

// nearCode is the code that looks most like one that there is not, in
// parentheses, or nothing.
func nearCode(code string) string {
	best, at := 3, ""
	for _, r := range rules {
		if d := levenshtein.ComputeDistance(strings.ToUpper(code), r.Code); d < best {
			best, at = d, r.Code
		}
	}
	if at == "" {
		return "; tis-lint rules lists them"
	}
	return fmt.Sprintf(" (did you mean %s?)", at)
}

// Page is a rule's page in Markdown.
func Page(r *Rule) string {
	var b strings.Builder
	fmt.Fprintf(&b, "## %s %s (%s)\n\n%s.\n\n### Problem\n\n```bash\n%s```\n\n### Better\n\n```bash\n%s```\n\n### Why\n\n%s\n", r.Code, r.Name, r.Severity, r.Title, r.Bad, r.Good, r.Why)
	if r.Exceptions != "" {
		fmt.Fprintf(&b, "\n### Exceptions\n\n%s\n", r.Exceptions)
	}
	return b.String()
}
