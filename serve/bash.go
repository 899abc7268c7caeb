package serve

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/tools-in-shell/tis/approvals"
	"github.com/tools-in-shell/tis/catalog"
	"github.com/tools-in-shell/tis/intercept"
	"github.com/tools-in-shell/tis/report"
	"github.com/tools-in-shell/tis/runner"
)

// The longest time limit that a script may ask for when the host set none.
const maxTimeout = 10 * time.Minute

// bashInput is the bash tool as far as its input is checked.
func (c *session) bashInput() *catalog.Tool {
	longest := maxTimeout
	if t := c.server.o.Runner.Timeout; t > 0 {
		longest = t
	}
	return &catalog.Tool{Name: bashName, InputSchema: json.RawMessage(fmt.Sprintf(`{"type":"object","additionalProperties":false,"required":["commands"],"properties":{`+
		`"commands":{"type":"string","description":"The script."},`+
		`"timeout_seconds":{"type":"integer","minimum":1,"maximum":%d,"description":"Time limit of the script."},`+
		`"description":{"type":"string","description":"What the script is for, in a few words."}}}`, max(1, int(longest/time.Second))))}
}

// script is what a client asks to run.
type script struct {
	Commands       string `json:"commands"`
	TimeoutSeconds int    `json:"timeout_seconds"`
	Description    string `json:"description"`
}

// result is what the client gets.
type result struct {
	report.Result
	// Note says what a person answered, or how to answer.
	Note string `json:"note,omitempty"`
	// Earlier are the reports of scripts whose results the client never got.
	Earlier []earlier `json:"earlier,omitempty"`
}

// earlier is a script whose call was cancelled, and what it had done.
type earlier struct {
	Commands string        `json:"commands"`
	Tools    *report.Tools `json:"tools"`
}

// bashOutput is the schema of result.
const bashOutput = `{"type":"object","required":["stdout","stderr","exit_code","success","truncated","total_lines"],"properties":{` +
	`"stdout":{"type":"string"},"stderr":{"type":"string"},"exit_code":{"type":"integer"},"success":{"type":"boolean"},` +
	`"truncated":{"type":"boolean"},"total_lines":{"type":"integer"},` +
	`"tools":{"type":"object","description":"What the script did: present when it was stopped, or failed after it changed something.","required":["done","read_only_calls"],"properties":{` +
	`"done":{"type":"array","items":{"type":"object","required":["tool","input","ok"],"properties":{"tool":{"type":"string"},"input":{"type":"object"},"ok":{"type":"boolean"},"result":{},"error":{"type":"string"}}}},` +
	`"read_only_calls":{"type":"integer"},` +
	`"stopped":{"type":"object","required":["reason"],"properties":{"reason":{"type":"string"},"approval":{"type":"string"},"before_start":{"type":"boolean"},"limit":{"type":"string"},"message":{"type":"string"},` +
	`"call":{"type":"object","properties":{"tool":{"type":"string"},"input":{"type":"object"}}}}},` +
	`"not_reached":{"type":"string"}}},` +
	`"note":{"type":"string","description":"What a person answered, or how to answer."},` +
	`"earlier":{"type":"array","description":"What scripts did whose calls were cancelled.","items":{"type":"object"}},` +
	`"approval_requests":{"type":"array","items":{"type":"object"}}}}`

// maxRounds is how often one call asks and tries again. A script whose answers
// were all given is held again only when something else changed meanwhile.
const maxRounds = 8

// bash answers a call of the bash tool.
func (c *session) bash(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	var in script
	args := req.Params.Arguments
	if len(args) == 0 {
		args = json.RawMessage("{}")
	}
	if err := c.bashInput().Check(args); err != nil {
		return refusal(err), nil
	}
	if err := json.Unmarshal(args, &in); err != nil {
		return refusal(catalog.Errorf(catalog.InvalidInput, "bash: %v", err)), nil
	}
	ctx, cancel := c.during(ctx)
	defer cancel()
	a := c.asker(req)
	if err := a.returned(ctx); err != nil {
		return refusal(err), nil
	}
	for round := 1; ; round++ {
		r, cat, err := c.run(ctx, req, in)
		if err != nil {
			return nil, err
		}
		held := r.Tools != nil && r.Tools.Stopped != nil && r.Tools.Stopped.BeforeStart
		if len(r.ApprovalRequests) == 0 || ctx.Err() != nil {
			return c.answer(ctx, in, r, ""), nil
		}
		if held && a.later() {
			return a.questions(ctx, cat, r.ApprovalRequests), nil
		}
		got := a.ask(ctx, cat, r.ApprovalRequests, held)
		if held && got.all && round < maxRounds && ctx.Err() == nil {
			continue // nothing has run yet
		}
		return c.answer(ctx, in, r, got.note(held)), nil
	}
}

