package mcpsource

import (
	"bytes"
	"io"
)

// tap is the body of an HTTP answer: it reads along, settles the requests that
// the messages in it answer, and ends a message that is too long.
type tap struct {
	body    io.ReadCloser
	waiting *waiting
	own     *answer // of the request that the body answers; may be nil
	events  bool    // a stream of events rather than one message
	done    func()

	text []byte // the message so far
	line []byte // of a stream: the line so far
	long bool   // it was too long
}

func (t *tap) Read(p []byte) (int, error) {
	n, err := t.body.Read(p)
	if t.events {
		t.feed(p[:n])
	} else {
		t.text = append(t.text, p[:n]...)
		t.long = t.long || len(t.text) > maxMessage
		if err == io.EOF && !t.long {
			t.waiting.message(t.text)
			t.text = nil
		}
	}
	if t.long {
		if t.text, t.line = nil, nil; t.own != nil {
			t.own.settle(nil, errTooLong)
		}
		return 0, errTooLong
	}
	return n, err
}

// feed reads the lines of a stream: an event is its data lines up to an empty one.
func (t *tap) feed(p []byte) {
	for len(p) > 0 && !t.long {
		part, rest, whole := bytes.Cut(p, []byte("\n"))
		p = rest
		t.line = append(t.line, part...)
		if len(t.line)+len(t.text) > maxMessage {
			t.long = true
		}
		if !whole {
			return
		}
		line := bytes.TrimSuffix(t.line, []byte("\r"))
		if data, ok := bytes.CutPrefix(line, []byte("data:")); ok {
			t.text = append(append(t.text, bytes.TrimSpace(data)...), '\n')
		} else if len(line) == 0 && len(t.text) > 0 {
			t.waiting.message(t.text)
			t.text = nil // what was settled keeps it
		}
		t.line = t.line[:0]
	}
}

func (t *tap) Close() error {
	defer t.done()
	return t.body.Close()
}
