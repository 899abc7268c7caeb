package catalog

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"unicode/utf8"
)

// member is one key of a JSON object with its value as it was written.
type member struct {
	key   string
	value json.RawMessage
}

// object is a JSON object in the order of its keys.
type object struct {
	members []member
	at      map[string]int
}

// set gives key a value; a key that is there keeps its place.
func (o *object) set(key string, value json.RawMessage) {
	if i, ok := o.at[key]; ok {
		o.members[i].value = value
		return
	}
	if o.at == nil {
		o.at = map[string]int{}
	}
	o.at[key] = len(o.members)
	o.members = append(o.members, member{key, value})
}

func (o object) encode() json.RawMessage {
	out := []byte{'{'}
	for i, m := range o.members {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(append(append(out, quote(m.key)...), ':'), m.value...)
	}
	return append(out, '}')
}

// Object checks that raw is exactly one JSON object in valid Unicode without
// NUL bytes and returns it compacted, digits and key order as written. Of a key
// given twice, at any depth, the last value stays.
func Object(raw []byte) (json.RawMessage, error) {
	o, err := parseObject(raw)
	if err != nil {
		return nil, err
	}
	return o.encode(), nil
}

func parseObject(raw []byte) (object, error) {
	compact, err := compacted(raw)
	if err != nil {
		return object{}, err
	}
	if compact[0] != '{' {
		return object{}, fmt.Errorf("it is %s", kindOf(compact))
	}
	r := reader{src: compact, out: make([]byte, 0, len(compact))}
	var o object
	for _, s := range r.object() {
		o.set(s.key, r.out[s.value:s.end:s.end])
	}
	if r.fault != nil {
		return object{}, r.fault
	}
	return o, nil
}

// parseValue is Object for any JSON value.
func parseValue(raw []byte) (json.RawMessage, error) {
	compact, err := compacted(raw)
	if err != nil {
		return nil, err
	}
	r := reader{src: compact}
	r.any()
	return r.out, r.fault
}

// decode is what parseValue passes as Go values; see reader.tree.
func decode(raw []byte) (any, error) {
	compact, err := compacted(raw)
	if err != nil {
		return nil, err
	}
	r := reader{src: compact}
	v := r.tree()
	return v, r.fault
}

// compacted checks that raw is one JSON value and takes out the white space.
func compacted(raw []byte) ([]byte, error) {
	switch {
	case !utf8.Valid(raw):
		return nil, errors.New("it is not valid UTF-8")
	case bytes.IndexByte(raw, 0) >= 0:
		return nil, errors.New("it holds a NUL byte")
	case len(bytes.TrimSpace(raw)) == 0:
		return nil, errors.New("it is empty")
	}
	var b bytes.Buffer
	b.Grow(len(raw))
	err := json.Compact(&b, raw)
	if err == nil {
		return b.Bytes(), nil
	}
	// Compact does not say where; the decoder does.
	var first json.RawMessage
	if err = json.NewDecoder(bytes.NewReader(raw)).Decode(&first); err == nil {
		return nil, fmt.Errorf("something follows %s", kindOf(first))
	}
	var syntax *json.SyntaxError
	if errors.As(err, &syntax) {
		return nil, fmt.Errorf("it is not JSON (at byte %d: %s)", syntax.Offset, syntax.Error())
	}
	return nil, fmt.Errorf("it is not JSON (%w)", err)
}

// kindOf names what a JSON text is, with its article.
func kindOf(raw []byte) string {
	switch raw = bytes.TrimSpace(raw); raw[0] {
	case '{':
		return "an object"
	case '[':
		return "an array"
	case '"':
		return "a string"
	case 't', 'f':
		return "a boolean"
	case 'n':
		return "null"
	}
	return "a number"
}
