package jq

import (
	"bytes"
	"encoding/json"
	"math"
	"math/big"
	"strconv"
	"strings"

	"github.com/itchyny/gojq"
)

// maxDigits bounds the digits that a number keeps. A longer one becomes the
// nearest double: arithmetic on it would take unbounded time.
const maxDigits = 10_000

// number reads the text of a number. As in jq, a plus sign, leading zeros, a
// bare point, nan and infinity are let through. Small integers are ints;
// everything else keeps its digits as a json.Number in canonical form.
func number(tok []byte) (any, bool) {
	if n, ok := smallInt(tok); ok {
		return n, true
	}
	rest, neg := tok, false
	if len(rest) > 0 && (rest[0] == '-' || rest[0] == '+') {
		neg, rest = rest[0] == '-', rest[1:]
	}
	if len(rest) >= 3 && (rest[0]|0x20 == 'n' || rest[0]|0x20 == 'i') {
		return named(string(bytes.ToLower(rest)), neg)
	}
	i := digits(rest)
	whole, frac := rest[:i], []byte(nil)
	if rest = rest[i:]; len(rest) > 0 && rest[0] == '.' {
		i = digits(rest[1:])
		frac, rest = rest[1:1+i], rest[1+i:]
	}
	if len(whole)+len(frac) == 0 {
		return nil, false
	}
	exp := 0
	if len(rest) > 0 && rest[0]|0x20 == 'e' {
		rest = rest[1:]
		sign := 1
		if len(rest) > 0 && (rest[0] == '-' || rest[0] == '+') {
			if rest[0] == '-' {
				sign = -1
			}
			rest = rest[1:]
		}
		if i = digits(rest); i == 0 {
			return nil, false
		}
		if exp = math.MaxInt32; i < 10 || len(bytes.TrimLeft(rest[:i], "0")) < 10 {
			exp, _ = strconv.Atoi(string(rest[:i]))
		}
		exp, rest = sign*exp, rest[i:]
	}
	if len(rest) > 0 {
		return nil, false
	}
	return canonical(neg, string(whole)+string(frac), exp-len(frac)), true
}

// smallInt reads an integer of up to 18 digits as JSON writes it.
func smallInt(tok []byte) (int, bool) {
	d := tok
	if len(d) > 0 && d[0] == '-' {
		d = d[1:]
	}
	if len(d) == 0 || len(d) > 18 || d[0] == '0' && len(tok) > 1 {
		return 0, false
	}
	n := 0
	for _, c := range d {
		if c < '0' || c > '9' {
			return 0, false
		}
		n = n*10 + int(c-'0')
	}
	if len(d) < len(tok) {
		n = -n
	}
	return n, true
}

func named(word string, neg bool) (any, bool) {
	switch {
	case word == "infinity" || word == "inf":
		if neg {
			return math.Inf(-1), true
		}
		return math.Inf(1), true
	case strings.HasPrefix(word, "nan") && digits([]byte(word[3:])) == len(word)-3:
		return math.NaN(), true
	}
	return nil, false
}

func digits(b []byte) int {
	for i, c := range b {
		if c < '0' || c > '9' {
			return i
		}
	}
	return len(b)
}

// canonical writes coefficient times ten to the power of exp as the decimal
// arithmetic of jq 1.7 does: 1.10 stays 1.10, and 1e2 becomes 1E+2.
func canonical(neg bool, coefficient string, exp int) any {
	d := strings.TrimLeft(coefficient, "0")
	if d == "" {
		d = "0"
	}
	adjusted := exp + len(d) - 1
	switch {
	case adjusted > 999_999_999:
		if d == "0" {
			return 0
		}
		if neg {
			return math.Inf(-1)
		}
		return math.Inf(1)
	case adjusted < -999_999_999:
		return 0.0
	}
	var s string
	point := len(d) + exp
	switch {
	case exp == 0:
		s = d
	case exp < 0 && adjusted >= -6 && point > 0:
		s = d[:point] + "." + d[point:]
	case exp < 0 && adjusted >= -6:
		s = "0." + strings.Repeat("0", -point) + d
	default:
		s = d[:1]
		if len(d) > 1 {
			s += "." + d[1:]
		}
		s += "E"
		if adjusted >= 0 {
			s += "+"
		}
		s += strconv.Itoa(adjusted)
	}
	if neg {
		s = "-" + s
	}
	if n, ok := smallInt([]byte(s)); ok {
		return n
	}
	if len(d) > maxDigits {
		f, _ := strconv.ParseFloat(s, 64) // out of range: infinity
		return f
	}
	return json.Number(s)
}

