package jq

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"

	"github.com/itchyny/gojq"
)

// The exit codes of jq.
const (
	exitOK      = 0
	exitFalse   = 1 // -e: the last output was false or null
	exitUsage   = 2
	exitCompile = 3
	exitNone    = 4 // -e: there was no output
	exitError   = 5
)

// maxSlurp bounds what is read into one value, in bytes.
const maxSlurp = 1 << 30

// Main runs the jq command line args (without the program's name) and returns
// its exit code. env is what $ENV holds; open opens the files that it names.
// When ctx is done it returns soon, also while it waits for input.
func Main(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer, env []string, open func(name string) (io.ReadCloser, error)) (exit int) {
	out := bufio.NewWriterSize(stdout, 32<<10)
	defer func() {
		if p := recover(); p != nil {
			fmt.Fprintf(stderr, "jq: error: %v\n", p)
			exit = exitError
		}
		if out.Flush() != nil && exit == exitOK {
			exit = exitUsage
		}
	}()
	r := &run{ctx: ctx, out: out, stderr: stderr, order: newOrder(), open: open}
	opt, err := parseOptions(args, r.order, open)
	if err != nil {
		fmt.Fprintf(stderr, "jq: error: %v\nUse jq --help for help with command-line options,\nor see the jq manpage, or online docs at https://jqlang.github.io/jq\n", err)
		return exitUsage
	}
	r.opt = opt
	switch {
	case opt.help:
		io.WriteString(out, usage)
		return exitOK
	case opt.version:
		io.WriteString(out, "jq-1.7\n")
		return exitOK
	}
	return r.main(stdin, env)
}

const usage = `Usage:	jq [OPTIONS] FILTER [FILES...]
	jq [OPTIONS] -f FILE [FILES...]
	jq [OPTIONS] --args FILTER [ARGUMENTS...]
	jq [OPTIONS] --jsonargs FILTER [JSON_VALUES...]

  -n, --null-input        -R, --raw-input         -s, --slurp
  -c, --compact-output    -r, --raw-output        --raw-output0
  -j, --join-output       -a, --ascii-output      -S, --sort-keys
  -C, --color-output      -M, --monochrome-output --tab
  --indent N              --stream                --seq
  -e, --exit-status       -f, --from-file FILE    --
  --arg NAME VALUE        --argjson NAME JSON     --slurpfile NAME FILE
  --rawfile NAME FILE     --args                  --jsonargs
  -h, --help              -V, --version
`

// run is one invocation.
type run struct {
	ctx    context.Context
	opt    *options
	out    *bufio.Writer
	stderr io.Writer
	order  *order
	open   opener
	in     *inputs
}

func (r *run) main(stdin io.Reader, env []string) int {
	opt := r.opt
	text := opt.filter
	if opt.fromFile != "" {
		f, err := r.open(opt.fromFile)
		if err != nil {
			fmt.Fprintf(r.stderr, "jq: error: Could not open %s: %v\n", opt.fromFile, reason(err))
			return exitUsage
		}
		b, err := io.ReadAll(io.LimitReader(f, 4<<20))
		f.Close()
		if err != nil {
			fmt.Fprintf(r.stderr, "jq: error: Could not read %s: %v\n", opt.fromFile, reason(err))
			return exitUsage
		}
		text = string(b)
	} else if !opt.hasFilter {
		if len(opt.files) == 0 {
			io.WriteString(r.stderr, usage)
			return exitUsage
		}
	}
	if strings.TrimSpace(text) == "" {
		text = "."
	}
	if len(text) > 1<<20 || strings.Count(text, "(")+strings.Count(text, "[")+strings.Count(text, "{") > 10_000 {
		fmt.Fprintln(r.stderr, "jq: error: the program is too large")
		return exitCompile
	}
	query, err := gojq.Parse(text)
	if err != nil {
		fmt.Fprintf(r.stderr, "jq: error: %v\njq: 1 compile error\n", err)
		return exitCompile
	}
	r.order.program(query)
	r.in = newInputs(r, stdin)
	defer r.in.close()
	named := map[string]any{}
	for i, n := range opt.names {
		named[n[1:]] = opt.values[i]
	}
	if opt.positional == nil {
		opt.positional = []any{}
	}
	names := append([]string{"$__prog_args"}, opt.names...)
	values := append([]any{map[string]any{"positional": opt.positional, "named": named}}, opt.values...)
	if !contains(names, "$ARGS") {
		names, values = append(names, "$ARGS"), append(values, values[0])
	}
	code, err := gojq.Compile(query,
		gojq.WithVariables(names),
		gojq.WithEnvironLoader(func() []string { return env }),
		gojq.WithInputIter(r.in),
		gojq.WithFunction("input_filename", 0, 0, func(any, []any) any { return r.in.filename() }),
		gojq.WithFunction("input_line_number", 0, 0, func(any, []any) any { return r.in.line }),
		gojq.WithFunction("keys_unsorted", 0, 0, func(v any, _ []any) any { return r.order.keysOf(v) }),
		gojq.WithFunction("debug", 0, 0, func(v any, _ []any) any { r.note([]any{"DEBUG:", v}, true); return v }),
		gojq.WithFunction("stderr", 0, 0, func(v any, _ []any) any { r.note(v, false); return v }),
	)
	if err != nil {
		fmt.Fprintf(r.stderr, "jq: error: %v\njq: 1 compile error\n", err)
		return exitCompile
	}
	return r.loop(code, values)
}

