package lint

import (
	"mvdan.cc/sh/v3/syntax"

	"github.com/tools-in-shell/tis/approvals"
)

var ruleHeld = &Rule{
	Code: "TIS201", Name: "held", Severity: Info,
	Title: "The script will not start before a person has answered",
	Why: "A call that is written out in full and needs an answer holds the whole script: nothing of it runs. That is the better way to be asked, since nothing is done yet, " +
		"and the person sees the exact call.",
	Exceptions: "Nothing is wrong with such a script. The finding says what to expect.",
	Bad:        "tools github delete-branch repo=acme/api branch=old\n",
	Good:       "tools github list-pulls repo=acme/api\n",
	check: func(p *pass) {
		for _, c := range p.calls {
			if c.Literal && c.gated() {
				start, end := c.name()
				p.report(start, end, "%s needs an answer (%s), so the script does not start before it", c.said(), c.verdict.Why)
			}
		}
	},
}

var rulePartWay = &Rule{
	Code: "TIS202", Name: "stops-part-way", Severity: Warning,
	Title: "The script may stop after it has changed something",
	Why: "A call that needs an answer and is not written out in full cannot be asked about before the start. It stops the script where it stands: what came before is done, what comes after is not, " +
		"and the rest needs a new script.",
	Exceptions: "The calls before it do no harm when they are made again.",
	Bad:        "tools linear create-issue title='Remove old branches'\nfor b in $(cat branches.txt); do\n  tools github delete-branch repo=acme/api \"branch=$b\"\ndone\n",
	Good:       "tools github delete-branch repo=acme/api branch=old-1\ntools github delete-branch repo=acme/api branch=old-2\ntools linear create-issue title='Removed old branches'\n",
	check: func(p *pass) {
		var changed *call
		for _, c := range p.calls {
			if !c.Literal && c.gated() && changed != nil {
				start, end := c.name()
				f := p.report(start, end, "%s needs an answer (%s) and cannot be seen before the start, so the script stops here, after %s; write the call out in full, or make it first",
					c.said(), c.verdict.Why, changed.said())
				start, end = changed.name()
				f.Notes = append(f.Notes, Note{p.at(start), p.at(end), "this is done by then"})
			}
			if c.tool != nil && !c.tool.Hints.IsReadOnly() && !c.gated() && (c.verdict == nil || c.verdict.Outcome != approvals.Deny) && changed == nil {
				changed = c
			}
		}
	},
}

var ruleDenied = &Rule{
	Code: "TIS203", Name: "denied", Severity: Warning,
	Title:      "A call that will be refused",
	Why:        "A rule of the host, or an earlier answer for the whole session, denies the call. It fails with `denied`, and asking again changes nothing.",
	Exceptions: "The finding depends on the rules and answers that the script is checked with.",
	Bad:        "tools linear delete-issue id=LIN-1\n",
	Good:       "tools linear list-issues\n",
	check: func(p *pass) {
		for _, c := range p.calls {
			if c.verdict == nil || c.verdict.Outcome != approvals.Deny {
				continue
			}
			start, end := c.name()
			f := p.report(start, end, "%s will be refused (%s)", c.said(), c.verdict.Why)
			if c.verdict.Message != "" {
				f.Message += ": " + c.verdict.Message
			}
		}
	},
}

var ruleNeverTaken = &Rule{
	Code: "TIS204", Name: "never-taken", Severity: Warning,
	Title: "A branch for a refusal that the script never sees",
	Why: "A call that needs an answer does not fail: it holds the script, or ends it. No branch behind it (`||`, `if !`, `else`) is taken for `needs_approval`; " +
		"it is taken when the tool itself fails or a person has rejected the call.",
	Exceptions: "The branch is meant for the tool's own failures.",
	Bad:        "tools github delete-branch repo=acme/api branch=old || echo 'waiting for approval'\n",
	Good:       "tools github delete-branch repo=acme/api branch=old\n",
	check: func(p *pass) {
		for _, c := range p.calls {
			if !c.gated() {
				continue
			}
			if how := c.failureBranch(); how != "" {
				start, end := c.name()
				p.report(start, end, "%s needs an answer, which never comes to %s: the script is held or stopped instead", c.said(), how)
			}
		}
	},
}

// failureBranch names what waits for the failure of the command, or "".
func (c *call) failureBranch() string {
	if len(c.parents) < 1 {
		return ""
	}
	stmt, ok := c.parents[len(c.parents)-1].(*syntax.Stmt)
	if !ok || len(c.parents) < 2 {
		return ""
	}
	switch outer := c.parents[len(c.parents)-2].(type) {
	case *syntax.BinaryCmd:
		if outer.Op == syntax.OrStmt && outer.X == stmt {
			return "the right side of ||"
		}
	case *syntax.IfClause:
		if len(outer.Cond) > 0 && outer.Cond[len(outer.Cond)-1] == stmt {
			switch {
			case stmt.Negated:
				return "the branch of if !"
			case outer.Else != nil && outer.Else.Cond == nil:
				return "the else branch"
			}
		}
	}
	return ""
}
