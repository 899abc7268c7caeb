package approvals

import (
	"context"
	"encoding/json"
	"errors"
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
	// Run is the run that asked.
	Run string `json:"-"`
}

// Event is one line of the audit trail.
type Event struct {
	At      time.Time `json:"at"`
	What    string    `json:"what"` // a decision, "used" or "denied"
	Request string    `json:"request"`
	Session string    `json:"session"`
	Command string    `json:"command"`
	Who     string    `json:"who"`
	Run     string    `json:"run,omitempty"`
}

// What Answer can fail with.
var (
	ErrUnknownRequest = errors.New("no such request")
	ErrAnswered       = errors.New("the request has been answered already")
	ErrExpired        = errors.New("the request has expired; it counts as rejected")
)

// Store keeps requests, answers and the audit trail. Every method is one
// transaction: it happens whole or not at all. A Store is safe for concurrent
// use, also by several processes where its medium is shared. Times are the
// caller's, so that one clock decides.
type Store interface {
	// Raise returns the n-th (from 0) request that is open at now for r's session
	// and fingerprint, in the order asked, and adds r when there is none.
	Raise(ctx context.Context, r Request, n int, now time.Time) (Request, error)
	// Answer records the answer to an open request. The errors are
	// ErrUnknownRequest, ErrAnswered and ErrExpired, or the store's own.
	Answer(ctx context.Context, id string, d Decision, who string, now time.Time) (Request, error)
	// Standing is the latest "always" answer for a tool's identity in a session;
	// empty when there is none.
	Standing(ctx context.Context, session, identity string) (Decision, error)
	// Unused lists the one-off answers of an exact call that have not been used,
	// in the order in which their requests were asked.
	Unused(ctx context.Context, session, fingerprint string) ([]Decision, error)
	// Consume uses up the first of them, atomically: of any number of callers
	// that race for one answer exactly one gets it. ok is false when none is left.
	Consume(ctx context.Context, session, fingerprint, run string, now time.Time) (d Decision, ok bool, err error)
	// Open lists the requests open at now, oldest first; all sessions for "".
	Open(ctx context.Context, session string, now time.Time) ([]Request, error)
	// History is the audit trail, oldest first; all sessions for "".
	History(ctx context.Context, session string) ([]Event, error)
	Close() error
}
