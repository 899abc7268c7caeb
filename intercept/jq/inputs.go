package jq

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"
)

// inputs is the stream of the program's inputs: stdin or the files, read one
// after the other and as one text, as jq does it. A value is there as soon as
// its line has been read.
type inputs struct {
	run   *run
	stdin io.Reader
	files []string

	name   string // of what is being read; "" before and after
	line   int    // how many lines of it have been read
	open   io.Closer
	buf    *bufio.Reader
	atEOF  bool
	failed bool // something could not be opened or read

	parser  *parser
	pending []byte // raw input: what was read of the next line
	slurped bool
	all     []any // of --slurp, as far as it has been read
}

// noMoreInputs is what input says in the end.
const noMoreInputs = fault("break")

func newInputs(r *run, stdin io.Reader) *inputs {
	in := &inputs{run: r, stdin: stdin, files: r.opt.files}
	if len(in.files) == 0 {
		in.files = []string{"-"}
	}
	if !r.opt.rawIn {
		in.parser = newParser(r.order)
		in.parser.stream, in.parser.streamErrors = r.opt.stream, r.opt.streamErrors
		if r.opt.seq {
			in.parser.startSeq()
		}
	}
	return in
}

func (in *inputs) close() {
	if in.open != nil {
		in.open.Close()
		in.open = nil
	}
	in.buf = nil
}

// filename is what input_filename gives: null before and after all inputs.
func (in *inputs) filename() any {
	if in.name == "" {
		return nil
	}
	return in.name
}

const stdinName = "<stdin>"

// position is where messages say that they come from.
func (in *inputs) position() string {
	if in.name == "" {
		return "<unknown>"
	}
	return fmt.Sprintf("%s:%d", in.name, in.line)
}

// next is the next input. An error is a fault in the text, or that of the
// context.
func (in *inputs) next() (any, bool, error) {
	switch {
	case in.parser == nil && in.run.opt.slurp:
		return in.slurpRaw()
	case in.parser == nil:
		return in.rawLine()
	case in.run.opt.slurp:
		return in.slurp()
	}
	return in.value()
}

func (in *inputs) value() (any, bool, error) {
	for last := false; ; {
		if in.parser.remaining() == 0 {
			var chunk []byte
			chunk, last = in.more()
			if err := in.run.ctx.Err(); err != nil {
				return nil, false, err
			}
			in.parser.feed(chunk, last)
		}
		v, ok, err := in.parser.read()
		if ok || err != nil {
			return v, ok, err
		}
		if last && in.parser.remaining() == 0 {
			return nil, false, nil
		}
	}
}

func (in *inputs) slurp() (any, bool, error) {
	if in.slurped {
		return nil, false, nil
	}
	for {
		v, ok, err := in.value()
		if err != nil {
			return nil, false, err
		}
		if !ok {
			in.slurped = true
			return append([]any{}, in.all...), true, nil
		}
		in.all = append(in.all, v)
	}
}

func (in *inputs) rawLine() (any, bool, error) {
	line := in.pending
	for {
		chunk, last := in.more()
		if err := in.run.ctx.Err(); err != nil {
			return nil, false, err
		}
		if n := len(chunk); n > 0 && chunk[n-1] == '\n' {
			in.pending = line[:0]
			return validText(append(line, chunk[:n-1]...)), true, nil
		}
		line = append(line, chunk...)
		if last {
			in.pending = nil
			return validText(line), len(line) > 0, nil
		}
	}
}

func (in *inputs) slurpRaw() (any, bool, error) {
	if in.slurped {
		return nil, false, nil
	}
	in.slurped = true
	var all []byte
	for last := false; !last; {
		var chunk []byte
		chunk, last = in.more()
		if err := in.run.ctx.Err(); err != nil {
			return nil, false, err
		}
		all = append(all, chunk...)
	}
	return validText(all), true, nil
}

func validText(b []byte) string { return strings.ToValidUTF8(string(b), "\uFFFD") }

// more reads on to the end of a line, or as much as the buffer holds. last: no
// call after this one will give more.
func (in *inputs) more() (chunk []byte, last bool) {
	if in.buf == nil || in.atEOF {
		in.close()
		in.name, in.line, in.atEOF = "", 0, false
		if len(in.files) > 0 {
			in.start(in.files[0])
			in.files = in.files[1:]
		}
	}
	if in.buf == nil {
		return nil, len(in.files) == 0
	}
	chunk, err := in.buf.ReadSlice('\n')
	if n := len(chunk); n > 0 && chunk[n-1] == '\n' {
		in.line++
	}
	if err != nil && !errors.Is(err, bufio.ErrBufferFull) {
		in.atEOF = true
		if err != io.EOF && in.run.ctx.Err() == nil {
			in.failed = true
			in.run.say("jq: error: reading %s: %v", in.name, reason(err))
		}
	}
	return chunk, in.atEOF && len(in.files) == 0
}

// start opens the next file.
func (in *inputs) start(name string) {
	r := in.stdin
	in.name = stdinName
	if name != "-" {
		in.name = name
		f, err := in.run.openFile(name)
		if err != nil {
			in.failed = true
			in.run.say("jq: error: Could not open file %s: %s", name, reason(err))
			return
		}
		in.open, r = f, f
	}
	// What is printed so far is flushed before a read that may have to wait.
	in.buf = bufio.NewReaderSize(flushFirst{interruptible(in.run.ctx, r), in.run}, 64<<10)
}

// flushFirst passes results on before it waits for more input.
type flushFirst struct {
	io.Reader
	run *run
}

func (f flushFirst) Read(p []byte) (int, error) {
	f.run.out.Flush()
	return f.Reader.Read(p)
}

// reason is a file error without operation and path, in the system's words.
func reason(err error) string {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		err = pe.Err
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "No such file or directory"
	case errors.Is(err, fs.ErrPermission):
		return "Permission denied"
	}
	return err.Error()
}

// inputIter is the function inputs.
type inputIter struct{ run *run }

func (i *inputIter) Next() (any, bool) {
	v := i.run.input()
	if v == noMoreInputs {
		return nil, false
	}
	return v, true
}

// input is the function input: the next input, or an error as a value.
func (r *run) input() any {
	v, ok, err := r.in.next()
	switch {
	case err != nil:
		return fault(err.Error())
	case !ok:
		return noMoreInputs
	}
	return v
}