func contains(list []string, s string) bool {
	for _, x := range list {
		if x == s {
			return true
		}
	}
	return false
}

// note prints a value on stderr, for debug and stderr.
func (r *run) note(v any, newline bool) {
	(&printer{order: r.order}).print(r.stderr, v)
	if newline {
		io.WriteString(r.stderr, "\n")
	}
}

// loop runs the program on every input.
func (r *run) loop(code *gojq.Code, values []any) int {
	p := &printer{order: r.order, indent: r.opt.indent, sort: r.opt.sort, ascii: r.opt.ascii, color: r.opt.color}
	exit, outputs := exitOK, 0
	var last any
	for once := true; ; {
		var v any
		if r.opt.null {
			if !once {
				break
			}
			once = false
		} else {
			var ok bool
			if v, ok = r.in.Next(); !ok {
				break
			}
			if err, bad := v.(error); bad {
				fmt.Fprintf(r.stderr, "jq: error (at %s:%d): %v\n", r.in.shown(), r.in.line, err)
				return exitUsage
			}
		}
		iter := code.RunWithContext(r.ctx, v, values...)
		for {
			v, ok := iter.Next()
			if !ok {
				break
			}
			if err, bad := v.(error); bad {
				if code, done := r.failed(err, &exit); done {
					return code
				}
				break
			}
			if r.write(p, v) != nil {
				return 141 // the reader has gone
			}
			last = v
			outputs++
		}
		if r.in.immediate() && r.out.Flush() != nil {
			return 141
		}
		r.order.mu.Lock()
		r.order.forget()
		r.order.mu.Unlock()
	}
	if r.in.failed {
		exit = exitUsage
	}
	switch {
	case exit != exitOK || !r.opt.exitStatus:
		return exit
	case outputs == 0:
		return exitNone
	case last == nil || last == false:
		return exitFalse
	}
	return exitOK
}

// failed reports a runtime error; done ends the program.
func (r *run) failed(err error, exit *int) (code int, done bool) {
	var halt *gojq.HaltError
	if errors.As(err, &halt) {
		r.out.Flush()
		if v := halt.Value(); v != nil {
			if s, ok := v.(string); ok {
				io.WriteString(r.stderr, s)
			} else {
				r.note(v, true)
			}
		}
		return halt.ExitCode(), true
	}
	if r.ctx.Err() != nil {
		return exitError, true
	}
	r.out.Flush()
	var broke *breakError
	if errors.As(err, &broke) {
		fmt.Fprintf(r.stderr, "jq: error (at %s:%d): %v\n", r.in.shown(), r.in.line, broke.err)
		return exitUsage, true
	}
	text := err.Error()
	if v, ok := err.(gojq.ValueError); ok {
		switch v := v.Value().(type) {
		case string:
			text = v
		case nil:
			text = "null (null) not a string"
		case map[string]any, []any:
			var b strings.Builder
			(&printer{order: r.order}).print(&b, v)
			text = b.String() + " (not a string)"
		}
	}
	fmt.Fprintf(r.stderr, "jq: error (at %s:%d): %s\n", r.in.shown(), r.in.line, text)
	*exit = exitError
	return 0, false
}

// breakError is an input fault that surfaced through the input function.
type breakError struct{ err error }

func (e *breakError) Error() string { return e.err.Error() }

func (r *run) write(p *printer, v any) error {
	if r.opt.seq {
		r.out.WriteByte(0x1e)
	}
	if s, ok := v.(string); ok && r.opt.rawOut {
		if r.opt.ascii {
			s = ascii(s)
		}
		r.out.WriteString(s)
	} else if err := p.print(r.out, v); err != nil {
		return err
	}
	switch {
	case r.opt.nul:
		return r.out.WriteByte(0)
	case r.opt.join:
		return nil
	}
	return r.out.WriteByte('\n')
}

func reason(err error) error {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		return pe.Err
	}
	return err
}
