package mcpsource

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"unicode/utf8"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// maxMessage is the largest message that a server may send, in bytes.
const maxMessage = 64 << 20

var errTooLong = errors.New("its answer is over the limit of 64 MiB")

// answer receives what a server answers to one request, as it came. The request
// carries it in its context, past the SDK, to the transport.
type answer struct {
	mu     sync.Mutex
	result json.RawMessage
	err    error // *jsonrpc.Error: the server's own; any other: why its answer cannot be read
	forget func()

	// emptyCursor makes the request say "cursor":"", which the SDK leaves out.
	emptyCursor bool
}

// settle takes the answer; the first one counts.
func (a *answer) settle(result json.RawMessage, err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	switch {
	case a.result != nil || a.err != nil:
	case err != nil:
		a.err = err
	case len(result) == 0:
		a.err = errors.New("its answer has neither a result nor an error")
	case !utf8.Valid(result):
		a.result = bytes.ToValidUTF8(result, []byte("\uFFFD"))
	default:
		a.result = result
	}
}

func (a *answer) get() (json.RawMessage, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.result, a.err
}

// release ends the wait.
func (a *answer) release() {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.forget != nil {
		a.forget()
	}
}

type answerKey struct{}

func withAnswer(ctx context.Context, a *answer) context.Context {
	return context.WithValue(ctx, answerKey{}, a)
}

func answerOf(ctx context.Context) *answer {
	a, _ := ctx.Value(answerKey{}).(*answer)
	return a
}

// waiting are the requests of one connection that wait for their raw answers.
// They also see the news that the tools have changed, in the order in which
// messages come: an answer that follows it is not returned before it is known.
type waiting struct {
	changed func() // the server said that its tools have changed
	mu      sync.Mutex
	m       map[jsonrpc.ID]*answer
}

func newWaiting(changed func()) *waiting {
	return &waiting{changed: changed, m: map[jsonrpc.ID]*answer{}}
}

// listChanged is the method of that news.
const listChanged = "notifications/tools/list_changed"

func (w *waiting) add(id jsonrpc.ID, a *answer) {
	w.mu.Lock()
	w.m[id] = a
	w.mu.Unlock()
	a.mu.Lock()
	defer a.mu.Unlock()
	a.forget = func() { w.take(id) }
}

func (w *waiting) take(id jsonrpc.ID) *answer {
	w.mu.Lock()
	defer w.mu.Unlock()
	a := w.m[id]
	delete(w.m, id)
	return a
}

// envelope is what is read of a message to match it with its request.
type envelope struct {
	ID     any             `json:"id"`
	Method *string         `json:"method"`
	Result json.RawMessage `json:"result"`
	Error  *jsonrpc.Error  `json:"error"`
}

func (e *envelope) isResponse() bool { return e.Method == nil && (e.Result != nil || e.Error != nil) }

func (e *envelope) err() error {
	if e.Error == nil {
		return nil
	}
	return e.Error
}

// message settles the request that the message answers, if it is waited for.
func (w *waiting) message(data []byte) {
	var e envelope
	if json.Unmarshal(data, &e) != nil {
		return
	}
	if e.Method != nil && *e.Method == listChanged {
		w.changed()
	}
	if !e.isResponse() {
		return
	}
	id, err := jsonrpc.MakeID(e.ID)
	if err != nil {
		return
	}
	if a := w.take(id); a != nil {
		a.settle(e.Result, e.err())
	}
}

// decode reads one message. One that the SDK refuses to read but that answers a
// request becomes an error answer, so that its request does not wait for ever.
func decode(data []byte) (jsonrpc.Message, error) {
	msg, err := jsonrpc.DecodeMessage(data)
	if err == nil {
		return msg, nil
	}
	var e envelope
	if json.Unmarshal(data, &e) != nil || !e.isResponse() {
		return nil, err
	}
	id, bad := jsonrpc.MakeID(e.ID)
	if bad != nil || !id.IsValid() {
		return nil, err
	}
	return &jsonrpc.Response{ID: id, Error: fmt.Errorf("its answer cannot be read: %w", err)}, nil
}

// withEmptyCursor adds "cursor":"" to a request's params.
func withEmptyCursor(params json.RawMessage) json.RawMessage {
	params = bytes.TrimSpace(params)
	if len(params) < 2 || params[0] != '{' {
		return json.RawMessage(`{"cursor":""}`)
	}
	rest := bytes.TrimSpace(params[1:])
	if rest[0] == '}' {
		return json.RawMessage(`{"cursor":""}`)
	}
	return append(json.RawMessage(`{"cursor":"",`), rest...)
}
