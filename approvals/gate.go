package approvals

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
	"time"

	"github.com/tools-in-shell/tis/catalog"
)

// DefaultTimeout is how long a request waits for its answer.
const DefaultTimeout = 15 * time.Minute

// Config of a Gate.
type Config struct {
	Mode    Mode          // default Normal
	Timeout time.Duration // of a request; default DefaultTimeout
	Rules   *Rules        // the host's; may be nil
	// Now is the clock; default time.Now.
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
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	return &Gate{store: store, cfg: cfg}
}

// Fingerprint identifies an exact call: the tool as it is defined now, and the
// input by its meaning.
func Fingerprint(call catalog.Call) (string, error) {
	input, err := catalog.Canonical(call.Input)
	if err != nil {
		return "", err
	}
	h := sha256.New()
	fmt.Fprintf(h, "%s\n%d\n", identity(call.Tool), len(input))
	h.Write(input)
	return hex.EncodeToString(h.Sum(nil)), nil
}

// identity is a tool as it is defined now.
func identity(t *catalog.Tool) string { return t.RegistryName() + "@" + t.Digest() }

// judge is what rules, mode and hints say, before any answer counts.
func (g *Gate) judge(ctx context.Context, call catalog.Call) Verdict {
	risk := RiskChanges
	if call.Tool.Hints.IsReadOnly() {
		risk = RiskReadOnly
	}
	if rule, fault := g.cfg.Rules.match(ctx, call); rule != nil {
		v := Verdict{Risk: risk, Why: "rule " + rule.label(), Message: rule.Message}
		switch {
		case fault != nil:
			v.Outcome, v.Risk = Ask, RiskNeedsApproval
			v.Why += ", which failed: " + catalog.OneLine(fault.Error())
		case rule.Decision == "allow":
			v.Outcome = Run
		case rule.Decision == "deny":
			v.Outcome, v.Risk = Deny, RiskBlocked
		default:
			v.Outcome, v.Risk = Ask, RiskNeedsApproval
		}
		return v
	}
	if why := g.cfg.Mode.gates(call.Tool); why != "" {
		return Verdict{Outcome: Ask, Why: why, Risk: RiskNeedsApproval}
	}
	return Verdict{Outcome: Run, Why: "mode " + string(g.cfg.Mode), Risk: risk}
}

// gates says why the mode asks about a tool, or "".
func (m Mode) gates(t *catalog.Tool) string {
	declared := func(b *bool) bool { return b != nil && *b }
	switch {
	case m == Off:
		return ""
	case t.Policy.RequiresApproval:
		return "its owner requires approval"
	case declared(t.Hints.Destructive):
		return "it declares that it is destructive"
	case declared(t.Hints.OpenWorld):
		return "it declares that it reaches the outside world"
	case m == Protective && !declared(t.Hints.ReadOnly):
		return "it does not declare that it is read-only"
	}
	return ""
}

// Preview judges calls that a script would make, in order. Nobody is asked and
// no answer is used up, but one-off answers are counted: two identical calls
// need two.
func (g *Gate) Preview(ctx context.Context, session string, calls []catalog.Call) ([]Verdict, error) {
	unused := map[string][]Decision{}
	verdicts := make([]Verdict, len(calls))
	for i, call := range calls {
		v, done, err := g.standing(ctx, session, call)
		if err != nil {
			return nil, err
		}
		if !done {
			answers, seen := unused[v.Fingerprint]
			if !seen {
				if answers, err = g.store.Unused(ctx, session, v.Fingerprint); err != nil {
					return nil, err
				}
			}
			if len(answers) > 0 {
				v = v.answered(answers[0], call)
				answers = answers[1:]
			}
			unused[v.Fingerprint] = answers
		}
		verdicts[i] = v
	}
	return verdicts, nil
}

