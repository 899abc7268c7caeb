package jq

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"strings"
)

// interruptible makes a reader that fails once ctx is done, also while it
// waits. A read that it has to leave behind goes on until its stream ends or
// gives something; what it gives is lost.
func interruptible(ctx context.Context, r io.Reader) io.Reader {
	switch r.(type) {
	case nil:
		return strings.NewReader("")
	case *strings.Reader, *bytes.Reader, *bytes.Buffer:
		return r
	}
	if ctx.Done() == nil {
		return r
	}
	return &waiting{ctx: ctx, r: r}
}

type waiting struct {
	ctx  context.Context
	r    io.Reader
	buf  []byte
	left []byte // of buf, read and not yet handed out
	err  error
}

type result struct {
	n   int
	err error
}

func (w *waiting) Read(p []byte) (int, error) {
	if err := w.ctx.Err(); err != nil {
		return 0, err
	}
	if len(w.left) == 0 && w.err == nil {
		if w.buf == nil {
			w.buf = make([]byte, 64<<10)
		}
		done := make(chan result, 1)
		go func(buf []byte) {
			var got result
			defer func() {
				if p := recover(); p != nil {
					got.err = fmt.Errorf("%v", p)
				}
				done <- got
			}()
			got.n, got.err = w.r.Read(buf)
		}(w.buf)
		select {
		case got := <-done:
			w.left, w.err = w.buf[:got.n], got.err
		case <-w.ctx.Done():
			w.buf = nil // the read that goes on has it
			return 0, w.ctx.Err()
		}
	}
	n := copy(p, w.left)
	if w.left = w.left[n:]; len(w.left) > 0 {
		return n, nil
	}
	return n, w.err
}
