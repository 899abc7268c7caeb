package jq

import (
	"fmt"
	"io"
	"strconv"
	"strings"
)

// options is a parsed command line.
type options struct {
	filter            string
	hasFilter         bool
	fromFile          string
	files             []string
	null, raw, slurp  bool
	stream, seq       bool
	rawOut, join, nul bool
	compact, sort     bool
	ascii, color      bool
	exitStatus        bool
	indent            string
	names             []string // of --arg and its like, with $
	values            []any
	named             map[string]any
	positional        []any
	help, version     bool
}

// usageError is a command line that can't be understood.
type usageError string

func (e usageError) Error() string { return string(e) }

type opener func(name string) (io.ReadCloser, error)

func parseOptions(args []string, o *order, open opener) (*options, error) {
	opt := &options{indent: "  ", named: map[string]any{}}
	positional := "" // after --args or --jsonargs
	plain := false   // after --
	add := func(name string, v any) {
		if _, have := opt.named[name]; !have {
			opt.names, opt.values = append(opt.names, "$"+name), append(opt.values, v)
			opt.named[name] = v
		}
	}
	for i := 0; i < len(args); i++ {
		arg := args[i]
		take := func(n int) ([]string, error) {
			if i+n >= len(args) {
				return nil, usageError(fmt.Sprintf("%s takes %s", arg, map[int]string{1: "one parameter", 2: "two parameters (e.g. " + arg + " varname value)"}[n]))
			}
			got := args[i+1 : i+1+n]
			i += n
			return got, nil
		}
		if plain || len(arg) < 2 || arg[0] != '-' {
			switch {
			case !opt.hasFilter && opt.fromFile == "":
				opt.filter, opt.hasFilter = arg, true
			case positional == "--args":
				opt.positional = append(opt.positional, arg)
			case positional == "--jsonargs":
				v, err := newDecoder(strings.NewReader(arg), o).next()
				if err != nil {
					return nil, usageError("Invalid JSON text passed to --jsonargs")
				}
				opt.positional = append(opt.positional, v)
			default:
				opt.files = append(opt.files, arg)
			}
			continue
		}
		if arg == "--" {
			plain = true
			continue
		}
		switch arg {
		case "--null-input":
			arg = "-n"
		case "--raw-input":
			arg = "-R"
		case "--slurp":
			arg = "-s"
		case "--compact-output":
			arg = "-c"
		case "--raw-output":
			arg = "-r"
		case "--join-output":
			arg = "-j"
		case "--ascii-output":
			arg = "-a"
		case "--sort-keys":
			arg = "-S"
		case "--color-output":
			arg = "-C"
		case "--monochrome-output":
			arg = "-M"
		case "--exit-status":
			arg = "-e"
		case "--from-file":
			arg = "-f"
		case "--help":
			arg = "-h"
		case "--version":
			arg = "-V"
		case "--library-path":
			arg = "-L"
		}
		if strings.HasPrefix(arg, "--") {
			if err := opt.long(arg, take, add, o, open, &positional); err != nil {
				return nil, err
			}
			continue
		}
		for _, f := range arg[1:] {
			switch f {
			case 'n':
				opt.null = true
			case 'R':
				opt.raw = true
			case 's':
				opt.slurp = true
			case 'c':
				opt.compact, opt.indent = true, ""
			case 'r':
				opt.rawOut = true
			case 'j':
				opt.rawOut, opt.join = true, true
			case 'a':
				opt.ascii = true
			case 'S':
				opt.sort = true
			case 'C':
				opt.color = true
			case 'M':
				opt.color = false
			case 'e':
				opt.exitStatus = true
			case 'h':
				opt.help = true
			case 'V':
				opt.version = true
			case 'f':
				got, err := take(1)
				if err != nil {
					return nil, err
				}
				opt.fromFile = got[0]
				if opt.hasFilter { // what was taken for the filter is a file
					opt.files = append([]string{opt.filter}, opt.files...)
					opt.filter, opt.hasFilter = "", false
				}
			case 'L':
				return nil, usageError("-L is not supported: there are no modules here")
			default:
				return nil, usageError("Unknown option: " + arg)
			}
		}
	}
	return opt, nil
}

// long reads an option that has only a long name.
func (opt *options) long(arg string, take func(int) ([]string, error), add func(string, any), o *order, open opener, positional *string) error {
	switch arg {
	case "--arg", "--argjson", "--slurpfile", "--rawfile":
		got, err := take(2)
		if err != nil {
			return err
		}
		name, text := got[0], got[1]
		switch arg {
		case "--arg":
			add(name, text)
		case "--argjson":
			d := newDecoder(strings.NewReader(text), o)
			v, err := d.next()
			if err == nil {
				if _, err = d.dec.Token(); err == io.EOF {
					add(name, v)
					return nil
				}
			}
			return usageError("Invalid JSON text passed to --argjson")
		default:
			f, err := open(text)
			if err != nil {
				return usageError(fmt.Sprintf("Bad JSON in --%s %s %s: Could not open %v", arg[2:], name, text, err))
			}
			defer f.Close()
			if arg == "--rawfile" {
				b, err := io.ReadAll(io.LimitReader(f, maxSlurp))
				if err != nil {
					return usageError(err.Error())
				}
				add(name, strings.ToValidUTF8(string(b), "\uFFFD"))
				return nil
			}
			list, d := []any{}, newDecoder(f, o)
			for {
				v, err := d.next()
				if err == io.EOF {
					break
				}
				if err != nil {
					return usageError(fmt.Sprintf("Bad JSON in --slurpfile %s %s: %v", name, text, err))
				}
				list = append(list, v)
			}
			add(name, list)
		}
	case "--args", "--jsonargs":
		*positional = arg
	case "--tab":
		opt.indent, opt.compact = "\t", false
	case "--indent":
		got, err := take(1)
		if err != nil {
			return err
		}
		n, err := strconv.Atoi(got[0])
		switch {
		case err != nil || n < 0:
			return usageError("--indent takes a number")
		case n > 7:
			return usageError("Cannot indent more than 7 characters")
		}
		opt.indent = strings.Repeat(" ", n)
	case "--raw-output0":
		opt.rawOut, opt.nul = true, true
	case "--seq":
		opt.seq = true
	case "--stream", "--stream-errors":
		opt.stream = true
	case "--unbuffered":
	case "--build-configuration":
		opt.version = true
	default:
		return usageError("Unknown option: " + arg)
	}
	return nil
}
