package jq

import (
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
)

// options is a parsed command line.
type options struct {
	program     string
	hasProgram  bool
	fromFile    bool // program names a file
	files       []string
	library     []string // of -L
	null, rawIn bool
	slurp, seq  bool

	stream, streamErrors bool
	rawOut, join, nul    bool
	sort, ascii, color   bool
	exitStatus           bool
	unbuffered           bool
	indent               string

	names      []string // of --arg and its like
	values     map[string]any
	positional []any

	show string // text to print instead of running: help, version
}

// usageError is a command line that cannot be understood.
type usageError string

func (e usageError) Error() string { return string(e) }

// fileError is a file named by an option that cannot be read.
type fileError string

func (e fileError) Error() string { return string(e) }

type opener func(name string) (io.ReadCloser, error)

// short gives the long name of every one-letter option.
var short = map[byte]string{
	'n': "null-input", 'R': "raw-input", 's': "slurp",
	'c': "compact-output", 'r': "raw-output", 'j': "join-output", 'a': "ascii-output",
	'S': "sort-keys", 'C': "color-output", 'M': "monochrome-output",
	'f': "from-file", 'L': "library-path", 'e': "exit-status",
	'h': "help", 'V': "version", 'b': "binary",
}

// optionReader goes through the words of the command line.
type optionReader struct {
	options
	run        *run
	words      []string
	positional string // "args" or "jsonargs", after that option
	monochrome bool
}

func (r *run) parseOptions(args []string) (*options, error) {
	o := &optionReader{run: r, words: args, options: options{indent: "  ", values: map[string]any{}}}
	o.options.positional = []any{}
	plain := false // after --
	for len(o.words) > 0 {
		word := o.words[0]
		o.words = o.words[1:]
		var err error
		switch {
		case plain || !optionLike(word):
			err = o.operand(word)
		case word == "--":
			plain = true
		case word[1] == '-':
			err = o.long(word[2:])
		default:
			err = o.letters(word)
		}
		if err != nil || o.show != "" {
			return &o.options, err
		}
	}
	o.color = o.color && !o.monochrome
	return &o.options, nil
}

// optionLike: "-" and negative numbers are none.
func optionLike(word string) bool {
	return len(word) > 1 && word[0] == '-' && (word[1] == '-' || word[1]|0x20 >= 'a' && word[1]|0x20 <= 'z')
}

func (o *optionReader) operand(word string) error {
	switch {
	case !o.hasProgram:
		o.program, o.hasProgram = word, true
	case o.positional == "args":
		o.options.positional = append(o.options.positional, word)
	case o.positional == "jsonargs":
		v, err := parseOne(o.run.ctx, o.run.order, word)
		if err != nil {
			return usageError("invalid JSON text passed to --jsonargs")
		}
		o.options.positional = append(o.options.positional, v)
	default:
		o.files = append(o.files, word)
	}
	return nil
}

func (o *optionReader) letters(word string) error {
	for i := 1; i < len(word); i++ {
		name, ok := short[word[i]]
		if !ok {
			return unknownOption(word)
		}
		if name == "library-path" && i+1 < len(word) { // -Ldirectory
			o.library = append(o.library, word[i+1:])
			return nil
		}
		if err := o.long(name); err != nil {
			return err
		}
	}
	return nil
}

// long takes an option by its long name, with its parameters.
func (o *optionReader) long(name string) error {
	switch name {
	case "null-input":
		o.null = true
	case "raw-input":
		o.rawIn = true
	case "slurp":
		o.slurp = true
	case "compact-output":
		o.indent = ""
	case "raw-output":
		o.rawOut = true
	case "raw-output0":
		o.rawOut, o.nul = true, true
	case "join-output":
		o.rawOut, o.join = true, true
	case "ascii-output":
		o.ascii = true
	case "sort-keys":
		o.sort = true
	case "color-output":
		o.color = true
	case "monochrome-output":
		o.monochrome = true
	case "from-file":
		o.fromFile = true
	case "exit-status":
		o.exitStatus = true
	case "seq":
		o.seq = true
	case "stream":
		o.stream = true
	case "stream-errors":
		o.stream, o.streamErrors = true, true
	case "unbuffered":
		o.unbuffered = true
	case "tab":
		o.indent = "\t"
	case "args", "jsonargs":
		o.positional = name
	case "help":
		o.show = usage
	case "version":
		o.show = version + "\n"
	case "build-configuration":
		o.show = buildConfiguration + "\n"
	case "binary": // means something on Windows alone
	case "indent":
		return o.indentation()
	case "library-path":
		got, ok := o.take(1)
		if !ok {
			return usageError("-L takes a parameter: (e.g. -L /search/path or -L/search/path)")
		}
		o.library = append(o.library, got[0])
	case "arg", "argjson", "slurpfile", "rawfile":
		return o.variable(name)
	default:
		return unknownOption("--" + name)
	}
	return nil
}

func unknownOption(word string) error {
	if len(word) > 60 {
		word = strings.ToValidUTF8(word[:60], "") + "..."
	}
	return usageError("Unknown option " + word)
}

func (o *optionReader) take(n int) ([]string, bool) {
	if len(o.words) < n {
		return nil, false
	}
	got := o.words[:n]
	o.words = o.words[n:]
	return got, true
}

func (o *optionReader) indentation() error {
	got, ok := o.take(1)
	if !ok {
		return usageError("--indent takes one parameter")
	}
	n, err := strconv.Atoi(strings.TrimSpace(got[0]))
	switch {
	case err != nil || n > 7 || n < -1:
		return usageError("--indent takes a number between -1 and 7")
	case n == -1:
		o.indent = "\t"
	default:
		o.indent = strings.Repeat(" ", n)
	}
	return nil
}

// variable is --arg and its like. The first of one name counts.
func (o *optionReader) variable(option string) error {
	got, ok := o.take(2)
	if !ok {
		what := map[string]string{"arg": "value", "argjson": "text", "slurpfile": "filename", "rawfile": "filename"}[option]
		return usageError(fmt.Sprintf("--%s takes two parameters (e.g. --%s varname %s)", option, option, what))
	}
	name, text := got[0], got[1]
	if _, have := o.values[name]; have {
		return nil
	}
	var v any
	var err error
	switch option {
	case "arg":
		v = validText([]byte(text))
	case "argjson":
		if v, err = parseOne(o.run.ctx, o.run.order, text); err != nil {
			return usageError("invalid JSON text passed to --argjson")
		}
	default:
		content, err := o.run.readFile(text, maxFile)
		if err != nil {
			return fileError(fmt.Sprintf("Bad JSON in --%s %s %s: Could not open %s: %s", option, name, text, text, reason(err)))
		}
		if v = validText([]byte(content)); option == "slurpfile" {
			if v, err = parseText(o.run.ctx, o.run.order, content, math.MaxInt); err != nil {
				return fileError(fmt.Sprintf("Bad JSON in --%s %s %s: %v", option, name, text, err))
			}
		}
	}
	o.names = append(o.names, name)
	o.values[name] = v
	return nil
}

// maxFile bounds a file that becomes a variable, in bytes.
const maxFile = 1 << 30
