package serve

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/tools-in-shell/tis/approvals"
	"github.com/tools-in-shell/tis/catalog"
)

// asker puts requests to the person behind one call of the client.
//
// Up to protocol version 2025-11-25 the question is a request of ours while the
// call waits. From 2026-07-28 on the call ends with the questions, and the
// client makes it again with the answers; what such a call had done would be
// lost if it did not, so only a call that has done nothing asks that way.
type asker struct {
	*session
	req  *mcp.CallToolRequest
	form bool // the client can show a form
	more bool // the questions end the call
	none string
}

// againVersion is the protocol version from which on questions end a call.
const againVersion = "2026-07-28"

func (c *session) asker(req *mcp.CallToolRequest) *asker {
	a := &asker{session: c, req: req, more: req.ProtocolVersion() >= againVersion}
	if caps := req.ClientCapabilities(); caps != nil && caps.Elicitation != nil {
		a.form = caps.Elicitation.Form != nil || caps.Elicitation.URL == nil
	}
	return a
}

// answers is what came of asking.
type answers struct {
	all   bool // every request was answered
	given []string
	none  string // why one was not
	open  []approvals.Request
	could bool // the person could be asked here
}

// How long a person has to answer. A script that was stopped has done part of
// its work, and its report should not wait for long.
const askedAfterStop = 5 * time.Minute

// ask puts the requests to the person, one after the other. The first that gets
// no answer ends it.
func (a *asker) ask(ctx context.Context, cat *catalog.Catalog, requests []approvals.Request, held bool) answers {
	out := answers{open: requests, none: a.none, could: a.form && (!a.more || held)}
	if !out.could || a.more {
		return out
	}
	always := map[string]bool{}
	for i, r := range requests {
		if always[r.Tool] {
			continue // the answer for the tool covers it, or the gate asks again
		}
		d, err := a.elicit(ctx, cat, r, i+1, len(requests), held)
		if err == nil {
			err = a.record(ctx, r.ID, d)
		}
		if err != nil {
			out.open, out.none = requests[i:], err.Error()
			a.log.Info("no answer", "request", r.ID, "why", err)
			return out
		}
		always[r.Tool] = d == approvals.AllowAlways || d == approvals.RejectAlways
		given := fmt.Sprintf("%s: %s %s", d, catalog.Visible(r.Command), short(catalog.Visible(string(r.Arguments)), 200))
		out.given = append(out.given, given)
		a.say(ctx, "notice", "a person answered "+given)
	}
	out.all, out.open = true, nil
	return out
}

// note is what the agent is told of the answers.
func (g answers) note(held bool) string {
	var lines []string
	if len(g.given) > 0 {
		lines = append(lines, "a person answered "+strings.Join(g.given, "; "))
	}
	switch {
	case g.all && held: // held again and again
		lines = append(lines, "the script is still held; run it again")
	case g.all:
		lines = append(lines, "write a new script for what is left")
	case !g.could:
		lines = append(lines, howTo(g.open))
	default:
		lines = append(lines, fmt.Sprintf("no answer to %s (%s), so it is not allowed; the person is asked again when the call is tried again", catalog.Visible(g.open[0].Command), g.none))
	}
	return strings.Join(lines, "\n")
}

// form is what the person fills in. It has no default, so that nothing is
// allowed by looking away.
var form = json.RawMessage(`{"type":"object","required":["decision"],"properties":{"decision":{"type":"string","title":"Decision",` +
	`"enum":["allow","allow_always","reject","reject_always"],` +
	`"enumNames":["Allow this call once","Always allow this tool in this session","Reject this call","Always reject this tool in this session"]}}}`)

// question is the form with the request.
func (a *asker) question(ctx context.Context, cat *catalog.Catalog, r approvals.Request, n, of int, held bool) *mcp.ElicitParams {
	var b strings.Builder
	if of > 1 {
		fmt.Fprintf(&b, "Approval %d of %d: ", n, of)
	} else {
		b.WriteString("Approval: ")
	}
	b.WriteString(a.server.o.Gate.Question(ctx, r, cat.Tool(r.Tool)))
	if held {
		b.WriteString("Nothing has run yet.")
	} else {
		b.WriteString("The script was stopped at this call; an answer counts for the next one.")
	}
	return &mcp.ElicitParams{Mode: "form", Message: b.String(), RequestedSchema: form}
}

