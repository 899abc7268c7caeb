package jq

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/itchyny/gojq"
)

// inputs is the stream of the program's inputs: stdin or the files, one after
// the other, decoded as the options say.
type inputs struct {
	run     *run
	stdin   io.Reader
	files   []string
	name    string // of the file that is being read
	current io.ReadCloser
	next    func() (any, error) // of the current file
	line    int
	slurped bool
	failed  bool // a file could not be opened
}

func newInputs(r *run, stdin io.Reader) *inputs {
	in := &inputs{run: r, stdin: stdin, files: r.opt.files}
	if len(in.files) == 0 {
		in.files = []string{""}
	}
	return in
}

func (in *inputs) close() {
	if in.current != nil {
		in.current.Close()
	}
}

func (in *inputs) filename() any {
	if in.name == "" {
		return nil
	}
	return in.name
}

func (in *inputs) shown() string {
	if in.name == "" {
		return "<stdin>"
	}
	return in.name
}

// immediate reports whether results must reach the reader at once: stdin is a
// live stream.
func (in *inputs) immediate() bool { return in.name == "" && !in.run.opt.null }

var _ gojq.Iter = (*inputs)(nil)

// Next is the next input, or an error as a value.
func (in *inputs) Next() (any, bool) {
	if in.run.opt.slurp {
		if in.slurped {
			return nil, false
		}
		in.slurped = true
		return in.slurp(), true
	}
	v, err := in.one()
	if err == io.EOF {
		return nil, false
	}
	if err != nil {
		in.files, in.next = nil, nil
		return &breakError{err}, true
	}
	return v, true
}

// one is the next value of the current file, or of the next one.
func (in *inputs) one() (any, error) {
	for {
		if err := in.run.ctx.Err(); err != nil {
			return nil, err
		}
		if in.next == nil {
			if err := in.advance(); err != nil {
				return nil, err
			}
		}
		v, err := in.next()
		if err != io.EOF {
			return v, in.describe(err)
		}
		in.next = nil
	}
}

func (in *inputs) describe(err error) error {
	var syntax *json.SyntaxError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &syntax):
		return fmt.Errorf("%s (while parsing JSON)", syntax.Error())
	case errors.Is(err, io.ErrUnexpectedEOF):
		return errors.New("Unfinished JSON term at EOF (while parsing JSON)")
	}
	return err
}

// advance opens the next file.
func (in *inputs) advance() error {
	in.close()
	in.current = nil
	for len(in.files) > 0 {
		name := in.files[0]
		in.files = in.files[1:]
		r := in.stdin
		if name != "" {
			f, err := in.run.open(name)
			if err != nil {
				fmt.Fprintf(in.run.stderr, "jq: error: Could not open %s: %v\n", name, reason(err))
				in.failed = true
				continue
			}
			in.current, r = f, f
		}
		in.name, in.line = name, 0
		in.next = in.reader(&countLines{interruptible(in.run.ctx, r), &in.line})
		return nil
	}
	return io.EOF
}

// reader decodes one file.
func (in *inputs) reader(r io.Reader) func() (any, error) {
	switch {
	case in.run.opt.raw:
		lines := bufio.NewReaderSize(r, 64<<10)
		return func() (any, error) {
			s, err := lines.ReadString('\n')
			if s == "" && err != nil {
				return nil, err
			}
			return strings.ToValidUTF8(strings.TrimSuffix(s, "\n"), "\uFFFD"), nil
		}
	case in.run.opt.stream:
		d := newDecoder(r, in.run.order)
		var events []any
		return func() (any, error) {
			if len(events) == 0 {
				v, err := d.next()
				if err != nil {
					return nil, err
				}
				in.run.order.mu.Lock()
				events = stream(in.run.order, v, nil, true, nil)
				in.run.order.mu.Unlock()
			}
			v := events[0]
			events = events[1:]
			return v, nil
		}
	}
	if in.run.opt.seq {
		r = &dropByte{r, 0x1e}
	}
	return newDecoder(r, in.run.order).next
}

// slurp reads everything into one value.
func (in *inputs) slurp() any {
	if in.run.opt.raw {
		var b strings.Builder
		for {
			if err := in.advance(); err != nil {
				return strings.ToValidUTF8(b.String(), "\uFFFD")
			}
			r := io.Reader(in.stdin)
			if in.current != nil {
				r = in.current
			}
			if _, err := io.Copy(&b, io.LimitReader(interruptible(in.run.ctx, r), maxSlurp)); err != nil {
				return &breakError{err}
			}
		}
	}
	list := []any{}
	for {
		v, err := in.one()
		if err == io.EOF {
			return list
		}
		if err != nil {
			return &breakError{err}
		}
		list = append(list, v)
	}
}

// stream is a value as the events of --stream.
func stream(o *order, v any, path []any, top bool, events []any) []any {
	at := func(p any) []any { return append(append([]any{}, path...), p) }
	var last any
	switch v := v.(type) {
	case []any:
		if len(v) == 0 {
			return append(events, []any{append([]any{}, path...), v})
		}
		for i, x := range v {
			events = stream(o, x, at(i), false, events)
		}
		last = len(v) - 1
	case map[string]any:
		if len(v) == 0 {
			return append(events, []any{append([]any{}, path...), v})
		}
		for _, k := range o.keys(v) {
			events = stream(o, v[k], at(k), false, events)
			last = k
		}
	default:
		return append(events, []any{append([]any{}, path...), v})
	}
	return append(events, []any{at(last)})
}

// countLines counts the lines that have been read.
type countLines struct {
	io.Reader
	n *int
}

func (c *countLines) Read(p []byte) (int, error) {
	n, err := c.Reader.Read(p)
	*c.n += bytes.Count(p[:n], []byte("\n"))
	return n, err
}

// dropByte leaves one byte value out.
type dropByte struct {
	io.Reader
	b byte
}

func (d *dropByte) Read(p []byte) (int, error) {
	for {
		n, err := d.Reader.Read(p)
		out := p[:0]
		for _, b := range p[:n] {
			if b != d.b {
				out = append(out, b)
			}
		}
		if len(out) > 0 || err != nil {
			return len(out), err
		}
	}
}

// interruptible makes a reader that fails once ctx is done, also while it
// waits. The read that it leaves behind ends with its stream.
func interruptible(ctx context.Context, r io.Reader) io.Reader {
	if r == nil {
		return strings.NewReader("")
	}
	if _, ok := r.(*strings.Reader); ok || ctx.Done() == nil {
		return r
	}
	return &waiting{ctx: ctx, r: r}
}

type waiting struct {
	ctx context.Context
	r   io.Reader
	buf []byte
}

func (w *waiting) Read(p []byte) (int, error) {
	if err := w.ctx.Err(); err != nil {
		return 0, err
	}
	if w.buf == nil {
		w.buf = make([]byte, 64<<10)
	}
	type result struct {
		n   int
		err error
	}
	done := make(chan result, 1)
	buf := w.buf[:min(len(p), len(w.buf))]
	go func() {
		n, err := w.r.Read(buf)
		done <- result{n, err}
	}()
	select {
	case got := <-done:
		copy(p, buf[:got.n])
		return got.n, got.err
	case <-w.ctx.Done():
		w.buf = nil
		return 0, w.ctx.Err()
	}
}
