package catalog

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// reader copies compact, valid JSON from src to out and drops the members
// whose key comes again. Everything else stays as it was written.
type reader struct {
	src   []byte
	pos   int
	out   []byte
	fault error
}

// span is a member in out: from its key to the end of its value.
type span struct {
	key               string
	start, value, end int
}

func (r *reader) any() {
	switch r.src[r.pos] {
	case '{':
		r.object()
	case '[':
		r.array()
	case '"':
		r.text()
	default: // a number or a word
		start := r.pos
		for r.pos < len(r.src) && r.src[r.pos] != ',' && r.src[r.pos] != ']' && r.src[r.pos] != '}' {
			r.pos++
		}
		r.out = append(r.out, r.src[start:r.pos]...)
	}
}

func (r *reader) array() {
	r.copy() // [
	for r.src[r.pos] != ']' {
		r.any()
		if r.src[r.pos] == ',' {
			r.copy()
		}
	}
	r.copy() // ]
}

func (r *reader) object() []span {
	begin := len(r.out)
	r.copy() // {
	var members []span
	at, twice := map[string]int{}, false
	for r.src[r.pos] != '}' {
		if r.src[r.pos] == ',' {
			r.copy()
		}
		s := span{start: len(r.out)}
		s.key = r.text()
		r.copy() // :
		s.value = len(r.out)
		r.any()
		s.end = len(r.out)
		if i, ok := at[s.key]; ok {
			members[i], twice = s, true
			continue
		}
		at[s.key] = len(members)
		members = append(members, s)
	}
	r.copy() // }
	if twice {
		r.rebuild(begin, members)
	}
	return members
}

// rebuild writes an object again, of the members that stay.
func (r *reader) rebuild(begin int, members []span) {
	old := bytes.Clone(r.out[begin:])
	r.out = append(r.out[:begin], '{')
	for i, s := range members {
		if i > 0 {
			r.out = append(r.out, ',')
		}
		from := len(r.out)
		r.out = append(r.out, old[s.start-begin:s.end-begin]...)
		members[i] = span{s.key, from, from + s.value - s.start, len(r.out)}
	}
	r.out = append(r.out, '}')
}

// text copies a string and returns what it says.
func (r *reader) text() string {
	start := r.pos
	escaped := false
	for r.pos++; r.src[r.pos] != '"'; r.pos++ {
		if r.src[r.pos] == '\\' {
			escaped = true
			r.pos++
		}
	}
	r.pos++
	raw := r.src[start:r.pos]
	r.out = append(r.out, raw...)
	if !escaped {
		return string(raw[1 : len(raw)-1])
	}
	if half := halfPair(raw); half != "" && r.fault == nil {
		r.fault = fmt.Errorf("it holds %s, one half of a surrogate pair, which is no character", half)
	}
	var s string
	if err := json.Unmarshal(raw, &s); err != nil && r.fault == nil {
		r.fault = err
	}
	return s
}

func (r *reader) copy() {
	r.out = append(r.out, r.src[r.pos])
	r.pos++
}

// halfPair finds an escape in a JSON string that is one half of a surrogate
// pair without the other.
func halfPair(raw []byte) string {
	unit := func(i int) rune {
		if i+6 > len(raw) || raw[i] != '\\' || raw[i+1] != 'u' {
			return -1
		}
		n, err := strconv.ParseUint(string(raw[i+2:i+6]), 16, 32)
		if err != nil {
			return -1
		}
		return rune(n)
	}
	for i := 0; i < len(raw); {
		switch u := unit(i); {
		case raw[i] != '\\':
			i++
		case u < 0:
			i += 2
		case !utf16.IsSurrogate(u):
			i += 6
		case utf16.DecodeRune(u, unit(i+6)) == utf8.RuneError:
			return string(raw[i : i+6])
		default:
			i += 12
		}
	}
	return ""
}
