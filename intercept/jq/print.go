package jq

import (
	"encoding/json"
	"io"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// printer writes values as jq does.
type printer struct {
	order  *order
	indent string // "" is compact
	sort   bool
	ascii  bool
	colors *colors // nil is monochrome
	buf    []byte
	out    io.Writer // takes what is in buf whenever that is enough; nil: nothing does
	limit  int       // the bytes that buf may hold when there is no out
	err    error     // of out, or errTextTooLong: nothing more is written
}

// enough is how much is handed to out at once, in bytes.
const enough = 32 << 10

// colors holds the escape sequences of null, false, true, numbers, strings,
// arrays, objects and object keys.
type colors [8]string

var defaultColors = colors{"0;90", "0;39", "0;39", "0;39", "0;32", "1;39", "1;39", "34;1"}

const colorEnd = "\x1b[0m"

// readColors reads the variable JQ_COLORS.
func readColors(text string) (colors, bool) {
	c := defaultColors
	for i, part := range strings.Split(text, ":") {
		if i >= len(c) {
			break
		}
		if len(part) > 12 || strings.Trim(part, "0123456789;") != "" {
			return defaultColors, false
		}
		c[i] = part
	}
	return c, true
}

// print writes a value to w piece by piece: it may print as far more than it
// takes in memory.
func (p *printer) print(w io.Writer, v any) error {
	p.buf, p.out, p.err = p.buf[:0], w, nil
	p.write(v, 0)
	p.flush()
	return p.err
}

func (p *printer) flush() {
	if p.err == nil {
		_, p.err = p.out.Write(p.buf)
	}
	if p.buf = p.buf[:0]; cap(p.buf) > 1<<20 {
		p.buf = nil
	}
}

// full reports whether there is nothing more to write.
func (p *printer) full() bool {
	switch {
	case p.err != nil:
	case p.out == nil && len(p.buf) > p.limit:
		p.err = errTextTooLong
	case p.out != nil && len(p.buf) > enough:
		p.flush()
	}
	return p.err != nil
}

// text is the value in one line, as tojson gives it. When it is longer than
// limit bytes it is cut off and there is an error.
func (o *order) text(v any, limit int) (string, error) {
	p := printer{order: o, limit: limit}
	p.write(v, 0)
	if !p.full() {
		return string(p.buf), nil
	}
	return string(p.buf[:min(limit, len(p.buf))]), p.err
}

func (p *printer) start(kind int) {
	if p.colors != nil {
		p.buf = append(append(append(p.buf, "\x1b["...), p.colors[kind]...), 'm')
	}
}

func (p *printer) end() {
	if p.colors != nil {
		p.buf = append(p.buf, colorEnd...)
	}
}

func (p *printer) write(v any, depth int) {
	if p.full() {
		return
	}
	if depth > maxDepth {
		p.buf = append(p.buf, "<skipped: too deep>"...)
		return
	}
	switch v := v.(type) {
	case []any:
		p.array(v, depth)
		return
	case map[string]any:
		p.object(v, depth)
		return
	case nil:
		p.start(0)
		p.buf = append(p.buf, "null"...)
	case bool:
		if v {
			p.start(2)
		} else {
			p.start(1)
		}
		p.buf = strconv.AppendBool(p.buf, v)
	case string:
		p.start(4)
		p.str(v)
	default:
		p.start(3)
		p.buf = appendNumber(p.buf, v)
	}
	p.end()
}

func appendNumber(b []byte, v any) []byte {
	switch v := v.(type) {
	case int:
		return strconv.AppendInt(b, int64(v), 10)
	case float64:
		return appendFloat(b, v)
	case *big.Int:
		return v.Append(b, 10)
	case json.Number:
		return append(b, v...)
	}
	return append(b, "null"...)
}

func (p *printer) array(v []any, depth int) {
	p.start(5)
	if len(v) == 0 {
		p.buf = append(p.buf, "[]"...)
		p.end()
		return
	}
	p.buf = append(p.buf, '[')
	for i, x := range v {
		if i > 0 {
			p.start(5)
			p.buf = append(p.buf, ',')
		}
		p.line(depth + 1)
		p.write(x, depth+1)
	}
	p.start(5)
	p.line(depth)
	p.start(5)
	p.buf = append(p.buf, ']')
	p.end()
}

func (p *printer) object(v map[string]any, depth int) {
	p.start(6)
	if len(v) == 0 {
		p.buf = append(p.buf, "{}"...)
		p.end()
		return
	}
	p.buf = append(p.buf, '{')
	keys := p.order.keys(v)
	if p.sort {
		keys = slices.Sorted(slices.Values(keys))
	}
	for i, k := range keys {
		if i > 0 {
			p.start(6)
			p.buf = append(p.buf, ',')
		}
		p.line(depth + 1)
		p.end()
		p.start(7)
		p.str(k)
		p.end()
		p.start(6)
		p.buf = append(p.buf, ':')
		if p.indent != "" {
			p.buf = append(p.buf, ' ')
		}
		p.end()
		p.write(v[k], depth+1)
	}
	p.start(6)
	p.line(depth)
	p.start(6)
	p.buf = append(p.buf, '}')
	p.end()
}

// line starts a new line, unless the output is compact.
func (p *printer) line(depth int) {
	if p.indent == "" {
		return
	}
	p.buf = append(p.buf, '\n')
	for range depth {
		p.buf = append(p.buf, p.indent...)
	}
}

const hexDigits = "0123456789abcdef"

func (p *printer) str(s string) {
	b := append(p.buf, '"')
	from := 0
	for i := 0; i < len(s); {
		c := s[i]
		if c >= ' ' && c < 0x7f && c != '"' && c != '\\' {
			i++
			continue
		}
		r, size := rune(c), 1
		if c >= utf8.RuneSelf {
			r, size = utf8.DecodeRuneInString(s[i:])
			if !p.ascii && (r != utf8.RuneError || size > 1) {
				i += size
				continue
			}
		}
		b = append(b, s[from:i]...)
		if at := strings.IndexByte("\"\\\b\f\n\r\t", c); at >= 0 {
			b = append(b, '\\', `"\bfnrt`[at])
		} else {
			b = appendEscape(b, r)
		}
		i += size
		from = i
	}
	p.buf = append(append(b, s[from:]...), '"')
}

// appendEscape writes a character as \uXXXX.
func appendEscape(b []byte, r rune) []byte {
	if r > 0xffff {
		r -= 0x10000
		b = appendEscape(b, 0xd800+r>>10)
		r = 0xdc00 + r&0x3ff
	}
	return append(b, '\\', 'u', hexDigits[r>>12&15], hexDigits[r>>8&15], hexDigits[r>>4&15], hexDigits[r&15])
}