// elicit asks the person now and waits. An error means that there is no answer.
func (a *asker) elicit(ctx context.Context, cat *catalog.Catalog, r approvals.Request, n, of int, held bool) (approvals.Decision, error) {
	until := r.ExpiresAt
	if soon := time.Now().Add(askedAfterStop); !held && soon.Before(until) {
		until = soon
	}
	wait, cancel := context.WithDeadlineCause(ctx, until, errors.New("nobody answered in time"))
	defer cancel()
	res, err := a.req.Session.Elicit(wait, a.question(ctx, cat, r, n, of, held))
	if err != nil {
		if cause := context.Cause(wait); cause != nil {
			return "", cause
		}
		return "", fmt.Errorf("the client's answer cannot be used: %s", catalog.OneLine(err.Error()))
	}
	return decision(res)
}

// decision reads the form. Whatever is not plainly one of the four decisions is
// no answer.
func decision(res *mcp.ElicitResult) (approvals.Decision, error) {
	switch {
	case res == nil:
		return "", errors.New("the client's answer is empty")
	case res.Action == "decline" || res.Action == "cancel":
		return "", errors.New("the person gave none")
	case res.Action != "accept":
		return "", errors.New("the client's answer cannot be used: its action is neither accept, decline nor cancel")
	case len(res.Content) != 1:
		return "", errors.New("the client's answer cannot be used: it is not one decision")
	}
	word, _ := res.Content["decision"].(string)
	switch d := approvals.Decision(word); d {
	case approvals.Allow, approvals.AllowAlways, approvals.Reject, approvals.RejectAlways:
		return d, nil
	}
	return "", errors.New("the client's answer cannot be used: its decision is none of the four")
}

// record gives the answer to the gate. One that another way was quicker with is
// left to the gate.
func (a *asker) record(ctx context.Context, id string, d approvals.Decision) error {
	_, err := a.server.o.Gate.Answer(ctx, id, d, a.who())
	if errors.Is(err, approvals.ErrAnswered) {
		return nil
	}
	if err == nil {
		a.log.Info("answered", "request", id, "decision", d)
	}
	return err
}

// who answers, for the audit trail: the person at this client.
func (a *asker) who() string {
	name := ""
	if info := a.req.ClientInfo(); info != nil {
		name = short(catalog.Visible(strings.TrimSpace(info.Name)), 60)
	}
	if name == "" {
		name = "unnamed"
	}
	return "client " + name
}

// later reports whether the questions go out with the result of this call.
func (a *asker) later() bool { return a.form && a.more && a.none == "" }

// maxAsked bounds the requests of a session that answers may come back for.
const maxAsked = 1000

// questions ends the call with the questions, which the client answers by making
// it again.
func (a *asker) questions(ctx context.Context, cat *catalog.Catalog, requests []approvals.Request) *mcp.CallToolResult {
	ask := mcp.InputRequestMap{}
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.asked) > maxAsked {
		clear(a.asked)
	}
	for i, r := range requests {
		ask[r.ID] = a.question(ctx, cat, r, i+1, len(requests), true)
		a.asked[r.ID] = true
	}
	return &mcp.CallToolResult{InputRequests: ask, RequestState: "asked"}
}

// returned takes the answers of a call that is made again. An answer counts only
// for a request that this session was asked about, once.
func (a *asker) returned(ctx context.Context) *catalog.Error {
	p := a.req.Params
	if len(p.InputResponses) == 0 && p.RequestState == "" {
		return nil
	}
	if !a.more {
		return catalog.Errorf(catalog.InvalidInput, "answers came with the call, and its protocol version has no such thing; nothing ran")
	}
	if len(p.InputResponses) == 0 {
		a.none = "the client asked nobody"
		return nil
	}
	for id, response := range p.InputResponses {
		a.mu.Lock()
		known := a.asked[id]
		delete(a.asked, id)
		a.mu.Unlock()
		if !known {
			return catalog.Errorf(catalog.InvalidInput, "an answer came for a request that this session was not asked about; nothing ran")
		}
		res, ok := response.(*mcp.ElicitResult)
		if !ok {
			a.none = "the client's answer cannot be used: it is no form"
			continue
		}
		d, err := decision(res)
		if err == nil {
			err = a.record(ctx, id, d)
		}
		if err != nil {
			a.none = err.Error()
			a.log.Info("no answer", "request", id, "why", err)
		}
	}
	return nil
}
