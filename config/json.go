package config

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/agnivade/levenshtein"
)

// fault is an error at a place of the file.
func (r *reader) fault(path, what string) error {
	return fmt.Errorf("%s: %s: %s", r.file, path, what)
}

// members reads an object's members and their order. A key given twice is a fault.
func (r *reader) members(raw json.RawMessage, path string) (map[string]json.RawMessage, []string, error) {
	dec := json.NewDecoder(bytes.NewReader(raw))
	tok, err := dec.Token()
	if err != nil {
		return nil, nil, r.syntax(err)
	}
	if tok != json.Delim('{') {
		return nil, nil, r.fault(path, "want an object")
	}
	out, order := map[string]json.RawMessage{}, []string{}
	for dec.More() {
		tok, err := dec.Token()
		if err != nil {
			return nil, nil, r.syntax(err)
		}
		key, ok := tok.(string)
		if !ok {
			return nil, nil, r.fault(path, "want an object")
		}
		var value json.RawMessage
		if err := dec.Decode(&value); err != nil {
			return nil, nil, r.syntax(err)
		}
		if _, twice := out[key]; twice {
			return nil, nil, r.fault(path+"."+key, "the key is given twice")
		}
		out[key], order = value, append(order, key)
	}
	if _, err := dec.Token(); err != nil {
		return nil, nil, r.syntax(err)
	}
	if _, err := dec.Token(); err != io.EOF && path == "$" {
		return nil, nil, r.fault(path, "something follows the object")
	}
	return out, order, nil
}

// object reads an object that may have only these keys.
func (r *reader) object(raw json.RawMessage, path string, keys ...string) (map[string]json.RawMessage, error) {
	out, order, err := r.members(raw, path)
	if err != nil {
		return nil, err
	}
	for _, key := range order {
		if !slices.Contains(keys, key) {
			return nil, r.fault(path+"."+key, "unknown key"+nearSpelling(key, keys))
		}
	}
	return out, nil
}

// decode reads a value; an absent one leaves into as it is.
func (r *reader) decode(raw json.RawMessage, path string, into any) error {
	if raw == nil {
		return nil
	}
	err := json.Unmarshal(raw, into)
	var typ *json.UnmarshalTypeError
	if errors.As(err, &typ) {
		if typ.Field != "" {
			path += "." + typ.Field
		}
		article := "a"
		if strings.ContainsAny(typ.Value[:1], "aeiou") {
			article = "an"
		}
		return r.fault(path, fmt.Sprintf("it is %s %s; want %s", article, typ.Value, kind(typ)))
	}
	if err != nil {
		return r.fault(path, err.Error())
	}
	return nil
}

// kind names what a Go type is in JSON.
func kind(typ *json.UnmarshalTypeError) string {
	switch name := typ.Type.String(); {
	case strings.HasPrefix(name, "[]"):
		return "an array"
	case strings.HasPrefix(name, "map"), typ.Type.Kind().String() == "struct":
		return "an object"
	case strings.HasPrefix(name, "int"):
		return "a whole number"
	case strings.HasPrefix(name, "float"):
		return "a number"
	case name == "bool":
		return "true or false"
	default:
		return "a string"
	}
}

// syntax is a fault of the file's JSON, with line and column.
func (r *reader) syntax(err error) error {
	// The place is found by reading the whole file again: a part's offset is not
	// the file's.
	var v any
	whole := json.Unmarshal(r.raw, &v)
	if whole == nil {
		whole = err
	}
	offset := int64(len(r.raw)) + 1
	var se *json.SyntaxError
	if errors.As(whole, &se) {
		offset = se.Offset
	}
	before := r.raw[:min(max(offset-1, 0), int64(len(r.raw)))]
	line := 1 + bytes.Count(before, []byte("\n"))
	col := len(before) - bytes.LastIndexByte(before, '\n')
	return fmt.Errorf("%s:%d:%d: not JSON: %s", r.file, line, col, strings.TrimPrefix(whole.Error(), "json: "))
}

// nearSpelling suggests the key that was meant.
func nearSpelling(key string, keys []string) string {
	best, distance := "", 1+max(2, len(key)/3)
	for _, k := range keys {
		if d := levenshtein.ComputeDistance(strings.ToLower(key), strings.ToLower(k)); d < distance {
			best, distance = k, d
		}
	}
	if best == "" {
		return ""
	}
	return fmt.Sprintf(" (did you mean %s?)", best)
}

func sortedKeys(m map[string]string) []string { return slices.Sorted(maps.Keys(m)) }
