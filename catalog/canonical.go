package catalog

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
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
	v, err := decode(input)
	if err != nil {
		return nil, fmt.Errorf("canonical JSON: %w", err)
	}
	var b bytes.Buffer
	b.Grow(len(input))
	canonical(&b, v)
	return b.Bytes(), nil
}

func canonical(b *bytes.Buffer, v any) {
	switch v := v.(type) {
	case map[string]any:
		b.WriteByte('{')
		for i, k := range canonicalOrder(v) {
			if i > 0 {
				b.WriteByte(',')
			}
			b.Write(quote(k))
			b.WriteByte(':')
			canonical(b, v[k])
		}
		b.WriteByte('}')
	case []any:
		b.WriteByte('[')
		for i, x := range v {
			if i > 0 {
				b.WriteByte(',')
			}
			canonical(b, x)
		}
		b.WriteByte(']')
	case json.Number:
		b.WriteString(exact(v.String()))
	case string:
		b.Write(quote(v))
	case bool:
		b.WriteString(strconv.FormatBool(v))
	case nil:
		b.WriteString("null")
	}
}

// canonicalOrder is an object's keys in the order of their UTF-16 code units.
func canonicalOrder(v map[string]any) []string {
	keys := slices.Collect(maps.Keys(v))
	// Bytes of UTF-8 have the same order, but for what lies beyond the surrogates.
	if !slices.ContainsFunc(keys, func(k string) bool { return strings.ContainsFunc(k, func(r rune) bool { return r >= 0xe000 }) }) {
		slices.Sort(keys)
		return keys
	}
	slices.SortFunc(keys, func(a, b string) int {
		return slices.Compare(utf16.Encode([]rune(a)), utf16.Encode([]rune(b)))
	})
	return keys
}

// exact writes a number by its value: its digits without zeros at either end,
// and a power of ten. Small integers stay plain. Nothing is rounded, and a
// huge exponent costs nothing.
func exact(s string) string {
	sign := ""
	if strings.HasPrefix(s, "-") {
		sign, s = "-", s[1:]
	}
	mantissa, exponent, _ := strings.Cut(strings.ToLower(s), "e")
	whole, fraction, _ := strings.Cut(mantissa, ".")
	digits := strings.TrimLeft(whole+fraction, "0")
	trimmed := strings.TrimRight(digits, "0")
	if trimmed == "" {
		return "0"
	}
	power := shifted(exponent, int64(len(digits)-len(trimmed)-len(fraction)))
	switch n, err := strconv.Atoi(power); {
	case err == nil && n == 0:
		return sign + trimmed
	case err == nil && 0 < n && n <= 30:
		return sign + trimmed + strings.Repeat("0", n)
	}
	return sign + trimmed + "e" + power
}

// tailDigits is how many digits shifted reckons with at once.
const tailDigits = 18

// shifted adds by, which is far below 10^18, to an exponent of any length, as it
// stands in a number or empty for 0. It takes time in proportion to the length,
// where big integers would take its square.
func shifted(exponent string, by int64) string {
	sign := ""
	if strings.HasPrefix(exponent, "-") {
		sign = "-"
	}
	digits := strings.TrimLeft(exponent, "+-0")
	if len(digits) <= tailDigits {
		n, _ := strconv.ParseInt("0"+digits, 10, 64)
		if sign != "" {
			n = -n
		}
		return strconv.FormatInt(n+by, 10)
	}
	if sign != "" {
		by = -by
	}
	head := []byte(digits[:len(digits)-tailDigits])
	tail, _ := strconv.ParseInt(digits[len(head):], 10, 64)
	const base = int64(1e18)
	carry := 0
	switch tail += by; {
	case tail < 0:
		tail, carry = tail+base, -1
	case tail >= base:
		tail, carry = tail-base, 1
	}
	for i := len(head) - 1; i >= 0 && carry != 0; i-- {
		d := int(head[i]-'0') + carry
		head[i] = byte('0' + (d+10)%10)
		if d >= 0 && d <= 9 {
			carry = 0
		}
	}
	if carry > 0 {
		head = append([]byte{'1'}, head...)
	}
	return sign + strings.TrimLeft(fmt.Sprintf("%s%0*d", head, tailDigits, tail), "0")
}

// Digest identifies what a tool is: a SHA-256 in hex over its name, server,
// description, schema and hints. A tool that changes gets another digest.
func (t *Tool) Digest() string {
	t.derived.digestOnce.Do(func() {
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
		t.derived.digest = hex.EncodeToString(h.Sum(nil))
	})
	return t.derived.digest
}
