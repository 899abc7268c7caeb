package mcpsource

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/tools-in-shell/tis/catalog"
)

// conn is one connection to a server, greeted and ready.
type conn struct {
	session *mcp.ClientSession
	since   time.Time
	cancel  context.CancelFunc

	process *process // of a program
	lines   *lines   // of a program
	web     *web     // of a URL

	resources bool // the server has some

	gone   chan struct{} // closed when the session is over
	broken atomic.Bool   // it must not be used again
	once   sync.Once
}

// A server may know only the handshake of this version or of an older one, and
// some end when another request comes first. So it is tried before the newest.
const handshakeVersion = "2025-11-25"

// dial starts a server and greets it. ctx bounds the start only.
func dial(ctx context.Context, s *server) (*conn, error) {
	c, err := greet(ctx, s, handshakeVersion)
	var refusal *jsonrpc.Error
	if errors.As(err, &refusal) && ctx.Err() == nil {
		switch refusal.Code {
		case jsonrpc.CodeMethodNotFound, jsonrpc.CodeInvalidRequest, jsonrpc.CodeInvalidParams, mcp.CodeUnsupportedProtocolVersion:
			if newest, e := greet(ctx, s, ""); e == nil {
				return newest, nil
			}
		}
	}
	return c, err
}

// greet makes a connection and shakes hands.
func greet(ctx context.Context, s *server, version string) (*conn, error) {
	life, cancel := context.WithCancel(context.WithoutCancel(ctx))
	c := &conn{cancel: cancel, gone: make(chan struct{})}
	transport, err := c.open(s)
	if err != nil {
		cancel()
		return nil, err
	}
	client := mcp.NewClient(&mcp.Implementation{Name: "tis", Version: s.opts.Version}, &mcp.ClientOptions{
		Logger:         slog.New(slog.DiscardHandler),
		Capabilities:   capabilities(s.cfg),
		MultiRoundTrip: &mcp.MultiRoundTripOptions{Disabled: true},
	})
	answerServers(client, s.cfg)
	var session *mcp.ClientSession
	greeted := make(chan struct{})
	go func() {
		defer close(greeted)
		session, err = client.Connect(life, transport, &mcp.ClientSessionOptions{ProtocolVersion: version})
	}()
	select {
	case <-greeted:
	case <-ctx.Done():
	}
	if ctx.Err() != nil {
		c.hangUp()
		<-greeted
		if session != nil {
			session.Close()
		}
		return nil, c.unanswered(context.Cause(ctx))
	}
	if err != nil {
		err = c.whyNot(err)
		c.hangUp()
		return nil, err
	}
	c.session, c.since = session, time.Now()
	if r := session.InitializeResult(); r != nil && r.Capabilities != nil {
		c.resources = r.Capabilities.Resources != nil
	}
	go func() { // ends with the connection, whichever side ends it
		c.session.Wait()
		close(c.gone)
		c.close()
	}()
	return c, nil
}

// open starts the program, or readies the way to the URL.
func (c *conn) open(s *server) (mcp.Transport, error) {
	w := newWaiting(func() { s.stale.Store(true) })
	if s.cfg.URL != "" {
		var err error
		if c.web, err = newWeb(s, w); err != nil {
			return nil, err
		}
		return c.web.transport(s.cfg.URL), nil
	}
	getenv := s.opts.Getenv
	if getenv == nil {
		getenv = os.LookupEnv
	}
	s.log.mark()
	var err error
	if c.process, err = startProcess(s.cfg, getenv, &s.log); err != nil {
		return nil, err
	}
	c.lines = newLines(c.process.stdin, c.process.stdout, w)
	return c.lines, nil
}

// whyNot says why the greeting failed.
func (c *conn) whyNot(err error) error {
	var refusal *jsonrpc.Error
	switch {
	case c.process == nil:
		if err = plain(err); errors.As(err, &refusal) && !isLocal(refusal) {
			return fmt.Errorf("it refused the handshake: %w", refusal)
		}
		return err
	case errors.As(err, &refusal) && !isLocal(refusal):
		return fmt.Errorf("it refused the handshake: %w", refusal)
	case errors.Is(err, errTooLong), errors.Is(err, errNoise):
		return c.unanswered(err)
	}
	// The pipe broke, most likely because the program ended.
	if c.process.exitsIn(termTime) {
		return c.unanswered(errors.New(c.process.fate()))
	}
	return c.unanswered(cleaned(err))
}

