package catalog

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"
)

// Canonical is an input in one spelling of all that mean the same call: keys in
// the order of RFC 8785 (by UTF-16 code units), no white space, strings escaped
// one way, and numbers by their exact value: 1, 1.0 and 1e0 are one number, and
// 9007199254740993 is not 9007199254740992.
func Canonical(input json.RawMessage) ([]byte, error) {
	dec := json.NewDecoder(bytes.NewReader(input))
	dec.UseNumber()
	var v any
	if err := dec.Decode(&v); err != nil {
		return nil, fmt.Errorf("canonical JSON: %w", err)
	}
	if _, err := dec.Token(); err != io.EOF {
		return nil, errors.New("canonical JSON: something follows the value")
	}
	var b bytes.Buffer
	if err := canonical(&b, v); err != nil {
		return nil, fmt.Errorf("canonical JSON: %w", err)
	}
	return b.Bytes(), nil
}

func canonical(b *bytes.Buffer, v any) error {
	switch v := v.(type) {
	case map[string]any:
		keys := make([]string, 0, len(v))
		for k := range v {
			keys = append(keys, k)
		}
		slices.SortFunc(keys, func(a, b string) int {
			return slices.Compare(utf16.Encode([]rune(a)), utf16.Encode([]rune(b)))
		})
		b.WriteByte('{')
		for i, k := range keys {
			if i > 0 {
				b.WriteByte(',')
			}
			b.Write(quote(k))
			b.WriteByte(':')
			if err := canonical(b, v[k]); err != nil {
				return err
			}
		}
		b.WriteByte('}')
	case []any:
		b.WriteByte('[')
		for i, x := range v {
			if i > 0 {
				b.WriteByte(',')
			}
			if err := canonical(b, x); err != nil {
				return err
			}
		}
		b.WriteByte(']')
	case json.Number:
		n, err := exact(v.String())
		if err != nil {
			return err
		}
		b.WriteString(n)
	case string:
		b.Write(quote(v))
	case bool:
		b.WriteString(strconv.FormatBool(v))
	case nil:
		b.WriteString("null")
	}
	return nil
}

// exact writes a number by its value: its digits without zeros at either end,
// and a power of ten. Small integers stay plain. Nothing is rounded, and a
// huge exponent costs nothing.
func exact(s string) (string, error) {
	sign := ""
	if strings.HasPrefix(s, "-") {
		sign, s = "-", s[1:]
	}
	mantissa, exponent, hasExp := strings.Cut(strings.ToLower(s), "e")
	whole, fraction, _ := strings.Cut(mantissa, ".")
	power := int64(0)
	if hasExp {
		n, err := strconv.ParseInt(exponent, 10, 62)
		if err != nil {
			return "", fmt.Errorf("the number %s has an exponent out of range", clip(s))
		}
		power = n
	}
	digits := strings.TrimLeft(whole+fraction, "0")
	power -= int64(len(fraction))
	trimmed := strings.TrimRight(digits, "0")
	power += int64(len(digits) - len(trimmed))
	switch {
	case trimmed == "":
		return "0", nil
	case power == 0:
		return sign + trimmed, nil
	case power > 0 && power <= 30:
		return sign + trimmed + strings.Repeat("0", int(power)), nil
	default:
		return sign + trimmed + "e" + strconv.FormatInt(power, 10), nil
	}
}

// Digest identifies what a tool is: a SHA-256 in hex over its name, server,
// description, schema and hints. A tool that changes gets another digest.
func (t *Tool) Digest() string {
	t.compiled.digestOnce.Do(func() {
		schema, err := Canonical(t.InputSchema)
		if err != nil {
			schema = t.InputSchema
		}
		hints, err := json.Marshal(t.Hints)
		if err != nil { // pointers to bools always encode
			panic(err)
		}
		h := sha256.New()
		for _, part := range []string{t.Name, t.Server, t.Description, string(schema), string(hints)} {
			fmt.Fprintf(h, "%d:%s,", len(part), part)
		}
		t.compiled.digest = hex.EncodeToString(h.Sum(nil))
	})
	return t.compiled.digest
}
