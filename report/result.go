package report

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/tools-in-shell/tis/approvals"
	"github.com/tools-in-shell/tis/catalog"
)

// Result is what the bash tool returns.
type Result struct {
	Stdout     string `json:"stdout"`
	Stderr     string `json:"stderr"`
	ExitCode   int    `json:"exit_code"`
	Success    bool   `json:"success"`
	Truncated  bool   `json:"truncated"`
	TotalLines int    `json:"total_lines"`
	// Tools is the report: present when the run was stopped, or failed after it
	// changed something.
	Tools *Tools `json:"tools,omitempty"`
	// ApprovalRequests is for the host and not for the model: the requests that
	// the stop waits for.
	ApprovalRequests []approvals.Request `json:"approval_requests,omitempty"`
}

// Tools is the report of the calls.
type Tools struct {
	// Done lists every call that may have changed something, as they ended.
	Done          []Done   `json:"done"`
	ReadOnlyCalls int      `json:"read_only_calls"`
	Stopped       *Stopped `json:"stopped,omitempty"`
	NotReached    string   `json:"not_reached,omitempty"`
}

// Done is one call that may have changed something.
type Done struct {
	Tool   string          `json:"tool"`
	Input  json.RawMessage `json:"input"`
	OK     bool            `json:"ok"`
	Result json.RawMessage `json:"result,omitempty"`
	Error  string          `json:"error,omitempty"`
}

// Stopped says what ended the run.
type Stopped struct {
	Reason      Reason   `json:"reason"`
	Approval    string   `json:"approval,omitempty"`
	BeforeStart bool     `json:"before_start,omitempty"`
	Call        *Stopper `json:"call,omitempty"`
	Limit       string   `json:"limit,omitempty"`
	Message     string   `json:"message,omitempty"`
}

// Stopper is the call that was not made.
type Stopper struct {
	Tool  string          `json:"tool"`
	Input json.RawMessage `json:"input"`
}

// What was not reached.
const (
	notReached   = "the stopped call and everything after it; write a new script for the rest"
	cutOff       = "what was running when the script ended, and everything after it; write a new script for the rest"
	neverStarted = "the whole script: nothing ran; run the same script again after the answer"
)

// Output is what is kept of a stream.
type Output struct {
	Text      string
	Truncated bool
	Lines     int
}

// Result writes the record down. exit is the script's exit code.
func (r *Run) Result(stdout, stderr Output, exit int) Result {
	r.mu.Lock()
	defer r.mu.Unlock()
	out := Result{
		Stdout: stdout.Text, Stderr: stderr.Text, ExitCode: exit, Success: exit == 0 && r.stop == nil,
		Truncated: stdout.Truncated || stderr.Truncated, TotalLines: stdout.Lines,
	}
	if r.stop == nil && (exit == 0 || len(r.done) == 0) {
		return out
	}
	out.Tools = &Tools{Done: append([]Done{}, r.done...), ReadOnlyCalls: r.reads}
	if s := r.stop; s != nil {
		out.Tools.Stopped, out.Tools.NotReached = s.json(), s.notReached()
		out.ApprovalRequests = s.Requests
	}
	return out
}

func (s *Stop) json() *Stopped {
	j := &Stopped{Reason: s.Reason, BeforeStart: s.BeforeStart}
	if s.Reason == NeedsApproval {
		j.Approval, j.Message = "requested", s.Message
		if len(s.Requests) == 0 {
			j.Approval = "failed"
		}
	} else {
		j.Limit = s.Message
	}
	if s.Call != nil {
		j.Call = &Stopper{Tool: s.Call.Tool.Command(), Input: s.Call.Input}
	}
	return j
}

func (s *Stop) notReached() string {
	switch {
	case s.BeforeStart:
		return neverStarted
	case s.Call != nil:
		return notReached
	default:
		return cutOff
	}
}

// message is an error as the report shows it, without its code.
func message(err error) string {
	var ce *catalog.Error
	if errors.As(err, &ce) {
		return catalog.OneLine(ce.Message)
	}
	return catalog.OneLine(err.Error())
}

// cut keeps a result as it is when it is short, and else its beginning, as a
// text that says how long the whole is.
func cut(result json.RawMessage, limit int) json.RawMessage {
	if len(result) == 0 {
		return json.RawMessage("null")
	}
	text := string(result)
	var s string
	if json.Unmarshal(result, &s) == nil {
		text = s
	}
	if short := shorten(text, limit); short != text {
		return quote(short)
	}
	return result
}

// shorten keeps the first limit characters of a longer text.
func shorten(text string, limit int) string {
	n, end := 0, len(text)
	for i := range text {
		if n == limit {
			end = i
		}
		n++
	}
	if n <= limit {
		return text
	}
	return fmt.Sprintf("%s... (cut; the whole is %d characters)", text[:end], n)
}

func quote(s string) json.RawMessage {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(s); err != nil { // a string always encodes
		panic(err)
	}
	return bytes.TrimSpace(b.Bytes())
}