// isLocal reports whether an error that looks like the server's was made here:
// the SDK uses the codes from -32003 to -32005 for itself.
func isLocal(e *jsonrpc.Error) bool { return e.Code <= -32003 && e.Code >= -32005 }

// cleaned is the innermost of the errors that are ours.
func cleaned(err error) error {
	for _, known := range []error{errHungUp, errTooLong, errNoise} {
		if errors.Is(err, known) {
			return known
		}
	}
	return err
}

// unanswered adds to an error what the program printed instead of messages.
func (c *conn) unanswered(err error) error {
	if c.lines == nil {
		return err
	}
	if noise := c.lines.noted(); noise != "" {
		return &noiseError{err, noise}
	}
	return err
}

// noiseError is a failure of a server that printed what is no message.
type noiseError struct {
	err   error
	noise string
}

func (e *noiseError) Error() string {
	return fmt.Sprintf("%v; it printed what is no MCP message: %q", e.err, e.noise)
}

func (e *noiseError) Unwrap() error { return e.err }

// dead reports whether the connection can no longer be used.
func (c *conn) dead() bool {
	select {
	case <-c.gone:
		return true
	default:
	}
	if c.process != nil && c.process.fate() != "" {
		return true
	}
	return c.broken.Load()
}

// sessionTime is how long the end of a session may take.
const sessionTime = 2 * time.Second

// close ends the connection and waits until nothing of it is left.
func (c *conn) close() {
	c.once.Do(func() {
		c.broken.Store(true)
		closed := make(chan struct{})
		go func() {
			defer close(closed)
			c.session.Close()
		}()
		// What is on its way, a cancellation perhaps, gets a moment to leave.
		patience := sessionTime
		if c.process != nil {
			patience = politeTime / 2
		}
		t := time.NewTimer(patience)
		select {
		case <-closed:
		case <-t.C:
		}
		t.Stop()
		c.hangUp()
		<-closed
		<-c.gone
	})
}

// hangUp ends what is below the session.
func (c *conn) hangUp() {
	c.cancel()
	if c.process != nil {
		c.lines.Close()
		c.process.end()
		c.lines.wait()
	}
	if c.web != nil {
		c.web.close()
	}
}

// list asks for one page of tools/list. The cursor of the first is nil.
func (c *conn) list(ctx context.Context, cursor *string) (json.RawMessage, error) {
	a := &answer{emptyCursor: cursor != nil && *cursor == ""}
	defer a.release()
	params := &mcp.ListToolsParams{}
	if cursor != nil {
		params.Cursor = *cursor
	}
	_, err := c.session.ListTools(withAnswer(ctx, a), params)
	return a.outcome(err)
}

// call calls a tool with its input as it was written.
func (c *conn) call(ctx context.Context, tool string, input json.RawMessage) (json.RawMessage, error) {
	a := &answer{}
	defer a.release()
	_, err := c.session.CallTool(withAnswer(ctx, a), &mcp.CallToolParams{Name: tool, Arguments: input})
	return a.outcome(err)
}

// answeredError is an error that the server itself answered, or an answer that
// cannot be read: the request has reached it.
type answeredError struct{ err error }

func (e *answeredError) Error() string { return e.err.Error() }
func (e *answeredError) Unwrap() error { return e.err }

// outcome is the raw answer when there is one, and otherwise why there is none.
// What the SDK made of an answer does not matter.
func (a *answer) outcome(err error) (json.RawMessage, error) {
	switch raw, answered := a.get(); {
	case answered != nil:
		return nil, &answeredError{answered}
	case raw != nil:
		return raw, nil
	case err == nil:
		return nil, &answeredError{errors.New("its answer could not be read")}
	}
	return nil, err
}

// died describes a connection that broke during a call.
func (c *conn) died(err error) string {
	if c.process == nil {
		if errors.Is(err, io.EOF) || errors.Is(err, mcp.ErrConnectionClosed) {
			return "closed the connection during the call"
		}
		return "failed during the call: " + catalog.OneLine(plain(err).Error())
	}
	if c.process.exitsIn(termTime) {
		return "died during the call: " + c.process.fate()
	}
	return "died during the call: " + cleaned(err).Error()
}