// Authorize judges a call that is about to start. When a one-off answer lets it
// run, that answer is used up, by this call and no other. An Ask verdict raises
// nothing by itself: that is Ask's work. With an error the call must not run.
func (g *Gate) Authorize(ctx context.Context, session, run string, call catalog.Call) (Verdict, error) {
	v, done, err := g.standing(ctx, session, call)
	if err != nil || done {
		return v, err
	}
	d, ok, err := g.store.Consume(ctx, session, v.Fingerprint, run, g.cfg.Now())
	if err != nil {
		return Verdict{}, err
	}
	if ok {
		v = v.answered(d, call)
	}
	return v, nil
}

// standing is the verdict before one-off answers; done says that they don't matter.
func (g *Gate) standing(ctx context.Context, session string, call catalog.Call) (v Verdict, done bool, err error) {
	v = g.judge(ctx, call)
	if v.Fingerprint, err = Fingerprint(call); err != nil {
		return Verdict{}, true, err
	}
	if v.Outcome == Deny {
		return v, true, nil
	}
	d, err := g.store.Standing(ctx, session, identity(call.Tool))
	switch {
	case err != nil:
		return Verdict{}, true, err
	case d == RejectAlways:
		v.Outcome, v.Risk, v.Why = Deny, RiskBlocked, "a person rejected this tool for the session"
		return v, true, nil
	case v.Outcome == Run:
		return v, true, nil
	case d == AllowAlways:
		return v.answered(AllowAlways, call), true, nil
	}
	return v, false, nil
}

// answered is the verdict after a person's answer.
func (v Verdict) answered(d Decision, call catalog.Call) Verdict {
	switch d {
	case Allow, AllowAlways:
		v.Outcome, v.Why, v.Risk = Run, "a person answered "+string(d), RiskChanges
		if call.Tool.Hints.IsReadOnly() {
			v.Risk = RiskReadOnly
		}
	default:
		v.Outcome, v.Why, v.Risk = Deny, "a person rejected this call", RiskBlocked
	}
	return v
}

// Ask raises a request for each call, or returns the identical one that is
// open: the n-th identical call stands for the n-th identical request.
func (g *Gate) Ask(ctx context.Context, session, run string, calls []catalog.Call) ([]Request, error) {
	requests := make([]Request, len(calls))
	seen := map[string]int{}
	for i, call := range calls {
		fp, err := Fingerprint(call)
		if err != nil {
			return nil, err
		}
		now := g.cfg.Now().UTC().Truncate(time.Millisecond)
		requests[i], err = g.store.Raise(ctx, Request{
			ID: strings.ToLower(rand.Text()[:16]), Session: session, Tool: call.Tool.RegistryName(), Command: call.Tool.Command(),
			Arguments: call.Input, Fingerprint: fp, Risk: RiskNeedsApproval, Mode: g.cfg.Mode,
			AskedAt: now, ExpiresAt: now.Add(g.cfg.Timeout), Identity: identity(call.Tool), Run: run,
		}, seen[fp], now)
		if err != nil {
			return nil, err
		}
		seen[fp]++
	}
	return requests, nil
}

// Answer records a person's answer to an open request.
func (g *Gate) Answer(ctx context.Context, id string, d Decision, who string) (Request, error) {
	switch d {
	case Allow, AllowAlways, Reject, RejectAlways:
	default:
		return Request{}, fmt.Errorf("decision %q: want allow, allow_always, reject or reject_always", d)
	}
	r, err := g.store.Answer(ctx, id, d, who, g.cfg.Now())
	if err != nil {
		return Request{}, fmt.Errorf("request %s: %w", id, err)
	}
	return r, nil
}

// List is the requests that wait for an answer; all sessions for "".
func (g *Gate) List(ctx context.Context, session string) ([]Request, error) {
	return g.store.Open(ctx, session, g.cfg.Now())
}

// History is the audit trail; all sessions for "".
func (g *Gate) History(ctx context.Context, session string) ([]Event, error) {
	return g.store.History(ctx, session)
}
