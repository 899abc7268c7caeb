package main

import (
	"context"
	"fmt"
	"os/user"
	"text/tabwriter"
	"time"

	"github.com/tools-in-shell/tis/approvals"
)

// approvalsCommand is `tis approvals`.
type approvalsCommand struct {
	List    listCommand    `cmd:"" help:"Requests that wait for an answer."`
	Answer  answerCommand  `cmd:"" help:"Answer a request: allow, allow_always, reject, reject_always."`
	History historyCommand `cmd:"" help:"Every answer and every use of one."`
	Why     whyCommand     `cmd:"" help:"Say what would happen to a call, and which rule, hint or answer decides it."`
}

type approvalsFlags struct {
	configFlag
	storeFlags
	JSON bool `name:"json" help:"Print JSON."`
}

func (c *approvalsFlags) open(ctx context.Context, p *program) (*approvals.Gate, func() error, error) {
	cfg, err := p.loadConfig(c.Config)
	if err != nil {
		return nil, nil, err
	}
	gate, store, err := p.openGate(ctx, cfg, c.Store)
	if err != nil {
		return nil, nil, err
	}
	return gate, store.Close, nil
}

type listCommand struct{ approvalsFlags }

func (c *listCommand) Run(ctx context.Context, p *program) error {
	gate, done, err := c.open(ctx, p)
	if err != nil {
		return err
	}
	defer done()
	requests, err := gate.List(ctx, c.Session)
	if err != nil {
		return err
	}
	if c.JSON {
		if requests == nil {
			requests = []approvals.Request{}
		}
		return writeJSON(p.stdout, requests)
	}
	if len(requests) == 0 {
		fmt.Fprintf(p.stdout, "no requests wait in session %s\n", visible(c.Session))
		return nil
	}
	w := tabwriter.NewWriter(p.stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "ID\tCALL\tINPUT\tWHY\tEXPIRES")
	for _, r := range requests {
		why := string(r.Risk)
		if changed, err := gate.Changed(ctx, r); err != nil {
			return err
		} else if len(changed) > 0 {
			why += ", changed since it was allowed"
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\n", r.ID, visible(r.Command), clip(visible(string(r.Arguments)), 80), why, r.ExpiresAt.Local().Format(time.DateTime))
	}
	return w.Flush()
}

type answerCommand struct {
	approvalsFlags
	ID       string `arg:"" help:"The request."`
	Decision string `arg:"" enum:"allow,allow_always,reject,reject_always" help:"allow, allow_always, reject or reject_always."`
}

func (c *answerCommand) Run(ctx context.Context, p *program) error {
	gate, done, err := c.open(ctx, p)
	if err != nil {
		return err
	}
	defer done()
	r, err := gate.Answer(ctx, c.ID, approvals.Decision(c.Decision), person())
	if err != nil {
		return err
	}
	if c.JSON {
		return writeJSON(p.stdout, r)
	}
	fmt.Fprintf(p.stdout, "%s: %s %s\n", c.Decision, visible(r.Command), clip(visible(string(r.Arguments)), 200))
	return nil
}

// person names who answers, for the audit trail.
func person() string {
	if u, err := user.Current(); err == nil {
		return u.Username
	}
	return "unknown"
}

type historyCommand struct{ approvalsFlags }

func (c *historyCommand) Run(ctx context.Context, p *program) error {
	gate, done, err := c.open(ctx, p)
	if err != nil {
		return err
	}
	defer done()
	events, err := gate.History(ctx, c.Session)
	if err != nil {
		return err
	}
	if c.JSON {
		if events == nil {
			events = []approvals.Event{}
		}
		return writeJSON(p.stdout, events)
	}
	w := tabwriter.NewWriter(p.stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "AT\tWHAT\tREQUEST\tCALL\tWHO\tRUN")
	for _, e := range events {
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\n", e.At.Local().Format(time.DateTime), e.What, e.Request, visible(e.Command), visible(e.Who), e.Run)
	}
	return w.Flush()
}

// clip cuts a one-line text to n characters and says so with an ellipsis.
func clip(s string, n int) string {
	if r := []rune(s); len(r) > n {
		return string(r[:n-1]) + "…"
	}
	return s
}
