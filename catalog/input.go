package catalog

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"unicode/utf8"
)

// maxStdin is the largest input that a call reads, in bytes.
const maxStdin = 4 << 20

// pair is key=value, --key value or --flag.
type pair struct {
	key, value string
	flag       bool // no value: true
}

// input merges a call's input: stdin, then JSON arguments, then pairs and
// flags, each in the order typed; later beats earlier.
func (r *resolver) input(t *Tool, args []string) (json.RawMessage, *Error) {
	var texts []object
	var pairs []pair
	dash := false
	for i := 0; i < len(args); i++ {
		arg := args[i]
		switch {
		case arg == "-":
			dash = true
		case arg == "--":
		case isJSON(arg):
			o, err := parseObject([]byte(arg))
			if err != nil {
				return nil, r.invalid(t, "the argument %s is no JSON object: %v", clip(arg), err)
			}
			texts = append(texts, o)
		case strings.HasPrefix(arg, "--"):
			key, value, given := strings.Cut(arg[2:], "=")
			if key == "" {
				return nil, r.invalid(t, "the argument %s has no key before =", clip(arg))
			}
			if !given && i+1 < len(args) && !strings.HasPrefix(args[i+1], "--") {
				i++
				value, given = args[i], true
			}
			pairs = append(pairs, pair{key, value, !given})
		case isPair(arg) || t.hasKeyOf(arg):
			key, value, _ := strings.Cut(arg, "=")
			pairs = append(pairs, pair{key, value, false})
		default:
			return nil, r.invalid(t, "%s is neither a JSON object nor key=value nor --key value", clip(arg))
		}
	}
	merged, err := r.stdin(t, dash)
	if err != nil {
		return nil, err
	}
	for _, o := range texts {
		for _, m := range o.members {
			merged.set(m.key, m.value)
		}
	}
	for _, p := range pairs {
		key, value, why := t.member(p)
		if why != "" {
			return nil, r.invalid(t, "%s", why)
		}
		merged.set(key, value)
	}
	return merged.encode(), nil
}

// isInput reports whether a word is a part of an input, as opposed to a name.
func isInput(arg string) bool { return strings.HasPrefix(arg, "-") || isJSON(arg) || isPair(arg) }

// isJSON reports whether arg is meant as a JSON text.
func isJSON(arg string) bool {
	arg = strings.TrimLeft(arg, " \t\r\n")
	return strings.HasPrefix(arg, "{") || strings.HasPrefix(arg, "[")
}

// isPair reports whether arg is key=value.
func isPair(arg string) bool {
	i := strings.IndexByte(arg, '=')
	return i > 0 && arg[0] != '-' && !strings.ContainsAny(arg[:i], " \t\r\n\"'{}[]")
}

// hasKeyOf reports whether arg is key=value with a key, however odd, that the
// schema has.
func (t *Tool) hasKeyOf(arg string) bool {
	key, _, ok := strings.Cut(arg, "=")
	if !ok {
		return false
	}
	_, props := t.shape()
	_, ok = props.exact[key]
	return ok
}

// member is what a pair stands for. why is not empty when it stands for nothing.
func (t *Tool) member(p pair) (key string, value json.RawMessage, why string) {
	switch {
	case !utf8.ValidString(p.key) || !utf8.ValidString(p.value):
		return "", nil, "the value of " + clip(p.key) + " is not valid UTF-8"
	case strings.Contains(p.key, "\x00") || strings.Contains(p.value, "\x00"):
		return "", nil, "the value of " + clip(p.key) + " holds a NUL byte"
	}
	key, spec, why := t.key(p.key)
	switch {
	case why != "":
		return "", nil, why
	case p.flag:
		return key, json.RawMessage("true"), ""
	case spec != isString:
		if v, err := parseValue([]byte(p.value)); err == nil {
			return key, v, ""
		}
	}
	return key, quote(p.value), ""
}

// stdin reads the object on stdin when stdin belongs to the call or - asks for it.
func (r *resolver) stdin(t *Tool, dash bool) (object, *Error) {
	if r.literal {
		return object{}, nil
	}
	in := r.attached
	if in == nil && dash {
		in = r.inherited
	}
	var raw []byte
	if in != nil {
		var err error
		raw, err = io.ReadAll(io.LimitReader(in, maxStdin+1))
		if err != nil && !errors.Is(err, io.EOF) {
			return object{}, r.invalid(t, "stdin cannot be read: %v", err)
		}
	}
	switch empty := len(bytes.TrimSpace(raw)) == 0; {
	case len(raw) > maxStdin:
		return object{}, r.invalid(t, "stdin is larger than 4 MiB; an input is at most that")
	case empty && dash:
		return object{}, r.invalid(t, "- reads the input from stdin, and stdin is empty")
	case empty:
		return object{}, nil
	}
	o, err := parseObject(raw)
	if err != nil {
		return object{}, r.invalid(t, "stdin is no JSON object: %v", err)
	}
	return o, nil
}

// invalid is an invalid_input that names the tool's help.
func (r *resolver) invalid(t *Tool, format string, args ...any) *Error {
	return fault(InvalidInput, format+"; see %s --help", append(args, r.command(r.on, t))...)
}
