package catalog

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// reader goes through compact, valid JSON. any, array and object copy it to out
// and drop the members whose key comes again; everything else stays as it was
// written. tree decodes it.
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
		r.copyText()
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
	var at map[string]int // only of a large object; a small one is looked through
	twice := false
	for r.src[r.pos] != '}' {
		if r.src[r.pos] == ',' {
			r.copy()
		}
		s := span{start: len(r.out)}
		s.key = r.copyText()
		r.copy() // :
		s.value = len(r.out)
		r.any()
		s.end = len(r.out)
		i := -1
		if at == nil {
			i = slices.IndexFunc(members, func(m span) bool { return m.key == s.key })
		} else if n, ok := at[s.key]; ok {
			i = n
		}
		if i >= 0 {
			members[i], twice = s, true
			continue
		}
		members = append(members, s)
		switch {
		case at != nil:
			at[s.key] = len(members) - 1
		case len(members) == 16:
			at = make(map[string]int, 32)
			for n, m := range members {
				at[m.key] = n
			}
		}
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

// copyText copies a string and returns what it says.
func (r *reader) copyText() string {
	start := r.pos
	s := r.text()
	r.out = append(r.out, r.src[start:r.pos]...)
	return s
}

// text reads a string and returns what it says.
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

// tree is compact, valid JSON as Go values: maps, slices, strings, bools, nil,
// and numbers as they are written. Of a key given twice the last value stays.
func (r *reader) tree() any {
	switch c := r.src[r.pos]; c {
	case '{':
		m := map[string]any{}
		for r.pos++; r.src[r.pos] != '}'; {
			if r.src[r.pos] == ',' {
				r.pos++
			}
			key := r.text()
			r.pos++ // :
			m[key] = r.tree()
		}
		r.pos++
		return m
	case '[':
		list := []any{}
		for r.pos++; r.src[r.pos] != ']'; {
			if r.src[r.pos] == ',' {
				r.pos++
			}
			list = append(list, r.tree())
		}
		r.pos++
		return list
	case '"':
		return r.text()
	default:
		start := r.pos
		for r.pos < len(r.src) && r.src[r.pos] != ',' && r.src[r.pos] != ']' && r.src[r.pos] != '}' {
			r.pos++
		}
		switch c {
		case 't', 'f':
			return c == 't'
		case 'n':
			return nil
		}
		return json.Number(r.src[start:r.pos])
	}
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