// refusal is the result of a call that was not made.
func refusal(err *catalog.Error) *mcp.CallToolResult {
	return &mcp.CallToolResult{IsError: true, Content: []mcp.Content{&mcp.TextContent{Text: err.Line()}}}
}

// run runs the script once, when its turn has come.
func (c *session) run(ctx context.Context, req *mcp.CallToolRequest, in script) (r report.Result, cat *catalog.Catalog, err error) {
	select {
	case c.turn <- struct{}{}:
		defer func() { <-c.turn }()
	case <-ctx.Done():
		return r, nil, context.Cause(ctx)
	}
	dir, note, err := c.folder.open(ctx, c, req)
	if err != nil {
		return r, nil, err
	}
	if note != "" {
		c.say(ctx, "warning", note)
	}
	progress := c.progress(ctx, req)
	defer progress.close()
	ctx, watched := c.observe(ctx, req)
	o := c.server.o.Runner
	o.Dir, o.Gate = dir, c.server.o.Gate
	o.Catalog = func(ctx context.Context) *catalog.Catalog { cat = c.catalog(ctx); return cat }
	o.Before = append(o.Before[:len(o.Before):len(o.Before)], progress.before, watched.before)
	o.After = append([]intercept.After{watched.after}, o.After...)
	if in.TimeoutSeconds > 0 {
		o.Timeout = time.Duration(in.TimeoutSeconds) * time.Second
	}
	run, err := runner.New(o)
	if err != nil {
		watched.end(r, err)
		return r, nil, err
	}
	full, limit := c.folder.watch(ctx)
	r, err = run.Run(full, runner.Script{Text: in.Commands, Session: c.name})
	limit(&r)
	calls := watched.end(r, err)
	c.say(ctx, "info", ended(r, calls))
	c.list(ctx, c.catalog(ctx)) // it may have loaded a server
	return r, cat, err
}

// ended says in one line how a script ended.
func ended(r report.Result, calls int) string {
	if t := r.Tools; t != nil && t.Stopped != nil {
		when := "stopped"
		if t.Stopped.BeforeStart {
			when = "held before its start"
		}
		return fmt.Sprintf("the script was %s (%s); tool calls: %d", when, t.Stopped.Reason, calls)
	}
	return fmt.Sprintf("the script ended with exit code %d; tool calls: %d", r.ExitCode, calls)
}

// answer makes the result, with the reports that earlier calls could not give.
// The result of a call that was cancelled reaches nobody, so its report is kept
// for the next one.
func (c *session) answer(ctx context.Context, in script, r report.Result, note string) *mcp.CallToolResult {
	out := result{Result: r, Note: note}
	c.mu.Lock()
	if ctx.Err() == nil {
		out.Earlier, c.lost = c.lost, nil
	} else if t := r.Tools; t != nil && (t.Stopped == nil || !t.Stopped.BeforeStart) && len(c.lost) < maxLost {
		c.lost = append(c.lost, earlier{short(in.Commands, 400), t})
	}
	c.mu.Unlock()
	whole := encode(out)
	out.ApprovalRequests = nil // for the host, not for the model
	return &mcp.CallToolResult{
		Content:           []mcp.Content{&mcp.TextContent{Text: string(encode(out))}},
		StructuredContent: whole,
	}
}

// maxLost is how many reports are kept for a client that cancels its calls.
const maxLost = 20

func encode(v any) json.RawMessage {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil { // made of strings, numbers and valid JSON
		panic(err)
	}
	return bytes.TrimSpace(b.Bytes())
}

// howTo says how a person answers elsewhere.
func howTo(requests []approvals.Request) string {
	var b strings.Builder
	b.WriteString("a person has to answer; nobody could be asked here. In a terminal:")
	for _, r := range requests {
		fmt.Fprintf(&b, "\ntis approvals answer %s allow|allow_always|reject|reject_always   # %s %s", r.ID, catalog.Visible(r.Command), short(catalog.Visible(string(r.Arguments)), 200))
	}
	return b.String()
}

// short cuts a one-line text to n characters and says so with an ellipsis.
func short(s string, n int) string {
	if r := []rune(s); len(r) > n {
		return string(r[:n-1]) + "…"
	}
	return s
}
