package catalog

import (
	"context"
	"encoding/json"
)

// Hints are a tool's declared behaviours (MCP ToolAnnotations). A nil pointer
// means that the tool declared nothing; no protocol default is filled in.
type Hints struct {
	ReadOnly    *bool `json:"readOnlyHint,omitempty"`
	Destructive *bool `json:"destructiveHint,omitempty"`
	OpenWorld   *bool `json:"openWorldHint,omitempty"`
	Idempotent  *bool `json:"idempotentHint,omitempty"`
}

// IsReadOnly reports whether the tool declares that it changes nothing, and
// does not contradict itself by declaring that it is destructive.
func (h Hints) IsReadOnly() bool {
	return is(h.ReadOnly) && !is(h.Destructive)
}

func is(b *bool) bool { return b != nil && *b }

// Policy is what the owner of a tool, as opposed to the tool itself, says of it.
type Policy struct {
	// RequiresApproval asks a person about every call, whatever the hints say.
	RequiresApproval bool `json:"requires_approval,omitempty"`
	// StaysDirect keeps the tool a direct call of the model.
	StaysDirect bool `json:"stays_direct,omitempty"`
	// NeverDeferrable marks a tool that a host refuses to hide from the model.
	NeverDeferrable bool `json:"never_deferrable,omitempty"`
	// ClientSide marks a tool that the model's client executes.
	ClientSide bool `json:"client_side,omitempty"`
}

// Tool is one callable tool. Its fields must not change after it has been
// given to a Catalog.
type Tool struct {
	// Name is the tool's own name: "list_pulls", "web_fetch".
	Name string
	// Server is the MCP server that the tool belongs to; empty for a top-level tool.
	Server      string
	Description string
	// InputSchema is the raw JSON Schema; empty means any object.
	InputSchema json.RawMessage
	Hints       Hints
	Policy      Policy
	// Executor runs the tool; nil in an offline catalog.
	Executor Executor

	derived derived
}

// Executor runs a tool. Implementations must be safe for concurrent use and
// must return soon after ctx is done. input is one valid JSON object, digits
// and key order as the caller wrote them. An error that is (or wraps) *Error
// keeps its code; any other error becomes tool_error. An *Error that knows that
// nothing has reached the tool says so in NotMade.
type Executor interface {
	Execute(ctx context.Context, input json.RawMessage) (Output, error)
}

// Preparer is an Executor that has something to do before a call can be made,
// such as to start its server again. Prepare comes before the gate, so that no
// answer is used up for a call that cannot be made; it may be called at any time,
// any number of times. An error keeps the call from being made, and its code is
// as Execute's.
type Preparer interface {
	Prepare(ctx context.Context) error
}

// ExecutorFunc makes a function an Executor.
type ExecutorFunc func(ctx context.Context, input json.RawMessage) (Output, error)

// Execute calls f.
func (f ExecutorFunc) Execute(ctx context.Context, input json.RawMessage) (Output, error) {
	return f(ctx, input)
}

// Output is what a tool returned. Exactly as MCP has it: parts, and perhaps a
// structured result beside them. A tool that is no MCP tool sets Structured
// (any JSON value) or one text part.
type Output struct {
	Parts []Part
	// Structured is the raw structured result; nil when there is none.
	Structured json.RawMessage
}

// Part is one piece of content.
type Part struct {
	// Type is "text", "image", "audio", "resource" or "resource_link".
	Type string
	// Text is a text part's text.
	Text string
	// Data is the decoded bytes of an image, an audio part or a binary resource; BadData says
	// why they could not be decoded, empty when they could.
	Data    []byte
	BadData string
	// MIMEType is the media type that came with Data.
	MIMEType string
	// Raw is the part as it came; used when parts are printed as JSON.
	Raw json.RawMessage
}

// TextOutput is an Output of one text part.
func TextOutput(s string) Output { return Output{Parts: []Part{{Type: "text", Text: s}}} }

// RegistryName is the tool's identity: mcp_<server>__<tool>, or the bare name
// of a top-level tool.
func (t *Tool) RegistryName() string {
	if t.Server == "" {
		return t.Name
	}
	return "mcp_" + t.Server + "__" + t.Name
}

// Key is the tool's identity as rules and logs show it: "server tool" in the
// tool's own spelling, or the bare name.
func (t *Tool) Key() string {
	if t.Server == "" {
		return t.Name
	}
	return t.Server + " " + t.Name
}

// Command is the tool as it is typed: "tools github delete-branch".
func (t *Tool) Command() string {
	if t.Server == "" {
		return "tools " + Shown(t.Name)
	}
	return "tools " + Shown(t.Server) + " " + Shown(t.Name)
}

// Call is a tool and the exact input it gets: one JSON object.
type Call struct {
	Tool  *Tool
	Input json.RawMessage
}
