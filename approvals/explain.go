package approvals

import (
	"context"
	"encoding/json"

	"github.com/tools-in-shell/tis/catalog"
)

// Explanation says what would happen to a call now, and what decides it.
type Explanation struct {
	Tool  string          `json:"tool"` // as it is typed
	Input json.RawMessage `json:"input"`
	// Outcome is "run", "ask" or "deny", and Why what decided that.
	Outcome string `json:"outcome"`
	Why     string `json:"why"`
	Message string `json:"message,omitempty"` // the rule's own
	// Judged is what rule, mode and hints say before any answer counts.
	Judged struct {
		Outcome string `json:"outcome"`
		Why     string `json:"why"`
	} `json:"judged"`
	Mode  Mode          `json:"mode"`
	Rule  *Rule         `json:"rule"` // the first that matches
	Hints catalog.Hints `json:"hints"`
	// RequiresApproval is what the tool's owner set.
	RequiresApproval bool    `json:"requires_approval"`
	Session          string  `json:"session"`
	Answers          Covered `json:"answers"`
	// Open are the requests for this very call that wait for an answer.
	Open        []Request `json:"open"`
	Fingerprint string    `json:"fingerprint"`
	// Changed is what changed about the tool since it was last allowed.
	Changed []string `json:"changed"`
}

// Covered are a person's answers that bear on a call.
type Covered struct {
	// Always is allow_always or reject_always; empty for none.
	Always Decision `json:"always"`
	Who    string   `json:"who"` // gave it
	// OneOff are the unused answers to this very call.
	OneOff []Decision `json:"one_off"`
}

// String is the outcome in one word: run, ask or deny.
func (o Outcome) String() string {
	switch o {
	case Run:
		return "run"
	case Ask:
		return "ask"
	case Deny:
		return "deny"
	}
	return "none"
}

// Explain says what would happen to a call in a session. Nobody is asked and no
// answer is used up.
func (g *Gate) Explain(ctx context.Context, session string, call catalog.Call) (Explanation, error) {
	judged, answers, err := g.weigh(ctx, session, call)
	if err != nil {
		return Explanation{}, err
	}
	verdicts, err := g.Preview(ctx, session, []catalog.Call{call})
	if err != nil {
		return Explanation{}, err
	}
	v := verdicts[0]
	e := Explanation{
		Tool: call.Tool.Command(), Input: call.Input, Outcome: v.Outcome.String(), Why: v.Why, Message: v.Message,
		Mode: g.cfg.Mode, Hints: call.Tool.Hints, RequiresApproval: call.Tool.Policy.RequiresApproval, Session: session, Fingerprint: v.Fingerprint,
		Answers: Covered{Always: answers.Always.Decision, Who: answers.Always.Who, OneOff: append([]Decision{}, answers.OneOff...)}, Open: []Request{},
	}
	e.Judged.Outcome, e.Judged.Why = judged.Outcome.String(), judged.Why
	if r, _ := g.cfg.Rules.match(ctx, call); r != nil {
		e.Rule = &r.Rule
	}
	open, err := g.List(ctx, session)
	if err != nil {
		return Explanation{}, err
	}
	for _, r := range open {
		if r.Session == session && r.Fingerprint == v.Fingerprint {
			e.Open = append(e.Open, r)
		}
	}
	e.Changed, err = g.Changed(ctx, Request{Session: session, Tool: call.Tool.RegistryName(), Identity: identity(call.Tool), Definition: define(call.Tool)})
	if e.Changed == nil {
		e.Changed = []string{}
	}
	return e, err
}
