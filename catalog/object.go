package catalog

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"unicode/utf8"
)

// member is one key of a JSON object with its value as it was written.
type member struct {
	key   string
	value json.RawMessage
}

// object is a JSON object in the order of its keys.
type object []member

// set gives key a value; a key that is there keeps its place.
func (o *object) set(key string, value json.RawMessage) {
	for i := range *o {
		if (*o)[i].key == key {
			(*o)[i].value = value
			return
		}
	}
	*o = append(*o, member{key, value})
}

func (o object) encode() json.RawMessage {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, m := range o {
		if i > 0 {
			b.WriteByte(',')
		}
		b.Write(quote(m.key))
		b.WriteByte(':')
		b.Write(m.value)
	}
	b.WriteByte('}')
	return b.Bytes()
}

// quote is s as a JSON string, without escaping for HTML.
func quote(s string) json.RawMessage {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(s); err != nil { // a string always encodes
		panic(err)
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

// Object checks that raw is exactly one JSON object in valid UTF-8 without NUL
// and returns it compacted, digits and key order as written. Of a key given
// twice the last value stays.
func Object(raw []byte) (json.RawMessage, error) {
	o, err := parseObject(raw)
	if err != nil {
		return nil, err
	}
	return o.encode(), nil
}

func parseObject(raw []byte) (object, error) {
	if !utf8.Valid(raw) {
		return nil, errors.New("it is not valid UTF-8")
	}
	if bytes.IndexByte(raw, 0) >= 0 {
		return nil, errors.New("it holds a NUL byte")
	}
	dec := json.NewDecoder(bytes.NewReader(raw))
	tok, err := dec.Token()
	switch {
	case err == io.EOF:
		return nil, errors.New("it is empty")
	case err != nil:
		return nil, jsonFault(raw, err)
	case tok != json.Delim('{'):
		return nil, fmt.Errorf("it is %s", kindOf(raw))
	}
	var o object
	seen := map[string]int{}
	for dec.More() {
		tok, err := dec.Token()
		if err != nil {
			return nil, jsonFault(raw, err)
		}
		key, ok := tok.(string)
		if !ok {
			return nil, errors.New("it is not JSON")
		}
		var value json.RawMessage
		if err := dec.Decode(&value); err != nil {
			return nil, jsonFault(raw, err)
		}
		var compact bytes.Buffer
		if err := json.Compact(&compact, value); err != nil {
			return nil, jsonFault(raw, err)
		}
		if at, twice := seen[key]; twice {
			o[at].value = compact.Bytes()
			continue
		}
		seen[key] = len(o)
		o = append(o, member{key, compact.Bytes()})
	}
	if _, err := dec.Token(); err != nil {
		return nil, jsonFault(raw, err)
	}
	if _, err := dec.Token(); err != io.EOF {
		return nil, errors.New("something follows the object")
	}
	return o, nil
}

func jsonFault(raw []byte, err error) error {
	var syntax *json.SyntaxError
	switch {
	case errors.As(err, &syntax):
		return fmt.Errorf("it is not JSON (at byte %d: %s)", syntax.Offset, syntax.Error())
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF):
		return fmt.Errorf("it is not JSON (it ends too early, after %d bytes)", len(raw))
	}
	return fmt.Errorf("it is not JSON (%w)", err)
}

// kindOf names what a JSON text is, with its article.
func kindOf(raw []byte) string {
	switch raw = bytes.TrimSpace(raw); {
	case len(raw) == 0:
		return "nothing"
	case raw[0] == '{':
		return "an object"
	case raw[0] == '[':
		return "an array"
	case raw[0] == '"':
		return "a string"
	case raw[0] == 't' || raw[0] == 'f':
		return "a boolean"
	case raw[0] == 'n':
		return "null"
	default:
		return "a number"
	}
}
