package runner

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"mvdan.cc/sh/v3/interp"
	"mvdan.cc/sh/v3/syntax"
)

// The builtin read is our own: the interpreter's drops empty fields, prints
// prompts that nobody sees, and knows neither -d, -n, -N nor -t. The call
// handler gives it a name that no script knows; here it reads what bash 5.2
// would, and assigns by way of the interpreter's eval.

// readCommand is a command line of read.
type readCommand struct {
	raw      bool   // -r: backslashes are nothing special
	array    string // -a
	delim    byte   // -d: what ends the line
	count    int    // -n and -N: characters to read at most; -1 for no such limit
	exactly  bool   // -N: whatever they are, and they are not taken apart
	timeout  time.Duration
	timed    bool // -t
	names    []string
	ifs      string
	assigned strings.Builder // the assignments, as a script
}

// char is one character of the input. An escaped one separates no fields.
type char struct {
	text    string
	escaped bool
}

const readTimedOut = 142 // 128 and SIGALRM, as in bash

// read answers the read builtin.
func (s *shell) read(ctx context.Context, c command) error {
	hc := interp.HandlerCtx(ctx)
	r := &readCommand{delim: '\n', count: -1, ifs: " \t\n"}
	if v := hc.Env.Get("IFS"); v.IsSet() {
		r.ifs = v.String()
	}
	c.args[0] = "read"
	if err := r.parse(c.args[1:]); err != nil {
		return c.fail(2, "%v", err)
	}
	for _, name := range append(slices.Clone(r.names), r.array) {
		if name != "" && !assignable(name) {
			return c.fail(1, "`%s': not a valid identifier", name)
		}
	}
	line, err := r.line(ctx, c.in)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	r.assign(line)
	if err := hc.Builtin(ctx, []string{"eval", r.assigned.String()}); err != nil {
		return status(1) // a readonly variable, say; the interpreter has said so
	}
	switch {
	case err == nil:
		return nil
	case errors.Is(err, os.ErrDeadlineExceeded):
		return status(readTimedOut)
	}
	return status(1)
}

// parse reads the options and names.
func (r *readCommand) parse(args []string) error {
	for len(args) > 0 && len(args[0]) > 1 && args[0][0] == '-' {
		word := args[0]
		args = args[1:]
		if word == "--" {
			break
		}
		for i := 1; i < len(word); i++ {
			letter := word[i]
			if !strings.ContainsRune("adinNptu", rune(letter)) {
				if !strings.ContainsRune("ers", rune(letter)) {
					return fmt.Errorf("-%c: invalid option", letter)
				}
				r.raw = r.raw || letter == 'r'
				continue
			}
			value := word[i+1:]
			if value == "" {
				if len(args) == 0 {
					return fmt.Errorf("-%c: option requires an argument", letter)
				}
				value, args = args[0], args[1:]
			}
			if err := r.option(letter, value); err != nil {
				return err
			}
			break
		}
	}
	r.names = args
	return nil
}

// option sets one that has a value.
func (r *readCommand) option(letter byte, value string) (err error) {
	switch letter {
	case 'a':
		r.array = value
	case 'd':
		if r.delim = 0; value != "" {
			r.delim = value[0]
		}
	case 'n', 'N':
		if r.count, err = strconv.Atoi(value); err != nil || r.count < 0 {
			return fmt.Errorf("%s: invalid number", value)
		}
		r.exactly = letter == 'N'
	case 't':
		seconds, err := strconv.ParseFloat(value, 64)
		if err != nil || !(seconds >= 0 && seconds < 1e9) {
			return fmt.Errorf("%s: invalid timeout specification", value)
		}
		r.timed, r.timeout = true, time.Duration(seconds*float64(time.Second))
	case 'u':
		if value != "0" {
			return fmt.Errorf("%s: file descriptors beyond 0 are not supported", value)
		}
	}
	return nil // -p and -i are for a terminal
}

// assignable reports whether read can give name a value: a variable, or an
// element of an array whose index needs no looking at.
func assignable(name string) bool {
	base, index, found := strings.Cut(name, "[")
	if !found {
		return syntax.ValidName(name)
	}
	index, closed := strings.CutSuffix(index, "]")
	return closed && syntax.ValidName(base) && index != "" && strings.Trim(index, "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_") == ""
}

