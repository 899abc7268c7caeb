package jq

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"
	"syscall"

	"github.com/itchyny/gojq"
)

// The exit codes of jq.
const (
	exitOK      = 0
	exitFalse   = 1 // -e: the last result was false or null
	exitUsage   = 2 // and files that cannot be read
	exitCompile = 3
	exitNone    = 4 // -e: there was no result
	exitError   = 5
	exitPipe    = 141 // nobody reads the output any more
)

// Main runs the jq command line args (without the program's name) and gives
// its exit code. env is what $ENV holds; open opens the files that the command
// line and the program name, nil when there are none. Main reads stdin only as
// far as the program asks for. When ctx is done it returns soon with 5, also
// while it waits for input. It never panics.
func Main(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer, env []string, open func(name string) (io.ReadCloser, error)) (exit int) {
	r := &run{ctx: ctx, out: bufio.NewWriterSize(stdout, 32<<10), stderr: stderr, order: newOrder(), open: open, loaded: map[string]*gojq.Query{}, regexps: regexps{}}
	defer func() {
		if p := recover(); p != nil {
			fmt.Fprintf(stderr, "jq: error: %v\n", p)
			exit = exitError
		}
		exit = r.flush(exit)
	}()
	opt, err := r.parseOptions(args)
	var file fileError
	switch {
	case errors.As(err, &file):
		r.say("jq: %v", err)
		return exitUsage
	case err != nil:
		fmt.Fprintf(stderr, "jq: %v\n%s", err, hint)
		return exitUsage
	case opt.show != "":
		r.out.WriteString(opt.show)
		return exitOK
	}
	r.opt = opt
	return r.main(stdin, env)
}

// run is one invocation.
type run struct {
	cancel  context.CancelCauseFunc // of ctx
	ctx     context.Context
	opt     *options
	out     *bufio.Writer
	stderr  io.Writer
	order   *order
	open    opener
	in      *inputs
	loaded  map[string]*gojq.Query // modules
	regexps regexps
}

func (r *run) main(stdin io.Reader, env []string) int {
	var stop func()
	r.ctx, r.cancel, stop = guard(r.ctx)
	defer stop()
	text := r.opt.program
	if r.opt.fromFile {
		if !r.opt.hasProgram {
			io.WriteString(r.stderr, usage)
			return exitUsage
		}
		var err error
		if text, err = r.readFile(r.opt.program, maxProgram); err != nil {
			r.say("jq: Could not open %s: %s", r.opt.program, reason(err))
			return exitUsage
		}
	}
	names, values := r.variables(env)
	code, err := r.compile(text, names)
	if err != nil {
		r.say("jq: error: %v\njq: 1 compile error", err)
		return exitCompile
	}
	r.order.settled = true
	r.in = newInputs(r, stdin)
	defer r.in.close()
	return r.loop(code, values, r.printer(env))
}

// variables are those that the program begins with.
func (r *run) variables(env []string) (names []string, values []any) {
	named := map[string]any{}
	for _, n := range r.opt.names {
		named[n] = r.opt.values[n]
		names, values = append(names, "$"+n), append(values, named[n])
	}
	r.order.remember(named, r.opt.names)
	set := func(name string, v any) {
		if _, have := named[name]; !have {
			names, values = append(names, "$"+name), append(values, v)
		}
	}
	environ, keys := map[string]any{}, []string{}
	for _, kv := range env {
		if k, v, ok := strings.Cut(kv, "="); ok && k != "" {
			if _, have := environ[k]; !have {
				keys = append(keys, k)
			}
			environ[k] = validText([]byte(v))
		}
	}
	r.order.remember(environ, keys)
	all := map[string]any{"positional": r.opt.positional, "named": named}
	r.order.remember(all, []string{"positional", "named"})
	set("ARGS", all)
	set("__prog_args", all)
	set("ENV", environ)
	set("JQ_BUILD_CONFIGURATION", buildConfiguration)
	return names, values
}

func (r *run) printer(env []string) *printer {
	p := &printer{order: r.order, indent: r.opt.indent, sort: r.opt.sort, ascii: r.opt.ascii}
	chosen := defaultColors
	for _, kv := range env {
		if text, ok := strings.CutPrefix(kv, "JQ_COLORS="); ok {
			if chosen, ok = readColors(text); !ok {
				r.say("Failed to set $JQ_COLORS")
			}
		}
	}
	if r.opt.color {
		p.colors = &chosen
	}
	return p
}

// outcome is how the program ended on one input.
type outcome int

const (
	noResult outcome = iota
	nothing          // the last result was false or null
	something
	failed
	stopped // with an exit code: halt, or the reader has gone
)

