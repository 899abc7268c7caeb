// Package lint holds the rules of tis-lint: what can be said about a script
// that calls tools before anybody runs it.
//
// A rule is one value in one file of its own: code, texts, examples and the
// check. Its page, its entry in SARIF and two of its tests come from that
// value. The package runs nothing, opens nothing and loads no server. Start
// reading at Check; the rules are listed in rules.go.
package lint

import (
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

// Fix is a change that mends a finding and never changes what the script calls.
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

// Example is a script of a rule's page, over the catalog that all pages share.
type Example struct {
	Script string
}

// Rule is one check with everything that is to be known about it.
type Rule struct {
	Code     string // TIS101
	Name     string // unknown-tool
	Severity Severity
	Title    string // one line
	// Problem, Better, Why and Exceptions are the sections of its page, in
	// Markdown. Bad is the script that shows the problem and Good the better one.
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
	// Disabled lists codes that are off; Severities changes the rules' own.
	Disabled   []string
	Severities map[string]Severity
}

// Check finds what the rules have to say about text, in source order. A text
// that does not parse is a finding, not an error; an error is a fault of the
// options or of Preview. name is used in no message.
func Check(text string, o Options) ([]Finding, error) {
	return nil, nil
}

type pass struct{}
