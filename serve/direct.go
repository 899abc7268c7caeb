package serve

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/tools-in-shell/tis/catalog"
	"github.com/tools-in-shell/tis/intercept"
	"github.com/tools-in-shell/tis/report"
)

// directTool is a tool that the model calls by itself, as its own server lists
// it, under its registry name.
func (c *session) directTool(ctx context.Context, t *catalog.Tool) *mcp.Tool {
	out := &mcp.Tool{Description: t.Description, Annotations: annotations(t.Hints)}
	var own struct {
		Input  json.RawMessage `json:"inputSchema"`
		Output json.RawMessage `json:"outputSchema"`
	}
	if define := c.server.o.Definition; define != nil {
		if raw := define(ctx, t); json.Unmarshal(raw, &own) == nil {
			var listed mcp.Tool
			if json.Unmarshal(raw, &listed) == nil {
				out = &listed
			}
		}
	}
	out.Name = t.RegistryName()
	out.InputSchema, out.OutputSchema = objectSchema(t.InputSchema), nil
	if isObject(own.Output) {
		out.OutputSchema = own.Output // digits and key order as they came
	}
	return out
}

func annotations(h catalog.Hints) *mcp.ToolAnnotations {
	if h == (catalog.Hints{}) {
		return nil
	}
	is := func(b *bool) bool { return b != nil && *b }
	return &mcp.ToolAnnotations{ReadOnlyHint: is(h.ReadOnly), IdempotentHint: is(h.Idempotent), DestructiveHint: h.Destructive, OpenWorldHint: h.OpenWorld}
}

// objectSchema is an input schema as the protocol wants it: of an object. What
// says otherwise is checked all the same when the call is made.
func objectSchema(schema json.RawMessage) json.RawMessage {
	var s struct {
		Type any `json:"type"`
	}
	if isObject(schema) && json.Unmarshal(schema, &s) == nil && s.Type == "object" {
		return schema
	}
	return json.RawMessage(`{"type":"object"}`)
}

func isObject(raw json.RawMessage) bool {
	var m map[string]json.RawMessage
	return len(raw) > 0 && json.Unmarshal(raw, &m) == nil && m != nil
}

// direct handles the calls of a direct tool. The gate judges them as it judges
// those of scripts.
func (c *session) direct(registry string) mcp.ToolHandler {
	return func(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		ctx, cancel := c.during(ctx)
		defer cancel()
		a := c.asker(req)
		if err := a.returned(ctx); err != nil {
			return refusal(err), nil
		}
		input := req.Params.Arguments
		if len(input) == 0 {
			input = json.RawMessage("{}")
		}
		for round := 1; ; round++ {
			cat := c.catalog(ctx)
			t := cat.Tool(registry)
			if t == nil {
				return refusal(catalog.Errorf(catalog.UnknownCommand, "the tool %s is not there any more", registry)), nil
			}
			out, rep, err := c.callDirect(ctx, req, cat, catalog.Call{Tool: t, Input: input})
			requests := rep.ApprovalRequests
			switch {
			case err == nil:
				return passOn(out), nil
			case len(requests) == 0 || ctx.Err() != nil:
				return refusal(err), nil
			case a.later():
				return a.questions(ctx, cat, requests), nil
			}
			got := a.ask(ctx, cat, requests, true)
			if got.all && round < maxRounds && ctx.Err() == nil {
				continue // the call was not made
			}
			res := refusal(catalog.Errorf(catalog.NeedsApproval, "%s needs a person's approval, so it was not called", t.Command()))
			res.Content = append(res.Content, &mcp.TextContent{Text: got.note(true)})
			return res, nil
		}
	}
}

// callDirect makes the call, past the gate and with the record of its own.
func (c *session) callDirect(ctx context.Context, req *mcp.CallToolRequest, cat *catalog.Catalog, call catalog.Call) (catalog.Output, report.Result, *catalog.Error) {
	o := c.server.o.Runner
	rep := report.New(report.Limits{MaxCalls: 1})
	ctx, watched := c.observe(ctx, req)
	i := intercept.New(intercept.Config{
		Catalog: cat, Gate: c.server.o.Gate, Session: c.name, RunID: newName("call"), Report: rep,
		Before: append(o.Before[:len(o.Before):len(o.Before)], watched.before), After: append([]intercept.After{watched.after}, o.After...),
		CallTimeout: o.CallTimeout, MaxResult: o.MaxResult,
	})
	out, err := i.Direct(ctx, call)
	exit := 0
	if err != nil {
		exit = 1
	}
	result := rep.Result(report.Output{}, report.Output{}, exit)
	var fault error
	if err != nil {
		fault = err
	}
	watched.end(result, fault)
	return out, result, err
}

// passOn is an output as the tool's own server would have answered it.
func passOn(out catalog.Output) *mcp.CallToolResult {
	res := &mcp.CallToolResult{Content: []mcp.Content{}}
	for _, p := range out.Parts {
		if len(p.Raw) == 0 {
			res.Content = append(res.Content, &mcp.TextContent{Text: p.Text})
			continue
		}
		res.Content = append(res.Content, &asItCame{raw: p.Raw})
	}
	if len(out.Structured) > 0 {
		res.StructuredContent = out.Structured
		if len(res.Content) == 0 {
			res.Content = append(res.Content, &mcp.TextContent{Text: string(out.Structured)})
		}
	}
	return res
}

// asItCame is a piece of content that is passed on unread.
type asItCame struct {
	mcp.TextContent // only for being content
	raw             json.RawMessage
}

// MarshalJSON gives the content back.
func (a *asItCame) MarshalJSON() ([]byte, error) {
	if !json.Valid(a.raw) {
		return nil, errors.New("a piece of content is no JSON")
	}
	return a.raw, nil
}
