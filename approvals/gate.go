package approvals

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/tools-in-shell/tis/catalog"
)

// How long a request waits for its answer.
const (
	DefaultTimeout = 15 * time.Minute
	MinTimeout     = time.Minute
	MaxTimeout     = 24 * time.Hour
)

// Config of a Gate.
type Config struct {
	// Mode decides where no rule does; default Normal.
	Mode Mode
	// Timeout of a request; default DefaultTimeout, kept from MinTimeout to MaxTimeout.
	Timeout time.Duration
	// Rules are the host's; may be nil.
	Rules *Rules
	// Now is the clock; default time.Now. Only its wall time counts, since
	// deadlines are shared by processes.
	Now func() time.Time
}

// Gate judges calls. It is safe for concurrent use.
type Gate struct {
	store Store
	cfg   Config
}

// NewGate makes a gate over a store.
func NewGate(store Store, cfg Config) *Gate {
	if cfg.Mode == "" {
		cfg.Mode = Normal
	}
	if cfg.Timeout == 0 {
		cfg.Timeout = DefaultTimeout
	}
	cfg.Timeout = min(max(cfg.Timeout, MinTimeout), MaxTimeout)
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	return &Gate{store: store, cfg: cfg}
}

// now is the wall time as stores keep it.
func (g *Gate) now() time.Time { return g.cfg.Now().UTC().Truncate(time.Millisecond) }

// Preview judges calls that a script would make, in order. Nobody is asked and
// no answer is used up, but one-off answers are counted: two identical calls
// need two.
func (g *Gate) Preview(ctx context.Context, session string, calls []catalog.Call) ([]Verdict, error) {
	unused := map[string][]Decision{}
	verdicts := make([]Verdict, len(calls))
	for i, call := range calls {
		v, answers, err := g.weigh(ctx, session, call)
		if err != nil {
			return nil, err
		}
		v, _ = v.under(answers.Always, call)
		if v.Outcome != Deny {
			left, seen := unused[v.Fingerprint]
			if !seen {
				left = answers.OneOff
			}
			if n := next(left, v.Outcome == Run); n >= 0 {
				v = v.answered(left[n], call)
				left = slices.Delete(slices.Clone(left), n, n+1)
			}
			unused[v.Fingerprint] = left
		}
		verdicts[i] = v
	}
	return verdicts, nil
}

// next is the index of the one-off answer that the next identical call uses, or
// -1. A call that would run anyway uses no answer that allows it.
func next(oneOff []Decision, runs bool) int {
	return slices.IndexFunc(oneOff, func(d Decision) bool { return d == Reject || !runs })
}

// Authorize judges a call that is about to start. When a one-off answer lets it
// run, that answer is used up, by this call and no other; so is one that rejects
// it. An Ask verdict raises nothing by itself: that is Ask's work. With an error
// the call must not run.
func (g *Gate) Authorize(ctx context.Context, session, run string, call catalog.Call) (Verdict, error) {
	judged, answers, err := g.weigh(ctx, session, call)
	if err != nil {
		return Verdict{}, err
	}
	v, byAlways := judged.under(answers.Always, call)
	if v.Outcome == Ask || v.Outcome == Run && next(answers.OneOff, true) >= 0 {
		d, ok, err := g.store.Consume(ctx, Use{Session: session, Fingerprint: v.Fingerprint, Run: run, At: g.now(), RejectOnly: v.Outcome == Run})
		if err != nil {
			return Verdict{}, fmt.Errorf("use an answer: %w", err)
		}
		if ok {
			return v.answered(d, call), nil
		}
	}
	if byAlways {
		a := answers.Always
		err := g.store.Record(ctx, Event{At: g.now(), What: UseOf(a.Decision), Request: a.Request, Session: session, Command: call.Tool.Command(), Who: a.Who, Run: run})
		if err != nil {
			return Verdict{}, fmt.Errorf("record the use of an answer: %w", err)
		}
	}
	return v, nil
}

// weigh judges a call and fetches the answers that bear on it. The store is
// asked about every call, so that one that fails closes the gate.
func (g *Gate) weigh(ctx context.Context, session string, call catalog.Call) (Verdict, Answers, error) {
	v, err := g.judge(ctx, call)
	if err != nil {
		return Verdict{}, Answers{}, err
	}
	answers, err := g.store.Answers(ctx, session, identity(call.Tool), v.Fingerprint)
	if err != nil {
		return Verdict{}, Answers{}, fmt.Errorf("look up answers: %w", err)
	}
	return v, answers, nil
}

// Ask raises a request for each call, or returns the identical one that is
// open: the n-th identical call stands for the n-th identical request. After an
// error it may be called again with the same calls.
func (g *Gate) Ask(ctx context.Context, session, run string, calls []catalog.Call) ([]Request, error) {
	requests := make([]Request, len(calls))
	asked := map[string]int{}
	for i, call := range calls {
		fp, err := Fingerprint(call)
		if err != nil {
			return nil, err
		}
		now := g.now()
		requests[i], err = g.store.Raise(ctx, Request{
			ID: strings.ToLower(rand.Text()[:16]), Session: session, Tool: call.Tool.RegistryName(), Command: call.Tool.Command(),
			Arguments: call.Input, Fingerprint: fp, Risk: RiskNeedsApproval, Mode: g.cfg.Mode,
			AskedAt: now, ExpiresAt: now.Add(g.cfg.Timeout), Identity: identity(call.Tool), Definition: define(call.Tool), Run: run,
		}, asked[fp], now)
		if err != nil {
			return nil, fmt.Errorf("raise a request: %w", err)
		}
		asked[fp]++
	}
	return requests, nil
}

// Answer records a person's answer to an open request. Its errors wrap
// ErrUnknownRequest, ErrAnswered and ErrExpired, or are the store's own.
func (g *Gate) Answer(ctx context.Context, id string, d Decision, who string) (Request, error) {
	switch d {
	case Allow, AllowAlways, Reject, RejectAlways:
	default:
		return Request{}, fmt.Errorf("decision %q: want allow, allow_always, reject or reject_always", d)
	}
	if strings.TrimSpace(who) == "" {
		return Request{}, errors.New("an answer needs the name of who gives it")
	}
	r, err := g.store.Answer(ctx, id, d, who, g.now())
	if err != nil {
		return Request{}, fmt.Errorf("request %q: %w", id, err)
	}
	return r, nil
}

// List is the requests that wait for an answer, oldest first; all sessions for "".
func (g *Gate) List(ctx context.Context, session string) ([]Request, error) {
	return g.store.Open(ctx, session, g.now())
}

// History is the audit trail, oldest first; all sessions for "".
func (g *Gate) History(ctx context.Context, session string) ([]Event, error) {
	return g.store.History(ctx, session)
}

// Mode is the gate's mode.
func (g *Gate) Mode() Mode { return g.cfg.Mode }
