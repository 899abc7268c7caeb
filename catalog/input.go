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

// input merges a call's input: stdin, then JSON arguments, then pairs and
// flags, each in the order typed.
func (r *resolver) input(t *Tool, args []string) (json.RawMessage, *Error) {
	var texts []object
	type pair struct {
		key, value string
		flag       bool // no value: true
	}
	var pairs []pair
	dash := false
	for i := 0; i < len(args); i++ {
		arg := args[i]
		switch {
		case arg == "-":
			dash = true
		case arg == "--":
		case strings.HasPrefix(strings.TrimLeft(arg, " \t\r\n"), "{") || strings.HasPrefix(strings.TrimLeft(arg, " \t\r\n"), "["):
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
		case isPair(arg):
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
		for _, m := range o {
			merged.set(m.key, m.value)
		}
	}
	for _, p := range pairs {
		if !utf8.ValidString(p.key) || !utf8.ValidString(p.value) || strings.ContainsRune(p.key+p.value, 0) {
			return nil, r.invalid(t, "the value of %s is not valid UTF-8", clip(p.key))
		}
		key, spec, err := t.key(p.key)
		if err != "" {
			return nil, r.invalid(t, "%s", err)
		}
		value := json.RawMessage("true")
		if !p.flag {
			value = typed(p.value, spec)
		}
		merged.set(key, value)
	}
	return merged.encode(), nil
}

// isPair reports whether arg is key=value.
func isPair(arg string) bool {
	i := strings.IndexByte(arg, '=')
	return i > 0 && arg[0] != '-' && arg[0] != '{' && arg[0] != '[' && !strings.ContainsAny(arg[:i], " \t\n\"'{}")
}

// stdin reads the object on stdin when stdin belongs to the call or - asks for it.
func (r *resolver) stdin(t *Tool, dash bool) (object, *Error) {
	in := r.attached
	if in == nil && dash {
		in = r.inherited
	}
	if in == nil {
		if dash && !r.literal {
			return nil, r.invalid(t, "- reads the input from stdin, and stdin is empty")
		}
		return nil, nil
	}
	raw, err := io.ReadAll(io.LimitReader(in, maxStdin+1))
	switch {
	case err != nil && !errors.Is(err, io.EOF):
		return nil, r.invalid(t, "stdin cannot be read: %v", err)
	case len(raw) > maxStdin:
		return nil, r.invalid(t, "stdin is larger than 4 MiB; an input is at most that")
	case len(bytes.TrimSpace(raw)) == 0 && dash:
		return nil, r.invalid(t, "- reads the input from stdin, and stdin is empty")
	case len(bytes.TrimSpace(raw)) == 0:
		return nil, nil
	}
	o, err := parseObject(raw)
	if err != nil {
		return nil, r.invalid(t, "stdin is no JSON object: %v", err)
	}
	return o, nil
}

// typed is a pair's value: text where the schema says string, else JSON, else text.
func typed(value string, spec stringness) json.RawMessage {
	if spec != isString {
		if raw := []byte(value); json.Valid(raw) {
			var compact bytes.Buffer
			if json.Compact(&compact, raw) == nil {
				return compact.Bytes()
			}
		}
	}
	return quote(value)
}

func (r *resolver) invalid(t *Tool, format string, args ...any) *Error {
	return Errorf(InvalidInput, format+"; see "+t.Command()+" --help", args...)
}

// clip quotes hostile text for a message: on one line, cut when long.
func clip(s string) string {
	if r := []rune(OneLine(s)); len(r) > 60 {
		return string(quote(string(r[:59]) + "…"))
	}
	return string(quote(OneLine(s)))
}
