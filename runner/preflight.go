package runner

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/tools-in-shell/tis/analyze"
	"github.com/tools-in-shell/tis/analyze/dialect"
	"github.com/tools-in-shell/tis/approvals"
	"github.com/tools-in-shell/tis/catalog"
	"github.com/tools-in-shell/tis/report"
)

// Preflight says whether Run would start the script now. It is the hook of an
// agent's runtime that runs before the shell does, and of whoever runs scripts
// by other means: the first half of Run and nothing else. The result is nil when
// the script may start. Else it is the very result that Run would return: the
// call that the script is held at, with the requests for all calls that need an
// answer raised; or why the script cannot be run at all, such as a script that
// does not parse (exit code 2) or approvals that cannot be checked.
//
// Nothing of the script runs, no file is made and no answer is used up. An
// on-demand server that a visible call names is loaded, as that call would load
// it. Asking again returns the requests that are still open. Options.Stdout and
// Options.Stderr get nothing.
//
// Nil is no permit for later: each call is judged again as it is made.
func (r *Runner) Preflight(ctx context.Context, script Script) (held *report.Result) {
	quiet := *r
	quiet.o.Stdout, quiet.o.Stderr = nil, nil
	_, held = quiet.newRun(ctx, script).preflight(ctx)
	return held
}

// preflight parses the script and looks whether it may start. held is the
// result of a script that may not.
func (r *run) preflight(ctx context.Context) (parsed *analyze.Script, held *report.Result) {
	refuse := func(exit int, message string) (*analyze.Script, *report.Result) {
		fmt.Fprintln(r.err, message)
		result := r.result(exit)
		return nil, &result
	}
	parsed, err := analyze.Parse(r.script.Text, r.script.Name)
	if err != nil {
		return refuse(2, err.Error())
	}
	if err := dialect.Check(parsed.File); err != nil {
		return refuse(2, fmt.Sprintf("%s:%v; the script was not started", r.script.Name, err))
	}
	stopped, err := r.hold(ctx, parsed)
	if err != nil {
		return refuse(1, catalogLine(err))
	}
	if stopped {
		result := r.result(1)
		return nil, &result
	}
	return parsed, nil
}

func catalogLine(err error) string {
	var ce *catalog.Error
	if !errors.As(err, &ce) {
		ce = &catalog.Error{Code: catalog.Unavailable, Retryable: true,
			Message: "approvals cannot be checked, so the script was not started: " + err.Error()}
	}
	return ce.Line()
}

// hold previews the calls that are written out in full. When one needs an
// answer it raises the requests and records the stop: the script must not start.
func (r *run) hold(ctx context.Context, script *analyze.Script) (bool, error) {
	if r.o.Gate == nil {
		return false, nil
	}
	for _, name := range script.NamesLoads(r.cat) {
		// A server that cannot load is left to the call, which reports it.
		if err := r.cat.LoadServer(ctx, name); err != nil {
			continue
		}
	}
	var calls []catalog.Call
	var lines []int
	for _, v := range script.Visible(r.cat) {
		if v.Call != nil { // it has been checked against its schema
			calls, lines = append(calls, *v.Call), append(lines, v.Line)
		}
	}
	if len(calls) == 0 {
		return false, nil
	}
	verdicts, err := r.o.Gate.Preview(ctx, r.script.Session, calls)
	if err != nil {
		return false, err
	}
	var gated []catalog.Call
	var at []int
	var why string
	for i, v := range verdicts {
		if v.Outcome == approvals.Ask && len(gated) < maxRequests {
			if len(gated) == 0 {
				why = v.Message
			}
			gated, at = append(gated, calls[i]), append(at, lines[i])
		}
	}
	if len(gated) == 0 {
		return false, nil
	}
	requests, err := r.o.Gate.Ask(ctx, r.script.Session, r.id, gated)
	if err != nil {
		return false, err
	}
	for i, line := range at {
		requests[i].Line, requests[i].Source = line, lineOf(r.script.Text, line)
	}
	r.report.Stop(report.Stop{Reason: report.NeedsApproval, Call: &gated[0], BeforeStart: true, Requests: requests})
	message := fmt.Sprintf("%s needs a person's approval, so the script was not started; run the same script again after the answer", gated[0].Tool.Command())
	if why != "" {
		message += " (" + why + ")"
	}
	fmt.Fprintln(r.err, (&catalog.Error{Code: catalog.NeedsApproval, Message: message}).Line())
	return true, nil
}

// lineOf is the n-th line of a text, from 1.
func lineOf(text string, n int) string {
	for line := range strings.Lines(text) {
		if n--; n == 0 {
			return strings.TrimRight(line, "\r\n")
		}
	}
	return ""
}

// maxRequests bounds how many questions one script raises at once.
const maxRequests = 20
