package catalog

import (
	"encoding/binary"
	"encoding/json"
	"unicode/utf8"
)

// skim goes over a JSON text once and builds nothing. Whatever is not valid
// JSON, or rare, it refuses; the slower readers then take the text from the
// start and say what is wrong with it.
type skim struct {
	src []byte
	pos int
}

// maxSkim is how deep values may be nested in each other.
const maxSkim = 100

// at is the byte at the position, 0 behind the end.
func (s *skim) at() byte {
	if s.pos < len(s.src) {
		return s.src[s.pos]
	}
	return 0
}

func (s *skim) space() {
	for s.pos < len(s.src) {
		switch s.src[s.pos] {
		case ' ', '\n', '\t', '\r':
			s.pos++
		default:
			return
		}
	}
}

// take goes past c and the white space behind it.
func (s *skim) take(c byte) bool {
	if s.at() != c {
		return false
	}
	s.pos++
	s.space()
	return true
}

// end reports whether nothing but white space is left.
func (s *skim) end() bool {
	s.space()
	return s.pos == len(s.src)
}

// next goes to the next member or element, and past the closing bracket when
// there is none.
func (s *skim) next(first bool, closing byte) (more, ok bool) {
	s.space()
	if s.at() == closing {
		s.pos++
		return false, true
	}
	return true, first || s.take(',')
}

// key goes past a member's key and the colon, to its value. An odd key is
// refused.
func (s *skim) key() (key []byte, ok bool) {
	from, to, plain, ok := s.text()
	if !ok || !plain {
		return nil, false
	}
	s.space()
	return s.src[from:to], s.take(':')
}

// value goes past a value of any kind.
func (s *skim) value(depth int) bool {
	switch c := s.at(); {
	case c == '"':
		_, _, _, ok := s.text()
		return ok
	case c == '{' || c == '[':
		if depth >= maxSkim {
			return false
		}
		s.pos++
		s.space()
		for first := true; ; first = false {
			more, ok := s.next(first, c+2) // the closing bracket
			if !more || !ok {
				return ok
			}
			if c == '{' {
				if _, _, _, ok := s.text(); !ok {
					return false
				}
				if s.space(); !s.take(':') {
					return false
				}
			}
			if !s.value(depth + 1) {
				return false
			}
		}
	case c == 't':
		return s.word("true")
	case c == 'f':
		return s.word("false")
	case c == 'n':
		return s.word("null")
	}
	return s.number()
}

func (s *skim) word(w string) bool {
	if len(s.src)-s.pos < len(w) || string(s.src[s.pos:s.pos+len(w)]) != w {
		return false
	}
	s.pos += len(w)
	return true
}

func (s *skim) number() bool {
	if s.at() == '-' {
		s.pos++
	}
	if s.at() == '0' {
		s.pos++
	} else if !s.digits() {
		return false
	}
	if s.at() == '.' {
		if s.pos++; !s.digits() {
			return false
		}
	}
	if c := s.at(); c == 'e' || c == 'E' {
		if s.pos++; s.at() == '+' || s.at() == '-' {
			s.pos++
		}
		return s.digits()
	}
	return true
}

// digits goes past one digit or more.
func (s *skim) digits() bool {
	from := s.pos
	for c := s.at(); c >= '0' && c <= '9'; c = s.at() {
		s.pos++
	}
	return s.pos > from
}

// text goes past a string. plain says that it is ASCII without escapes, so that
// it says what stands between its quotes, src[from:to].
func (s *skim) text() (from, to int, plain, ok bool) {
	if s.at() != '"' {
		return 0, 0, false, false
	}
	src, i := s.src, s.pos+1
	from, plain = i, true
	for {
		for i+8 <= len(src) && !unusual(binary.LittleEndian.Uint64(src[i:])) {
			i += 8
		}
		if i == len(src) {
			return 0, 0, false, false
		}
		switch c := src[i]; {
		case c == '"':
			s.pos = i + 1
			return from, i, plain, true
		case c == '\\':
			plain = false
			n := escape(src[i:])
			if n == 0 {
				return 0, 0, false, false
			}
			i += n
		case c < ' ':
			return 0, 0, false, false
		default:
			plain = plain && c < utf8.RuneSelf
			i++
		}
	}
}

// unusual reports whether one of eight bytes may be more than a character of a
// string: a quote, a backslash, a control character, a part of a longer one. It
// may be wrong in saying so.
func unusual(w uint64) bool {
	const ones, tops = 0x0101010101010101, 0x8080808080808080
	quote, slash := w^('"'*ones), w^('\\'*ones)
	return (w|(w-' '*ones)|(quote-ones)|(slash-ones))&tops != 0
}

// escape is the length of the escape that src begins with, 0 when it is none.
func escape(src []byte) int {
	if len(src) < 2 {
		return 0
	}
	switch src[1] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return 2
	case 'u':
		if len(src) < 6 {
			return 0
		}
		for _, c := range src[2:6] {
			if (c < '0' || c > '9') && (c < 'a' || c > 'f') && (c < 'A' || c > 'F') {
				return 0
			}
		}
		return 6
	}
	return 0
}

// said goes past a string and returns what it says.
func (s *skim) said() (string, bool) {
	from, to, plain, ok := s.text()
	if !ok || plain {
		return string(s.src[from:to]), ok
	}
	return unquote(s.src[from-1 : to+1])
}

// unquote is what a valid JSON string says, as encoding/json has it.
func unquote(raw []byte) (string, bool) {
	const letters, meant = `"\/bfnrt`, "\"\\/\b\f\n\r\t"
	in := raw[1 : len(raw)-1]
	if utf8.Valid(in) {
		out := make([]byte, 0, len(in))
		i := 0
		for ; i < len(in); i++ {
			c := in[i]
			if c == '\\' {
				if i++; in[i] == 'u' {
					break
				}
				for n := range len(letters) {
					if letters[n] == in[i] {
						c = meant[n]
					}
				}
			}
			out = append(out, c)
		}
		if i == len(in) {
			return string(out), true
		}
	}
	var said string
	err := json.Unmarshal(raw, &said)
	return said, err == nil
}
