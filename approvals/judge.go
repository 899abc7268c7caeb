package approvals

import (
	"context"

	"github.com/tools-in-shell/tis/catalog"
)

// judge is what rules, mode and hints say of a call, before any answer counts.
func (g *Gate) judge(ctx context.Context, call catalog.Call) (Verdict, error) {
	fingerprint, err := Fingerprint(call)
	if err != nil {
		return Verdict{}, err
	}
	v := Verdict{Fingerprint: fingerprint, Outcome: Run, Risk: bareRisk(call.Tool), Why: "mode " + string(g.cfg.Mode)}
	rule, fault := g.cfg.Rules.match(ctx, call)
	if rule == nil {
		if why := g.cfg.Mode.gates(call.Tool); why != "" {
			v.Outcome, v.Risk, v.Why = Ask, RiskNeedsApproval, why
		}
		return v, nil
	}
	v.Why, v.Message = rule.label(), rule.Message
	switch {
	case fault != nil:
		v.Outcome, v.Risk = Ask, RiskNeedsApproval
		v.Why += ", which failed: " + catalog.OneLine(fault.Error())
	case rule.Decision == "allow":
	case rule.Decision == "deny":
		v.Outcome, v.Risk = Deny, RiskBlocked
	default:
		v.Outcome, v.Risk = Ask, RiskNeedsApproval
	}
	return v, nil
}

// bareRisk is the risk of a call that runs.
func bareRisk(t *catalog.Tool) Risk {
	if t.Hints.IsReadOnly() {
		return RiskReadOnly
	}
	return RiskChanges
}

// gates says why the mode asks about a tool, or "". A tool that declares itself
// read-only and destructive or open-world at once is asked about. A mode that is
// none of the three is as strict as Protective.
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
	case m != Normal && !declared(t.Hints.ReadOnly):
		return "it does not declare that it is read-only"
	}
	return ""
}

// under is the verdict with an "always" answer; used says that the answer
// decided. A rule's denial stands whatever a person answered, and what a person
// rejected stays rejected whatever else would let it run.
func (v Verdict) under(a Always, call catalog.Call) (out Verdict, used bool) {
	switch {
	case v.Outcome == Deny:
		return v, false
	case a.Decision == RejectAlways, a.Decision == AllowAlways && v.Outcome == Ask:
		return v.answered(a.Decision, call), true
	}
	return v, false
}

// answered is the verdict after a person's answer.
func (v Verdict) answered(d Decision, call catalog.Call) Verdict {
	switch d {
	case Allow, AllowAlways:
		v.Outcome, v.Why, v.Risk = Run, "a person answered "+string(d), bareRisk(call.Tool)
	case RejectAlways:
		v.Outcome, v.Why, v.Risk = Deny, "a person rejected this tool for the session", RiskBlocked
	default:
		v.Outcome, v.Why, v.Risk = Deny, "a person rejected this call", RiskBlocked
	}
	return v
}
