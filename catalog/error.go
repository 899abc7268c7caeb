package catalog

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
)

// Code names one kind of failure of a tools command. The set is closed.
type Code string

// The codes, as scripts see them.
const (
	UnknownCommand     Code = "unknown_command"     // no such server or tool
	InvalidInput       Code = "invalid_input"       // not one JSON object, or not what the schema says
	ToolError          Code = "tool_error"          // the tool ran and failed
	Denied             Code = "denied"              // a hook, rule or person refused the call
	NeedsApproval      Code = "needs_approval"      // a person must answer first; the run stops
	Stopped            Code = "stopped"             // an earlier call stopped the run
	ConnectionRequired Code = "connection_required" // a person must sign in first
	CallLimit          Code = "call_limit"          // too many calls in one run; the run stops
	Unavailable        Code = "unavailable"         // cannot run here, or cannot load yet
)

// Error is a failed tools command. It prints as the one-line JSON envelope
// that scripts read on stderr.
type Error struct {
	Code      Code
	Message   string
	Retryable bool
	// NotMade says that the call did not reach its tool, so that nothing can have
	// changed and the report need not tell of it. False is never wrong.
	NotMade bool
}

// Errorf builds an Error that is not retryable.
func Errorf(code Code, format string, args ...any) *Error {
	return &Error{Code: code, Message: fmt.Sprintf(format, args...)}
}

func (e *Error) Error() string { return string(e.Code) + ": " + e.Message }

// Line is the envelope without a final newline:
// {"error":{"code":...,"message":...,"retryable":...}}. The message is folded
// onto one line.
func (e *Error) Line() string {
	var env struct {
		Error struct {
			Code      Code   `json:"code"`
			Message   string `json:"message"`
			Retryable bool   `json:"retryable"`
		} `json:"error"`
	}
	env.Error.Code, env.Error.Message, env.Error.Retryable = e.Code, OneLine(e.Message), e.Retryable
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(env); err != nil { // strings and a bool always encode
		panic(err)
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// OneLine joins the lines of s with single spaces.
func OneLine(s string) string {
	return strings.Join(strings.Fields(s), " ")
}
