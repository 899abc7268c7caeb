package approvals

import (
	"context"
	"errors"
	"time"
)

// What Answer can fail with.
var (
	ErrUnknownRequest = errors.New("no such request")
	ErrAnswered       = errors.New("the request has been answered already")
	ErrExpired        = errors.New("the request has expired; it counts as rejected")
)

// Store keeps requests, answers and the audit trail. Every method is one
// transaction: it happens whole or not at all. A Store is safe for concurrent
// use, also by several processes where its medium is shared. Times are the
// caller's, in whole milliseconds, so that one clock decides. After Close every
// method fails.
type Store interface {
	// Raise returns the n-th (from 0) request that is open at now for r's session
	// and fingerprint, in the order asked, and adds r when there is none.
	Raise(ctx context.Context, r Request, n int, now time.Time) (Request, error)
	// Answer records the answer to an open request. The errors are
	// ErrUnknownRequest, ErrAnswered and ErrExpired, or the store's own.
	Answer(ctx context.Context, id string, d Decision, who string, now time.Time) (Request, error)
	// Answers is what people have answered so far that bears on a call.
	Answers(ctx context.Context, session, identity, fingerprint string) (Answers, error)
	// Consume uses up the first unused one-off answer of an exact call, in the
	// order asked, and records the use. It is atomic: of any number of callers
	// that race for one answer exactly one gets it. ok is false when none is left.
	Consume(ctx context.Context, u Use) (d Decision, ok bool, err error)
	// Record adds the use of an "always" answer to the audit trail.
	Record(ctx context.Context, e Event) error
	// Allowed is the latest request of a session for a tool, by its registry name,
	// that was answered Allow or AllowAlways, used or not. ok is false when there
	// is none.
	Allowed(ctx context.Context, session, tool string) (r Request, ok bool, err error)
	// Open lists the requests open at now, oldest first; all sessions for "".
	Open(ctx context.Context, session string, now time.Time) ([]Request, error)
	// History is the audit trail, oldest first; all sessions for "".
	History(ctx context.Context, session string) ([]Event, error)
	Close() error
}

// Answers are the answers that bear on one call.
type Answers struct {
	// Always is the latest "always" answer for the tool in the session.
	Always Always
	// OneOff are the unused one-off answers of the exact call, Allow or Reject, in
	// the order in which their requests were asked.
	OneOff []Decision
}

// Always is an answer for a whole tool. Its zero value is none.
type Always struct {
	Decision Decision
	Request  string // that it answered
	Who      string
}

// Use is the use of a one-off answer by a call that is about to start.
type Use struct {
	Session, Fingerprint, Run string
	At                        time.Time
	// RejectOnly passes over answers that allow: nothing else keeps the call from
	// running, so it needs none of them.
	RejectOnly bool
}
