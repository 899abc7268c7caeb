package mcpsource

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"sync"
	"sync/atomic"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// rawTransport hands out connections that keep the raw result of the requests
// that ask for it.
type rawTransport struct {
	mcp.Transport
	made atomic.Pointer[rawConn] // set once connected
}

func (t *rawTransport) Connect(ctx context.Context) (mcp.Connection, error) {
	c, err := t.Transport.Connect(ctx)
	if err != nil {
		return nil, err
	}
	conn := &rawConn{Connection: c, waiting: map[jsonrpc.ID]*answer{}}
	t.made.Store(conn)
	return conn, nil
}

// answer receives the raw result of one request.
type answer struct {
	mu  sync.Mutex
	raw json.RawMessage
}

func (a *answer) set(raw json.RawMessage) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.raw = append(json.RawMessage(nil), raw...)
}

func (a *answer) get() json.RawMessage {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.raw
}

type answerKey struct{}

// withAnswer makes the request that is sent under ctx leave its raw result in a.
func withAnswer(ctx context.Context) (context.Context, *answer) {
	a := &answer{}
	return context.WithValue(ctx, answerKey{}, a), a
}

// rawConn sees every message of a connection.
type rawConn struct {
	mcp.Connection
	mu      sync.Mutex
	waiting map[jsonrpc.ID]*answer
	broken  error
}

func (c *rawConn) Write(ctx context.Context, msg jsonrpc.Message) error {
	if req, ok := msg.(*jsonrpc.Request); ok && req.IsCall() {
		if a, ok := ctx.Value(answerKey{}).(*answer); ok && (req.Method == "tools/call" || req.Method == "tools/list") {
			c.mu.Lock()
			c.waiting[req.ID] = a
			c.mu.Unlock()
		}
	}
	return c.Connection.Write(ctx, msg)
}

func (c *rawConn) Read(ctx context.Context) (jsonrpc.Message, error) {
	msg, err := c.Connection.Read(ctx)
	c.mu.Lock()
	defer c.mu.Unlock()
	if err != nil {
		if c.broken = err; errors.Is(err, io.EOF) {
			c.broken = errors.New("it closed the connection")
		}
		return msg, err
	}
	if resp, ok := msg.(*jsonrpc.Response); ok {
		if a := c.waiting[resp.ID]; a != nil {
			delete(c.waiting, resp.ID)
			if resp.Error == nil {
				a.set(resp.Result)
			}
		}
	}
	return msg, nil
}

func (c *rawConn) fault() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.broken
}
