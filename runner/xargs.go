package runner

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/interp"
)

// xargs runs a command on the words of its input. The host's own xargs would
// start programs past the interceptor, so all of it is answered here; the
// commands get no stdin, as with xargs itself.
func (s *shell) xargs(ctx context.Context, c command) error {
	o, err := xargsOptions(c.args[1:])
	if err != nil {
		return c.fail(1, "%v", err)
	}
	var input []byte
	if c.in != nil {
		if input, err = io.ReadAll(io.LimitReader(c.in, maxXargs+1)); err != nil {
			return c.fail(1, "reading the input: %v", reason(err))
		}
	}
	if len(input) > maxXargs {
		return c.fail(1, "the input is larger than 16 MiB")
	}
	words, err := o.split(input)
	if err != nil {
		return c.fail(1, "%v", err)
	}
	c.in, c.attached = nil, false
	exit := 0
	for _, args := range o.lines(words) {
		if o.trace {
			io.WriteString(c.err, strings.Join(args, " ")+"\n")
		}
		err := s.exec(ctx, c.with(args...))
		var code interp.ExitStatus
		switch {
		case err == nil:
		case errors.As(err, &code) && code == 255:
			return c.fail(124, "%s: exited with status 255; aborting", args[0])
		case errors.As(err, &code) && (code == 126 || code == 127):
			return err
		case errors.As(err, &code):
			exit = 123
		default:
			return err
		}
	}
	return status(exit)
}

const maxXargs = 16 << 20

type xargs struct {
	command   []string
	perCall   int    // words a call; 0 is as many as fit
	perLine   int    // lines a call
	replace   string // -I
	delimiter byte
	delimited bool
	skipEmpty bool
	trace     bool
}

func xargsOptions(args []string) (*xargs, error) {
	o := &xargs{}
	for len(args) > 0 && len(args[0]) > 1 && args[0][0] == '-' {
		arg := args[0]
		args = args[1:]
		if arg == "--" {
			break
		}
		switch arg {
		case "--null":
			arg = "-0"
		case "--no-run-if-empty":
			arg = "-r"
		case "--verbose":
			arg = "-t"
		}
		for i := 1; i < len(arg); i++ {
			value := func() (string, error) {
				v := arg[i+1:]
				if i = len(arg); v != "" {
					return v, nil
				}
				if len(args) == 0 {
					return "", errors.New("option requires an argument: " + arg)
				}
				v, args = args[0], args[1:]
				return v, nil
			}
			var err error
			var v string
			switch arg[i] {
			case '0':
				o.delimiter, o.delimited = 0, true
			case 'r':
				o.skipEmpty = true
			case 't':
				o.trace = true
			case 'n', 'L', 'P':
				which := arg[i]
				if v, err = value(); err != nil {
					return nil, err
				}
				n, err := strconv.Atoi(v)
				if err != nil || n < 0 || n == 0 && which != 'P' {
					return nil, errors.New("not a positive number: " + v)
				}
				switch which {
				case 'n':
					o.perCall = n
				case 'L':
					o.perLine = n
				}
			case 'I':
				if o.replace, err = value(); err != nil {
					return nil, err
				}
			case 'i':
				o.replace = "{}"
			case 'd':
				if v, err = value(); err != nil {
					return nil, err
				}
				d, ok := map[string]byte{`\n`: '\n', `\t`: '\t', `\0`: 0, `\\`: '\\'}[v]
				if !ok && len(v) != 1 {
					return nil, errors.New("the delimiter must be one character: " + v)
				} else if !ok {
					d = v[0]
				}
				o.delimiter, o.delimited = d, true
			default:
				return nil, errors.New("option is not supported here: " + arg)
			}
		}
	}
	if o.command = args; len(args) == 0 {
		o.command = []string{"echo"}
	}
	return o, nil
}

// split cuts the input into words, or into lines where lines count.
func (o *xargs) split(input []byte) ([]string, error) {
	var words []string
	if o.delimited {
		for part := range bytes.SplitSeq(bytes.TrimSuffix(input, []byte{o.delimiter}), []byte{o.delimiter}) {
			words = append(words, string(part))
		}
		if len(input) == 0 {
			words = nil
		}
		return words, nil
	}
	if o.replace != "" || o.perLine > 0 {
		for line := range strings.Lines(string(input)) {
			if line = strings.TrimLeft(strings.TrimSuffix(line, "\n"), " \t"); line != "" {
				words = append(words, line)
			}
		}
		if o.replace != "" {
			for i, w := range words {
				parts, err := quoted(w, false)
				if err != nil {
					return nil, err
				}
				words[i] = strings.Join(parts, "")
			}
		}
		return words, nil
	}
	return quoted(string(input), true)
}

// quoted reads words as xargs does: blanks separate, quotes and backslashes
// protect. Without blanks, the whole text is one word.
func quoted(text string, blanks bool) ([]string, error) {
	var words []string
	var word strings.Builder
	inWord := false
	for i := 0; i < len(text); i++ {
		switch ch := text[i]; {
		case blanks && (ch == ' ' || ch == '\t' || ch == '\n'):
			if inWord {
				words = append(words, word.String())
				word.Reset()
			}
			inWord = false
		case ch == '\\' && i+1 < len(text):
			i++
			word.WriteByte(text[i])
			inWord = true
		case ch == '\'' || ch == '"':
			end := strings.IndexByte(text[i+1:], ch)
			if end < 0 || strings.Contains(text[i+1:i+1+end], "\n") {
				return nil, errors.New("unmatched quote; use -0 or -d to read words as they are")
			}
			word.WriteString(text[i+1 : i+1+end])
			i += end + 1
			inWord = true
		default:
			word.WriteByte(ch)
			inWord = true
		}
	}
	if inWord {
		words = append(words, word.String())
	}
	return words, nil
}

// lines are the commands to run.
func (o *xargs) lines(words []string) [][]string {
	var out [][]string
	switch {
	case o.replace != "":
		for _, w := range words {
			args := make([]string, len(o.command))
			for i, a := range o.command {
				args[i] = strings.ReplaceAll(a, o.replace, w)
			}
			out = append(out, args)
		}
		return out
	case len(words) == 0 && o.skipEmpty:
		return nil
	case len(words) == 0:
		return [][]string{o.command}
	}
	size := o.perCall
	if o.perLine > 0 {
		size = o.perLine
	}
	for len(words) > 0 {
		n, bytes := 0, 0
		for n < len(words) && (size == 0 || n < size) && bytes < 100<<10 {
			bytes += len(words[n]) + 1
			n++
		}
		args := append([]string{}, o.command...)
		for _, w := range words[:n] {
			if o.perLine > 0 && !o.delimited {
				args = append(args, strings.Fields(w)...)
				continue
			}
			args = append(args, w)
		}
		out, words = append(out, args), words[n:]
	}
	return out
}
