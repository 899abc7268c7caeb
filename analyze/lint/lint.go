// Package lint holds the rules of tis-lint: what can be said about a script
// that calls tools before anybody runs it.
//
// A rule is one value in one file of its own: code, texts, examples and the
// check. Its page, its entry in SARIF and two of its tests come from that
// value. The package runs nothing, opens nothing and loads no server. Start
// reading at Check; the rules are listed in rules.go, and what they look at is
// prepared in pass.go.
package lint

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/tools-in-shell/tis/approvals"
	"github.com/tools-in-shell/tis/catalog"
)

// Severity says how sure and how bad a finding is.
type Severity string

// The severities, from the least on.
const (
	Info    Severity = "info"
	Warning Severity = "warning"
	Error   Severity = "error"
)

// AtLeast reports whether s is as bad as least, or worse.
func (s Severity) AtLeast(least Severity) bool {
	order := []Severity{Info, Warning, Error}
	return slices.Index(order, s) >= slices.Index(order, least)
}

// Position is a place in the text that was checked.
type Position struct {
	Offset int // in bytes, from 0
	Line   int // from 1
	Col    int // in bytes, from 1
}

// Edit replaces the bytes from Start up to End by Text.
type Edit struct {
	Start, End Position
	Text       string
}

// Fix is a change that mends a finding and never changes what the script calls
// when it goes well.
type Fix struct {
	Message string // what the fix does: "write delete-branch"
	Edits   []Edit // in source order, without overlap
}

// Note points at a second place that a finding speaks of.
type Note struct {
	Start, End Position
	Message    string
}

// Finding is one thing that a rule has to say about one place.
type Finding struct {
	Rule       *Rule
	Severity   Severity // the rule's own, unless the options change it
	Message    string   // one line, without a full stop at its end
	Start, End Position
	Notes      []Note
	Fixes      []Fix // the first is the preferred one
}

// Rule is one check with everything that is to be known about it.
type Rule struct {
	Code     string // TIS101
	Name     string // unknown-tool
	Severity Severity
	Title    string // one line
	// Why and Exceptions are sections of its page, in Markdown. Bad is a script
	// that shows the problem and Good a better one, over the example catalog.
	Why        string
	Exceptions string
	Bad, Good  string

	check func(*pass)
}

// Options say what a script is checked against.
type Options struct {
	// Catalog may be nil: rules that need one say nothing then.
	Catalog *catalog.Catalog
	// Preview judges calls and asks nobody; nil: rules about approvals say nothing.
	Preview func([]catalog.Call) ([]approvals.Verdict, error)
	// MaxCalls is the call limit of a run; default 50.
	MaxCalls int
	// Disabled lists codes that are off; Severities changes the rules' own.
	Disabled   []string
	Severities map[string]Severity
}

// Validate reports the first code or severity of the options that there is not.
func (o Options) Validate() error {
	for _, code := range o.Disabled {
		if Find(code) == nil {
			return fmt.Errorf("there is no rule %q%s", code, nearCode(code))
		}
	}
	for code, s := range o.Severities {
		if Find(code) == nil {
			return fmt.Errorf("there is no rule %q%s", code, nearCode(code))
		}
		if s != Info && s != Warning && s != Error {
			return fmt.Errorf("the severity %q of %s is none of info, warning and error", s, code)
		}
	}
	return nil
}

// Check finds what the rules have to say about text, in source order. A text
// that does not parse is a finding, not an error; an error is a fault of the
// options or of Preview.
func Check(text string, o Options) ([]Finding, error) {
	if err := o.Validate(); err != nil {
		return nil, err
	}
	p, err := newPass(text, o)
	if err != nil {
		return nil, err
	}
	for _, r := range Rules() {
		if slices.Contains(o.Disabled, r.Code) || r == ruleDirective || p.script == nil && r != ruleParse {
			continue
		}
		p.rule = r
		r.check(p)
	}
	p.direct() // takes out what directives disable, and judges the directives
	slices.SortStableFunc(p.found, func(a, b Finding) int {
		return cmp.Or(cmp.Compare(a.Start.Offset, b.Start.Offset), cmp.Compare(a.Rule.Code, b.Rule.Code))
	})
	return p.found, nil
}