// line reads up to the delimiter, the count or the end. It takes one byte at a
// time: what follows belongs to whoever reads next. The error is nil when the
// line was ended by what it should be ended by.
func (r *readCommand) line(ctx context.Context, in io.Reader) (line []char, err error) {
	if in == nil {
		return nil, io.EOF
	}
	if r.timed && r.timeout == 0 { // is there anything to read?
		return nil, ready(in)
	}
	done := deadline(ctx, in, r.timed, r.timeout)
	defer done()
	if r.count == 0 {
		return nil, nil
	}
	escaped, partial := false, ""
	for {
		b, err := readByte(in)
		if err != nil {
			if partial != "" {
				line = append(line, char{partial, escaped})
			}
			return line, err
		}
		if partial == "" {
			switch {
			case b == '\\' && !r.raw && !escaped:
				escaped = true
				continue
			case b == '\n' && escaped: // the line goes on
				escaped = false
				continue
			case b == r.delim && !r.exactly && !escaped:
				return line, nil
			case b == 0: // no shell variable holds one
				escaped = false
				continue
			}
		}
		partial += string([]byte{b})
		if b >= utf8.RuneSelf && !utf8.FullRuneInString(partial) {
			continue // of a character of several bytes
		}
		line = append(line, char{partial, escaped})
		escaped, partial = false, ""
		if r.count > 0 && len(line) == r.count {
			return line, nil
		}
	}
}

func readByte(in io.Reader) (byte, error) {
	var b [1]byte
	for {
		if n, err := in.Read(b[:]); n > 0 || err != nil {
			if n > 0 {
				err = nil
			}
			return b[0], err
		}
	}
}

// deadline lets reads of in end with the context, and after a time limit if
// there is one. The input of a script is a file or a pipe; only a pipe makes
// anyone wait.
func deadline(ctx context.Context, in io.Reader, timed bool, limit time.Duration) (done func()) {
	f, ok := in.(interface{ SetReadDeadline(time.Time) error })
	if !ok {
		return func() {}
	}
	if timed {
		f.SetReadDeadline(time.Now().Add(limit))
	}
	ended := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		f.SetReadDeadline(time.Now())
		close(ended)
	})
	return func() {
		if !stop() {
			<-ended
		}
		f.SetReadDeadline(time.Time{})
	}
}

// assign takes the line apart as bash does and writes the assignments.
func (r *readCommand) assign(line []char) {
	switch {
	case r.timed && r.timeout == 0:
	case r.array != "":
		r.set(r.array, "")
		r.assigned.Reset()
		var list []string
		for f := (fields{line, r.ifs}); ; {
			field, ok := f.next()
			if !ok {
				break
			}
			list = append(list, asWord(field))
		}
		fmt.Fprintf(&r.assigned, "%s=(%s)\n", r.array, strings.Join(list, " "))
	case len(r.names) == 0:
		r.set("REPLY", text(line))
	case r.exactly:
		r.set(r.names[0], text(line))
		for _, name := range r.names[1:] {
			r.set(name, "")
		}
	default:
		f := fields{line, r.ifs}
		for _, name := range r.names[:len(r.names)-1] {
			field, _ := f.next()
			r.set(name, field)
		}
		r.set(r.names[len(r.names)-1], f.last())
	}
}

func (r *readCommand) set(name, value string) {
	fmt.Fprintf(&r.assigned, "%s=%s\n", name, asWord(value))
}

// asWord is a value as a word of a script.
func asWord(value string) string {
	if word, err := syntax.Quote(value, syntax.LangBash); err == nil {
		return word
	}
	return "'" + strings.ReplaceAll(value, "'", `'\''`) + "'"
}

func text(line []char) string {
	var b strings.Builder
	for _, c := range line {
		b.WriteString(c.text)
	}
	return b.String()
}

// fields takes a line apart by IFS, one field after the other.
type fields struct {
	rest []char
	ifs  string
}

func (f *fields) separates(c char) bool { return !c.escaped && strings.Contains(f.ifs, c.text) }

// blank reports whether c is white space that separates.
func (f *fields) blank(c char) bool {
	return f.separates(c) && (c.text == " " || c.text == "\t" || c.text == "\n")
}

func (f *fields) skipBlanks() {
	for len(f.rest) > 0 && f.blank(f.rest[0]) {
		f.rest = f.rest[1:]
	}
}

// next is the next field, false when there is none. It takes the separator
// with it: white space on both sides of at most one other character of IFS.
func (f *fields) next() (field string, ok bool) {
	f.skipBlanks()
	if len(f.rest) == 0 {
		return "", false
	}
	end := slices.IndexFunc(f.rest, f.separates)
	if end < 0 {
		field, f.rest = text(f.rest), nil
		return field, true
	}
	field = text(f.rest[:end])
	blank := f.blank(f.rest[end])
	f.rest = f.rest[end+1:]
	f.skipBlanks()
	if blank && len(f.rest) > 0 && f.separates(f.rest[0]) {
		f.rest = f.rest[1:]
		f.skipBlanks()
	}
	return field, true
}

// last is what is left, for the last name: one field without its separator,
// or all there is without the white space around it.
func (f *fields) last() string {
	f.skipBlanks()
	whole := f.rest
	if field, _ := f.next(); len(f.rest) == 0 {
		return field
	}
	for len(whole) > 0 && f.blank(whole[len(whole)-1]) {
		whole = whole[:len(whole)-1]
	}
	return text(whole)
}
