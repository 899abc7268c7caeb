package mcpsource

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/tools-in-shell/tis/catalog"
)

// executor is one tool of a server, as the server listed it.
type executor struct {
	server *server
	tool   *catalog.Tool
}

// callTime is a call that took longer than the config allows.
type callTime struct{ limit time.Duration }

func (e *callTime) Error() string { return fmt.Sprintf("it did not answer in %v", e.limit) }

// Prepare starts the server again when it has died, and makes sure that the tool
// is still the one that was listed.
func (e *executor) Prepare(ctx context.Context) error {
	ctx, done := e.server.bound(ctx)
	defer done()
	_, err := e.connect(ctx)
	return err
}

// connect is a connection on which the tool is what it was when it was listed.
// What the gate judged, and a person answered, was that tool and no other.
func (e *executor) connect(ctx context.Context) (*conn, error) {
	s := e.server
	c, err := s.connect(ctx)
	if err != nil {
		return nil, s.connectFault(ctx, err)
	}
	if err := s.upToDate(ctx); err != nil {
		return nil, s.connectFault(ctx, err)
	}
	if now := s.tool(e.tool.Name); now == nil || now.Digest() != e.tool.Digest() {
		return nil, notMade(&catalog.Error{Code: catalog.Unavailable, Retryable: true, Message: fmt.Sprintf(
			"%s is no longer the tool that was listed: %s changed it, so the call was not made; run the script again", e.tool.Command(), s.called())})
	}
	return c, nil
}

// Execute calls the tool, and starts the server again when it has died.
func (e *executor) Execute(ctx context.Context, input json.RawMessage) (catalog.Output, error) {
	s := e.server
	ctx, done := s.bound(ctx)
	defer done()
	raw, err := s.exchange(ctx, e.connect, func(c *conn) (json.RawMessage, error) { return c.call(ctx, e.tool.Name, input) })
	if err != nil {
		return catalog.Output{}, err
	}
	return s.output(raw)
}

// exchange makes one request that only a call makes, and once more when the
// server no longer knew the session.
func (s *server) exchange(ctx context.Context, connect func(context.Context) (*conn, error), ask func(*conn) (json.RawMessage, error)) (json.RawMessage, error) {
	for again := false; ; again = true {
		c, err := connect(ctx)
		if err != nil {
			return nil, err
		}
		raw, err := ask(c)
		switch {
		case err == nil:
			return raw, nil
		case !again && s.forgotten(c, err):
			continue // the call was not made
		}
		return nil, s.callFault(ctx, c, err)
	}
}

// bound ends a call with its time and with the pool.
func (s *server) bound(ctx context.Context) (context.Context, func()) {
	timed, stopTimer := context.WithTimeoutCause(ctx, s.cfg.CallTimeout, &callTime{s.cfg.CallTimeout})
	ctx, cancel := context.WithCancelCause(timed)
	unhook := context.AfterFunc(s.life, func() { cancel(errEnding) })
	return ctx, func() {
		unhook()
		cancel(nil)
		stopTimer()
	}
}

// output reads a result. The text of a failure is a message, and holds no
// secrets.
func (s *server) output(raw json.RawMessage) (catalog.Output, error) {
	out, err := output(raw)
	var ce *catalog.Error
	if errors.As(err, &ce) {
		ce.Message = s.secrets.redact(ce.Message)
	}
	return out, err
}

// connectFault says why a call was not made.
func (s *server) connectFault(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); cause != nil && errors.Is(err, cause) {
		return notMade(&catalog.Error{Code: catalog.Unavailable, Retryable: true, Message: s.called() + " had not started when the call's time was over; the call was not made"})
	}
	return notMade(s.startFault(err))
}

// notMade is a fault of a call that did not reach its tool.
func notMade(fault *catalog.Error) *catalog.Error {
	own := *fault
	own.NotMade = true
	return &own
}

// forgotten reports whether the server no longer knows the session, as when it
// was started again. Its tools may be others now.
func (s *server) forgotten(c *conn, err error) bool {
	var status *statusError
	lost := errors.As(err, &status) && status.session && status.code == http.StatusNotFound || errors.Is(err, mcp.ErrSessionMissing)
	if lost {
		s.drop(c)
		s.stale.Store(true)
	}
	return lost
}

// callFault says how a call failed.
func (s *server) callFault(ctx context.Context, c *conn, err error) error {
	broken := func(retryable bool, format string, args ...any) error {
		return &catalog.Error{Code: catalog.ToolError, Retryable: retryable, Message: s.clean(fmt.Sprintf(format, args...))}
	}
	var answered *answeredError
	var late *callTime
	var status *statusError
	var token *tokenError
	switch cause := context.Cause(ctx); {
	case errors.As(err, &answered):
		if errors.Is(err, errTooLong) {
			s.drop(c)
		}
		return broken(false, "%v", answered)
	case errors.As(cause, &late):
		return broken(true, "outcome unknown: %s did not answer in %v", s.called(), late.limit)
	case cause != nil && errors.Is(cause, errEnding):
		return broken(true, "outcome unknown: tis ended during the call")
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(err, errSignIn):
		return notMade(s.startFault(err))
	case errors.As(err, &token):
		return notMade(&catalog.Error{Code: catalog.Unavailable, Retryable: true, Message: s.clean(fmt.Sprintf("%s: %v; the call was not made", s.called(), token))})
	case errors.As(err, &status):
		if status.passing() {
			return broken(true, "outcome unknown: %s failed: %v", s.called(), status)
		}
		return broken(false, "%s refused the call: %v", s.called(), status)
	case errors.Is(err, errTooLong):
		s.drop(c)
		return broken(false, "%s: %v; the call was made", s.called(), errTooLong)
	case notDialed(err):
		return notMade(&catalog.Error{Code: catalog.Unavailable, Retryable: true, Message: s.clean(fmt.Sprintf("%s: %v; the call was not made", s.called(), plain(err)))})
	}
	if c.process != nil {
		s.drop(c)
	}
	return broken(true, "outcome unknown: %s %s", s.called(), c.died(err))
}

// notDialed reports whether no connection could be made at all.
func notDialed(err error) bool {
	var op *net.OpError
	return errors.As(err, &op) && op.Op == "dial"
}
