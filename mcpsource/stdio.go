package mcpsource

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// lines is the connection to a program: one message a line. What the program
// prints besides is noted and passed over, as other clients do. It is the
// SDK's Transport and Connection in one.
type lines struct {
	stdin   io.WriteCloser
	stdout  io.ReadCloser
	waiting *waiting

	in    chan []byte // lines; closed after the last one
	out   chan outgoing
	queue []jsonrpc.Message // of a batch; only Read touches it
	ended error             // why in was closed

	closed chan struct{}
	once   sync.Once
	wg     sync.WaitGroup

	mu    sync.Mutex
	noise string // the first line that is no message
	noisy int    // bytes of such lines before the first message
	spoke bool   // a message has come
}

// outgoing is a message on its way to the program.
type outgoing struct {
	data []byte
	sent chan error // has room for one
}

// maxNoise is how much a program may print before its first message.
const maxNoise = 1 << 20

var (
	errHungUp = errors.New("it closed its stdout")
	errNoise  = errors.New("what it prints on its stdout is no MCP message")
)

func newLines(stdin io.WriteCloser, stdout io.ReadCloser, w *waiting) *lines {
	c := &lines{
		stdin: stdin, stdout: stdout, waiting: w,
		in: make(chan []byte), out: make(chan outgoing), closed: make(chan struct{}),
	}
	c.wg.Go(c.reading)
	c.wg.Go(c.writing)
	return c
}

// Connect hands the connection to the SDK.
func (c *lines) Connect(context.Context) (mcp.Connection, error) { return c, nil }

// SessionID is empty: a program is its own session.
func (c *lines) SessionID() string { return "" }

// Read returns the next message.
func (c *lines) Read(ctx context.Context) (jsonrpc.Message, error) {
	for len(c.queue) == 0 {
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-c.closed:
			return nil, io.EOF
		case line, ok := <-c.in:
			if !ok {
				return nil, c.ended
			}
			if err := c.take(line); err != nil {
				return nil, err
			}
		}
	}
	msg := c.queue[0]
	c.queue = c.queue[1:]
	return msg, nil
}

// take reads the messages of a line.
func (c *lines) take(line []byte) error {
	parts := []json.RawMessage{line}
	if line[0] == '[' {
		if json.Unmarshal(line, &parts) != nil {
			return c.pass(line)
		}
	}
	for _, part := range parts {
		msg, err := decode(part)
		if err != nil {
			if err := c.pass(part); err != nil {
				return err
			}
			continue
		}
		c.mu.Lock()
		c.spoke = true
		c.mu.Unlock()
		switch m := msg.(type) {
		case *jsonrpc.Response:
			msg = c.settle(m)
		case *jsonrpc.Request:
			if m.Method == listChanged {
				c.waiting.changed()
			}
		}
		c.queue = append(c.queue, msg)
	}
	return nil
}

// settle keeps a raw result for the call that waits for it. The SDK gets an
// empty one in its place, since what it would make of it is not used.
func (c *lines) settle(r *jsonrpc.Response) jsonrpc.Message {
	a := c.waiting.take(r.ID)
	if a == nil {
		return r
	}
	a.settle(r.Result, r.Error)
	if r.Error != nil {
		return r
	}
	return &jsonrpc.Response{ID: r.ID, Result: json.RawMessage(`{"content":[],"tools":[]}`)}
}

// pass notes a line that is no message.
func (c *lines) pass(line []byte) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.noise == "" {
		c.noise = string(bytes.ToValidUTF8(line[:min(len(line), 4000)], []byte("?")))
	}
	if c.noisy += len(line); !c.spoke && c.noisy > maxNoise {
		return errNoise
	}
	return nil
}

// noted is the first line that was no message, "" when there was none.
func (c *lines) noted() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.noise
}

// Write sends a message. It does not wait longer than ctx for a program that
// does not read; a message on its way is sent whole all the same.
func (c *lines) Write(ctx context.Context, msg jsonrpc.Message) error {
	if req, ok := msg.(*jsonrpc.Request); ok && req.IsCall() {
		if a := answerOf(ctx); a != nil {
			c.waiting.add(req.ID, a)
			if a.emptyCursor {
				changed := *req
				changed.Params = withEmptyCursor(req.Params)
				msg = &changed
			}
		}
	}
	data, err := jsonrpc.EncodeMessage(msg)
	if err != nil {
		return fmt.Errorf("encoding a message: %w", err)
	}
	m := outgoing{append(data, '\n'), make(chan error, 1)}
	select {
	case c.out <- m:
	case <-ctx.Done():
		return ctx.Err()
	case <-c.closed:
		return io.ErrClosedPipe
	}
	select {
	case err := <-m.sent:
		return err
	case <-ctx.Done():
		return ctx.Err()
	case <-c.closed:
		return io.ErrClosedPipe
	}
}

// Close closes the program's stdin, which asks it to end. What it still prints
// is read and dropped until it has gone.
func (c *lines) Close() error {
	c.once.Do(func() {
		close(c.closed)
		c.stdin.Close()
	})
	return nil
}

// wait waits for the reader and the writer, once the program has gone.
func (c *lines) wait() {
	c.Close()
	c.stdout.Close() // a stray child may still hold the other end
	c.wg.Wait()
}

func (c *lines) writing() {
	for {
		select {
		case m := <-c.out:
			_, err := c.stdin.Write(m.data)
			m.sent <- err
		case <-c.closed:
			return
		}
	}
}

func (c *lines) reading() {
	r := bufio.NewReaderSize(c.stdout, 64<<10)
	for {
		line, err := readLine(r)
		if line = bytes.TrimSpace(line); len(line) > 0 {
			select {
			case c.in <- line:
			case <-c.closed:
				io.Copy(io.Discard, r)
				return
			}
		}
		if err != nil {
			if c.ended = err; !errors.Is(err, errTooLong) {
				c.ended = errHungUp
			}
			close(c.in)
			return
		}
	}
}

// readLine is the next line, at most maxMessage bytes of it. The last line may
// lack its end; it comes with the error.
func readLine(r *bufio.Reader) ([]byte, error) {
	var line []byte
	for {
		part, err := r.ReadSlice('\n')
		if len(line)+len(part) > maxMessage {
			return nil, errTooLong
		}
		line = append(line, part...)
		if !errors.Is(err, bufio.ErrBufferFull) {
			return line, err
		}
	}
}

// clip cuts a text to n bytes.
func clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return string(bytes.ToValidUTF8([]byte(s[:n]), nil)) + "..."
}
