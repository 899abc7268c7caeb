package runner

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"

	"mvdan.cc/sh/v3/interp"
	"mvdan.cc/sh/v3/syntax"

	"github.com/tools-in-shell/tis/analyze"
	"github.com/tools-in-shell/tis/analyze/dialect"
)

// bash is the bash and sh command: a shell of its own on the same handlers,
// with the same interceptor and limits.
func (s *shell) bash(ctx context.Context, c command) error {
	var options []string
	text, isText, stdin := "", false, false
	args := c.args[1:]
options:
	for len(args) > 0 {
		arg := args[0]
		switch {
		case arg == "--":
			args = args[1:]
			break options
		case arg == "--norc" || arg == "--noprofile" || arg == "--posix" || arg == "--login" || arg == "-l":
		case arg == "-o" || arg == "+o" || arg == "-O" || arg == "+O":
			if len(args) < 2 {
				return c.fail(2, "%s: option requires an argument", arg)
			}
			if arg[1] == 'o' {
				options = append(options, arg, args[1])
			}
			args = args[1:]
		case len(arg) > 1 && (arg[0] == '-' || arg[0] == '+') && arg[1] != '-':
			for _, f := range arg[1:] {
				switch f {
				case 'c':
					isText = true
				case 's':
					stdin = true
				case 'i', 'l':
				case 'o':
					if len(args) < 2 {
						return c.fail(2, "-o: option requires an argument")
					}
					options = append(options, "-o", args[1])
					args = append(args[:1:1], args[2:]...)
				default:
					options = append(options, arg[:1]+string(f))
				}
			}
		case strings.HasPrefix(arg, "--"):
			return c.fail(2, "%s: invalid option", arg)
		default:
			break options
		}
		args = args[1:]
	}
	name := c.args[0]
	switch {
	case isText:
		if len(args) == 0 {
			return c.fail(2, "-c: option requires an argument")
		}
		text, args = args[0], args[1:]
		if len(args) > 0 {
			args = args[1:] // $0
		}
	case len(args) > 0 && !stdin:
		var err error
		if text, err = s.run.files.readScript(interp.HandlerContext{Dir: c.dir, Stdin: c.in}, args[0], maxScript); err != nil {
			code := 126
			if errors.Is(err, fs.ErrNotExist) {
				code = 127
			}
			return c.fail(code, "%s: %v", args[0], reason(err))
		}
		name, args = args[0], args[1:]
	default:
		if c.in == nil {
			return nil
		}
		b, err := io.ReadAll(io.LimitReader(c.in, maxScript+1))
		if err != nil {
			return c.fail(1, "reading the script: %v", reason(err))
		}
		if len(b) > maxScript {
			return c.fail(2, "the script on stdin is larger than 4 MiB")
		}
		text, c.in = string(b), nil
	}
	return s.script(ctx, c, text, name, args, options)
}

// script runs a text as a shell of its own.
func (s *shell) script(ctx context.Context, c command, text, name string, args, options []string) error {
	depth, _ := ctx.Value(depthKey{}).(int)
	if depth >= maxShells {
		s.run.limit("nested shells", fmt.Sprint(maxShells))
		return errStop
	}
	ctx = context.WithValue(ctx, depthKey{}, depth+1)
	parsed, err := analyze.Parse(text, name)
	if err != nil {
		fmt.Fprintln(c.err, err)
		return status(2)
	}
	if err := dialect.Check(parsed.File); err != nil {
		fmt.Fprintf(c.err, "%s:%v; the script was not started\n", name, err)
		return status(2)
	}
	markTree(parsed.File)
	dialect.Repair(parsed.File)
	in, err := s.interpreter(c.dir, c.env, c.in, c.out, c.err, args)
	if err != nil {
		return c.fail(1, "%v", reason(err))
	}
	if len(options) > 0 {
		if err := interp.Params(options...)(in); err != nil {
			return c.fail(2, "%v", err)
		}
	}
	err = in.Run(ctx, parsed.File)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return err
}

type depthKey struct{}

// maxShells bounds shells started by shells.
const maxShells = 50

// checkText checks a text that is about to be sourced.
func checkText(text, name string) error {
	if err := analyze.CheckNesting(text); err != nil {
		return err
	}
	file, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(text), name)
	if err != nil {
		return nil // the interpreter reports it
	}
	return dialect.Check(file)
}