// value is a number that arithmetic can be done with: an int, a *big.Int or a
// float64. ok is false for anything that is no number.
func value(v any) (any, bool) {
	switch v := v.(type) {
	case int, float64, *big.Int:
		return v, true
	case json.Number:
		s := v.String()
		if !strings.ContainsAny(s, ".eE") {
			if n, err := strconv.Atoi(s); err == nil {
				return n, true
			}
			if b, ok := new(big.Int).SetString(s, 10); ok {
				return b, true
			}
		}
		return gojq.ToFloat64(v)
	}
	return nil, false
}

// plus adds two numbers. Integers stay exact, whatever their size.
func plus(l, r any) any {
	a, aInt := l.(int)
	b, bInt := r.(int)
	if aInt && bInt {
		if s := a + b; (s > a) == (b > 0) {
			return s
		}
	}
	x, y := integer(l), integer(r)
	if x == nil || y == nil {
		f, _ := gojq.ToFloat64(l)
		g, _ := gojq.ToFloat64(r)
		return f + g
	}
	return small(new(big.Int).Add(x, y))
}

// negative is -v.
func negative(v any) any {
	switch v := v.(type) {
	case int:
		if v != math.MinInt {
			return -v
		}
		return new(big.Int).Neg(big.NewInt(int64(v)))
	case *big.Int:
		return new(big.Int).Neg(v)
	case float64:
		return -v
	}
	return v
}

func integer(v any) *big.Int {
	switch v := v.(type) {
	case int:
		return big.NewInt(int64(v))
	case *big.Int:
		return v
	}
	return nil
}

// appendFloat writes a double as jq does: the shortest digits that read back
// as the same double, null for NaN, the largest double for infinity.
func appendFloat(b []byte, f float64) []byte {
	if math.IsNaN(f) {
		return append(b, "null"...)
	}
	f = min(max(f, -math.MaxFloat64), math.MaxFloat64)
	var scratch [32]byte
	s := strconv.AppendFloat(scratch[:0], f, 'e', -1, 64)
	if s[0] == '-' {
		b, s = append(b, '-'), s[1:]
	}
	mantissa, power, _ := bytes.Cut(s, []byte("e"))
	exp, _ := strconv.Atoi(string(power))
	d := append([]byte{mantissa[0]}, bytes.TrimPrefix(mantissa[1:], []byte("."))...)
	switch point := exp + 1; {
	case f == 0:
		return append(b, '0')
	case point <= -4 || point > len(d)+15:
		b = append(b, d[0])
		if len(d) > 1 {
			b = append(append(b, '.'), d[1:]...)
		}
		return append(append(b, 'e'), power...)
	case point <= 0:
		b = append(append(b, "0."...), bytes.Repeat([]byte("0"), -point)...)
		return append(b, d...)
	case point < len(d):
		return append(append(append(b, d[:point]...), '.'), d[point:]...)
	default:
		return append(append(b, d...), bytes.Repeat([]byte("0"), point-len(d))...)
	}
}

// maxBits is how large an integer may become by multiplication. Beyond it the
// product is a double, as every number of jq is, and that is infinite.
const maxBits = 1 << 16

// times is l * r of two numbers.
func times(l, r any) any {
	a, ok1 := l.(int)
	b, ok2 := r.(int)
	if ok1 && ok2 {
		if p := a * b; b != math.MinInt && (a == 0 || b != -1 && p/a == b) {
			return p
		}
	}
	x, y := integer(l), integer(r)
	if x == nil || y == nil || x.BitLen()+y.BitLen() > maxBits {
		f, _ := gojq.ToFloat64(l)
		g, _ := gojq.ToFloat64(r)
		return f * g
	}
	return small(new(big.Int).Mul(x, y))
}

// quotient is l / r of two numbers: an integer when that is exact, nil when r
// is 0.
func quotient(l, r any) any {
	g, _ := gojq.ToFloat64(r)
	if g == 0 {
		return nil
	}
	a, ok1 := l.(int)
	b, ok2 := r.(int)
	if ok1 && ok2 && b != -1 && a%b == 0 {
		return a / b
	}
	if x, y := integer(l), integer(r); x != nil && y != nil && !(ok1 && ok2 && b != -1) {
		if q, rest := new(big.Int).QuoRem(x, y, new(big.Int)); rest.Sign() == 0 {
			return small(q)
		}
	}
	f, _ := gojq.ToFloat64(l)
	return f / g
}

// small is an int where it is one.
func small(b *big.Int) any {
	if b.IsInt64() {
		return int(b.Int64())
	}
	return b
}
