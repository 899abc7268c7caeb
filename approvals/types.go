package approvals

import (
	"encoding/json"
	"time"
)

// Mode says which calls a person is asked about when no rule decides.
type Mode string

// The modes.
const (
	Off        Mode = "off"        // asks about nothing
	Normal     Mode = "normal"     // destructive, open-world, or marked by the tool's owner
	Protective Mode = "protective" // everything not declared read-only
)

// Decision is a person's answer.
type Decision string

// The decisions.
const (
	Allow        Decision = "allow"         // this exact call, once
	AllowAlways  Decision = "allow_always"  // every call of this tool in this session
	Reject       Decision = "reject"        // the next identical call is denied
	RejectAlways Decision = "reject_always" // no call of this tool in this session runs
)

// always reports whether the answer covers a whole tool.
func (d Decision) always() bool { return d == AllowAlways || d == RejectAlways }

// UseOf names the use of an answer in the audit trail: "used" when it let a call
// run, "denied" when it kept one from running.
func UseOf(d Decision) string {
	if d == Reject || d == RejectAlways {
		return "denied"
	}
	return "used"
}

// Risk is how a plan and a request name what a call can do.
type Risk string

// The risks.
const (
	RiskReadOnly      Risk = "read_only"
	RiskChanges       Risk = "changes"
	RiskNeedsApproval Risk = "needs_approval"
	RiskBlocked       Risk = "blocked"
)

// Outcome is what the gate says of a call.
type Outcome int

// The outcomes. The zero value is none of them, so that a forgotten verdict
// lets nothing through.
const (
	Run Outcome = iota + 1
	Ask
	Deny
)

// Verdict is the gate's judgement of one call.
type Verdict struct {
	Outcome Outcome
	// Why names what decided: the rule, the hint, the mode or the answer.
	Why string
	// Message is the matching rule's own message to the script; often empty.
	Message     string
	Fingerprint string
	Risk        Risk
}

// Request is a question to a person about one exact call.
type Request struct {
	ID          string          `json:"id"`
	Session     string          `json:"session"`
	Tool        string          `json:"tool"`    // registry name
	Command     string          `json:"command"` // "tools github delete-branch"
	Arguments   json.RawMessage `json:"arguments"`
	Fingerprint string          `json:"fingerprint"`
	Risk        Risk            `json:"risk"`
	Mode        Mode            `json:"mode"`
	AskedAt     time.Time       `json:"asked_at"`
	ExpiresAt   time.Time       `json:"expires_at"`

	// Identity is the tool with the digest of its definition; an "always" answer
	// covers this and nothing else. It is kept by the store.
	Identity string `json:"-"`
	// Definition is what the tool said of itself, as JSON of the gate's own; empty
	// when it is too long. It is kept by the store.
	Definition json.RawMessage `json:"-"`
	// Run is the run that asked.
	Run string `json:"-"`

	// Line is where the call stands in the script that asked, from 1, and Source
	// that line; 0 when it is not known. No store keeps them.
	Line   int    `json:"-"`
	Source string `json:"-"`
}

// Event is one line of the audit trail: an answer, or a use of one.
type Event struct {
	At      time.Time `json:"at"`
	What    string    `json:"what"`    // a decision; or its use, as UseOf names it
	Request string    `json:"request"` // the request that was answered
	Session string    `json:"session"`
	Command string    `json:"command"`
	Who     string    `json:"who"`           // who gave the answer
	Run     string    `json:"run,omitempty"` // the run that used it; empty for the answer itself
}