// loop runs the program on every input. As in jq, the exit code is that of the
// last one.
func (r *run) loop(code *gojq.Code, values []any, p *printer) int {
	how, last := noResult, noResult
	for once := false; !r.in.failed && !once; {
		var v any
		if once = r.opt.null; !once {
			var ok bool
			var err error
			v, ok, err = r.in.next()
			switch {
			case r.ctx.Err() != nil:
				return r.interrupted()
			case err != nil && r.opt.seq:
				r.say("jq: ignoring parse error: %v", err)
				continue
			case err != nil:
				r.say("jq: parse error: %v", err)
				return exitError
			}
			if !ok {
				break
			}
		}
		var exit int
		if how, exit = r.process(code, v, values, p); how == stopped {
			return exit
		}
		if how == nothing || how == something {
			last = how
		}
		r.order.forget()
	}
	if how == noResult {
		how = last
	}
	switch {
	case r.in.failed:
		return exitUsage
	case how == failed:
		return exitError
	case !r.opt.exitStatus || how == something:
		return exitOK
	case how == nothing:
		return exitFalse
	}
	return exitNone
}

// process runs the program on one input.
func (r *run) process(code *gojq.Code, v any, values []any, p *printer) (how outcome, exit int) {
	m := &meter{Context: r.ctx, cancel: r.cancel}
	iter := code.RunWithContext(m, v, values...)
	m.program = iter
	for {
		v, ok := iter.Next()
		if !ok {
			return how, 0
		}
		err, bad := v.(error)
		if !bad {
			err = r.write(p, v)
		}
		var halt *gojq.HaltError
		switch {
		case err == nil:
		case r.ctx.Err() != nil:
			return stopped, r.interrupted()
		case errors.As(err, &halt):
			switch v := halt.Value().(type) {
			case nil:
			case string:
				r.show(v, "")
			default:
				r.show(v, "\n")
			}
			return stopped, halt.ExitCode() & 0xff
		case !bad && !errors.Is(err, errNUL):
			return stopped, exitPipe
		default:
			r.complain(err)
			return failed, 0
		}
		if how = something; v == nil || v == false {
			how = nothing
		}
	}
}

// interrupted is the exit code when the context is done.
func (r *run) interrupted() int {
	if err := context.Cause(r.ctx); errors.Is(err, errMemory) || errors.Is(err, errStack) {
		r.say("jq: error: %v", err)
	}
	return exitError
}

// complain reports an error that the program did not catch.
func (r *run) complain(err error) {
	at := r.in.position()
	if v, ok := err.(gojq.ValueError); ok {
		if s, ok := v.Value().(string); ok {
			r.say("jq: error (at %s): %s", at, s)
			return
		}
		r.note(fmt.Sprintf("jq: error (at %s) (not a string): ", at))
		r.show(v.Value(), "\n")
		return
	}
	r.say("jq: error (at %s): %s", at, wording(err.Error()))
}

const errNUL = fault("Cannot dump a string containing NUL with --raw-output0 option")

// write prints a result.
func (r *run) write(p *printer, v any) error {
	s, str := v.(string)
	switch raw := str && r.opt.rawOut; {
	case raw && !r.opt.ascii:
		if r.opt.nul && strings.Contains(s, "\x00") {
			return errNUL
		}
		r.out.WriteString(s)
	default:
		if r.opt.seq && !raw {
			r.out.WriteByte(rs)
		}
		if err := p.print(untilDone{r.ctx, r.out}, v); err != nil {
			return err
		}
	}
	var err error
	switch {
	case r.opt.nul:
		err = r.out.WriteByte(0)
	case !r.opt.join:
		err = r.out.WriteByte('\n')
	}
	if r.opt.unbuffered && err == nil {
		err = r.out.Flush()
	}
	return err
}

// flush passes on what is left to print. When nobody reads it, that is the
// exit code; any other failure is reported.
func (r *run) flush(exit int) int {
	err := r.out.Flush()
	switch {
	case err == nil:
		return exit
	case errors.Is(err, syscall.EPIPE), errors.Is(err, io.ErrClosedPipe), errors.Is(err, fs.ErrClosed), r.ctx.Err() != nil:
		if exit == exitOK {
			return exitPipe
		}
		return exit
	}
	fmt.Fprintf(r.stderr, "jq: error: writing output failed: %s\n", reason(err))
	return exitUsage
}

// say prints a line on stderr, after the results so far.
func (r *run) say(format string, args ...any) { r.note(fmt.Sprintf(format, args...) + "\n") }

func (r *run) note(text string) {
	r.out.Flush()
	io.WriteString(r.stderr, text)
}

// show prints a value on stderr, a string as it is, and end behind it.
func (r *run) show(v any, end string) {
	r.out.Flush()
	if s, ok := v.(string); ok {
		io.WriteString(r.stderr, s+end)
		return
	}
	p := printer{order: r.order}
	if p.print(untilDone{r.ctx, r.stderr}, v) == nil {
		io.WriteString(r.stderr, end)
	}
}

// untilDone writes to w until ctx is done.
type untilDone struct {
	ctx context.Context
	w   io.Writer
}

func (u untilDone) Write(b []byte) (int, error) {
	if err := u.ctx.Err(); err != nil {
		return 0, err
	}
	return u.w.Write(b)
}

func (r *run) openFile(name string) (io.ReadCloser, error) {
	if r.open == nil {
		return nil, errors.New("there are no files here")
	}
	return r.open(name)
}

func (r *run) searchList() any {
	list := []any{}
	for _, dir := range r.opt.library {
		list = append(list, dir)
	}
	return list
}
