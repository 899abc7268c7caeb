package intercept

import (
	"context"
	"errors"

	"github.com/tools-in-shell/tis/approvals"
	"github.com/tools-in-shell/tis/catalog"
	"github.com/tools-in-shell/tis/report"
)

// Direct makes a call that comes from no script: a model's own call of one tool.
// It takes the same way, from the schema check to the record, and the output is
// as the tool gave it.
func (i *Interceptor) Direct(ctx context.Context, call catalog.Call) (catalog.Output, *catalog.Error) {
	if i.Report.Stopped() != nil {
		return catalog.Output{}, stopped()
	}
	_, out, err := i.call(ctx, call)
	return out.whole, err
}

// call takes a resolved call from the schema check to the record. The call that
// it returns has the input that the tool got.
func (i *Interceptor) call(ctx context.Context, call catalog.Call) (catalog.Call, result, *catalog.Error) {
	ctx = numbered(ctx)
	if err := call.Tool.Check(call.Input); err != nil {
		return call, result{}, err
	}
	if !i.Report.Count() {
		return call, result{}, i.overLimit(call)
	}
	call, err := i.before(ctx, call)
	switch {
	case i.ended(ctx):
		return call, result{}, stopped()
	case err != nil:
		return call, result{}, err
	case call.Tool.Executor == nil:
		return call, result{}, catalog.Errorf(catalog.Unavailable, "%s cannot run here", call.Tool.Command())
	}
	if err := i.prepare(ctx, call); err != nil {
		return call, result{}, err
	}
	// From here on a stop finds the call in flight: an answer that lets it run is
	// not used up for a call that a stop then keeps from starting.
	entry := i.Report.Reserve(&call)
	if entry == nil {
		return call, result{}, stopped()
	}
	defer entry.Drop()
	if err := i.authorize(ctx, call, entry); err != nil {
		return call, result{}, err
	}
	if !entry.Start() {
		return call, result{}, stopped()
	}
	defer entry.End(nil, errLost)

	out, err := i.execute(ctx, call)
	if err != nil && err.NotMade {
		entry.Unmade()
	}
	out, err = i.after(ctx, call, out, err)
	if err != nil {
		entry.End(nil, err)
		return call, result{}, err
	}
	res := arrange(out)
	res.whole = out
	entry.End(res.value, nil)
	return call, res, nil
}

// errLost stands in the record when a call's end could not be told.
var errLost = errors.New("outcome unknown: tools failed inside")

// ended reports whether a call that has been counted may not start any more. The
// call limit ends the run for the calls past it alone.
func (i *Interceptor) ended(ctx context.Context) bool {
	if s := i.Report.Stopped(); s != nil {
		return s.Reason != report.CallLimit
	}
	return ctx.Err() != nil
}

func (i *Interceptor) overLimit(call catalog.Call) *catalog.Error {
	stop := report.Stop{Reason: report.CallLimit, Call: &call}
	if !i.Report.Stop(stop) {
		return stopped()
	}
	i.onStop(stop)
	return catalog.Errorf(catalog.CallLimit, "a script may make %d tool calls and has made them, so it was stopped at %s", i.Report.MaxCalls(), call.Tool.Command())
}

func (i *Interceptor) onStop(stop report.Stop) {
	if i.OnStop != nil {
		i.OnStop(stop)
	}
}

// authorize asks the gate. A call that needs an answer stops the run.
func (i *Interceptor) authorize(ctx context.Context, call catalog.Call, entry *report.Entry) *catalog.Error {
	if i.Gate == nil {
		return nil
	}
	// A stop elsewhere must not tear a use of an answer apart.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), i.HookTimeout)
	defer cancel()
	v, err := i.Gate.Authorize(ctx, i.Session, i.RunID, call)
	if err != nil {
		return closed(err)
	}
	switch v.Outcome {
	case approvals.Run:
		return nil
	case approvals.Deny:
		return catalog.Errorf(catalog.Denied, "%s was refused (%s)%s", call.Tool.Command(), v.Why, note(v))
	case approvals.Ask:
		entry.Drop()
		return i.ask(ctx, call, v)
	}
	return closed(errors.New("the gate gave no verdict"))
}

// ask stops the run and then raises the request, so that nothing is asked about
// a call that another stop came before.
func (i *Interceptor) ask(ctx context.Context, call catalog.Call, v approvals.Verdict) *catalog.Error {
	stop := report.Stop{Reason: report.NeedsApproval, Call: &call, Message: v.Message}
	first, err := i.Report.StopAsking(stop, func() (requests []approvals.Request, err error) {
		requests, err = i.Gate.Ask(ctx, i.Session, i.RunID, []catalog.Call{call})
		stop.Requests = requests
		return requests, err
	})
	if !first {
		return stopped()
	}
	i.onStop(stop)
	if err != nil {
		return closed(err)
	}
	return catalog.Errorf(catalog.NeedsApproval, "%s needs a person's approval (%s), so the script was stopped there%s", call.Tool.Command(), v.Why, note(v))
}

func note(v approvals.Verdict) string {
	if v.Message == "" {
		return ""
	}
	return ": " + v.Message
}

// closed refuses a call because approvals can't be checked.
func closed(err error) *catalog.Error {
	return &catalog.Error{Code: catalog.Unavailable, Retryable: true, Message: "approvals cannot be checked, so the call was not made: " + err.Error()}
}
