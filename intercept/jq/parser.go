package jq

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// maxDepth bounds the nesting of what is read and printed.
const maxDepth = 10_000

// parser turns chunks of text into JSON values, or into the events of
// --stream. It takes and refuses what jq does, with its messages: values may
// follow each other without a space, and numbers may be written loosely.
type parser struct {
	order                     *order
	seq, stream, streamErrors bool

	buf    []byte
	pos    int
	last   bool // no chunk comes after buf
	eof    bool
	bom    int
	line   int
	column int
	space  bool // the last character was white space

	state   state
	token   []byte
	escaped bool // token has a backslash
	next    any  // a finished value that has no place yet
	has     bool
	stack   []frame
	events  events
	intern  map[string]string
}

type state int

const (
	plain state = iota
	inString
	inEscape
	awaitRS // --seq, after a fault: skip to the next record
)

// frame is an array or object that is being read. kind is '[', '{', or ':'
// when the object's key waits for its value.
type frame struct {
	kind byte
	list []any
	m    map[string]any
	keys []string
	key  string
}

// parseError is a fault in JSON text.
type parseError string

func (e parseError) Error() string { return string(e) }

func newParser(o *order) *parser { return &parser{order: o, line: 1, intern: map[string]string{}} }

// startSeq makes it a parser of JSON text sequences.
func (p *parser) startSeq() { p.seq, p.state = true, awaitRS }

func (p *parser) remaining() int { return len(p.buf) - p.pos }

// feed hands over the next chunk, which must stay unchanged until remaining is 0.
func (p *parser) feed(chunk []byte, last bool) {
	const mark = "\xef\xbb\xbf"
	for len(chunk) > 0 && p.bom < len(mark) {
		if chunk[0] != mark[p.bom] {
			if p.bom > 0 {
				p.bom = 0xff // caught in read
				break
			}
			p.bom = len(mark)
			break
		}
		chunk = chunk[1:]
		p.bom++
	}
	p.buf, p.pos, p.last = chunk, 0, last
}

// read gives the next value of what was fed. ok is false when there is none
// yet; after the last chunk, when there is none left.
func (p *parser) read() (v any, ok bool, err error) {
	if p.eof {
		return nil, false, nil
	}
	if p.bom == 0xff {
		p.eof, p.buf, p.pos = true, nil, 0
		return nil, false, parseError("Malformed BOM")
	}
	if p.stream {
		if v, ok := p.streamDone(); ok {
			return v, true, nil
		}
	}
	for p.pos < len(p.buf) {
		ch := p.buf[p.pos]
		if p.state == inString && ch != '"' && ch != '\\' && ch != '\n' && !(p.seq && ch == rs) {
			p.run()
			continue
		}
		p.pos++
		p.column++
		if ch == '\n' {
			p.line, p.column = p.line+1, 0
		}
		if p.state == awaitRS {
			if ch == rs {
				p.state = plain
			}
			continue
		}
		v, ok, msg := p.scan(ch)
		if msg != "" {
			return p.fault(ch, msg)
		}
		if ok {
			return v, true, nil
		}
	}
	if !p.last {
		return nil, false, nil
	}
	return p.end()
}

const rs = 0x1e

// run takes plain characters of a string all at once.
func (p *parser) run() {
	rest := p.buf[p.pos:]
	n := 0
	for n < len(rest) && rest[n] != '"' && rest[n] != '\\' && rest[n] != '\n' && !(rest[n] == rs && p.seq) {
		n++
	}
	p.token = append(p.token, rest[:n]...)
	p.pos += n
	p.column += n
	p.space = false
}

// fault reports a message at the current position and recovers.
func (p *parser) fault(ch byte, msg string) (any, bool, error) {
	text := fmt.Sprintf("%s at line %d, column %d", msg, p.line, p.column)
	path := p.events.copyPath()
	p.reset()
	switch {
	case !p.seq:
		p.buf, p.pos = nil, 0 // the rest of the chunk is thrown away
	case ch != rs:
		p.state = awaitRS
		text += " (need RS to resync)"
	}
	return p.report(text, path)
}

func (p *parser) report(text string, path []any) (any, bool, error) {
	if p.streamErrors {
		return []any{text, path}, true, nil
	}
	return nil, false, parseError(text)
}

func (p *parser) reset() {
	p.events = events{}
	p.next, p.has = nil, false
	p.stack, p.token, p.escaped = p.stack[:0], p.token[:0], false
	p.state = plain
}

// end is called once, after the last chunk.
func (p *parser) end() (any, bool, error) {
	p.eof = true
	at := fmt.Sprintf(" at EOF at line %d, column %d", p.line, p.column)
	path := p.events.copyPath()
	switch p.state {
	case awaitRS:
		if p.line == 1 && p.column == 0 {
			return nil, false, nil
		}
		return p.report("Unfinished abandoned text"+at, path)
	case inString, inEscape:
		return p.report("Unfinished string"+at, path)
	}
	if msg := p.literal(); msg != "" {
		return p.report(msg+at, path)
	}
	if len(p.stack) > 0 || len(p.events.path) > 0 {
		return p.report("Unfinished JSON term"+at, path)
	}
	if !p.has {
		return nil, false, nil
	}
	v := p.next
	p.next, p.has = nil, false
	if _, num := value(v); num && p.seq && !p.space {
		return p.report("Potentially truncated top-level numeric value"+at, path)
	}
	if p.stream {
		return []any{[]any{}, v}, true, nil
	}
	return v, true, nil
}

// scan takes one character.
func (p *parser) scan(ch byte) (v any, ok bool, msg string) {
	if p.seq && ch == rs {
		return p.separator()
	}
	p.space = false
	if p.state != plain {
		return p.scanString(ch)
	}
	structural := false
	switch ch {
	case ' ', '\t', '\r', '\n':
		p.space = true
	case '"':
	case '[', ',', ']', '{', ':', '}':
		structural = true
	default:
		p.token = append(p.token, ch)
		return nil, false, ""
	}
	if msg = p.literal(); msg != "" {
		return nil, false, msg
	}
	v, ok = p.done()
	if ch == '"' {
		p.state = inString
		return v, ok, ""
	}
	if structural {
		if p.stream {
			msg = p.structStream(ch)
		} else {
			msg = p.structure(ch)
		}
		if msg != "" {
			return nil, false, msg
		}
	}
	if !ok {
		v, ok = p.done()
	}
	return v, ok, ""
}

func (p *parser) scanString(ch byte) (v any, ok bool, msg string) {
	if ch == '"' && p.state == inString {
		if msg = p.str(); msg != "" {
			return nil, false, msg
		}
		p.state = plain
		v, ok = p.done()
		return v, ok, ""
	}
	p.token = append(p.token, ch)
	if ch == '\\' && p.state == inString {
		p.state, p.escaped = inEscape, true
	} else {
		p.state = inString
	}
	return nil, false, ""
}

// separator is an RS between the records of a sequence.
func (p *parser) separator() (v any, ok bool, msg string) {
	_, num := value(p.next)
	if p.stream && (len(p.events.path) > 0 || p.has) ||
		!p.stream && !p.space && (len(p.stack) > 0 || len(p.token) > 0 || p.has && num) {
		if p.literal() == "" && p.has && len(p.stack) == 0 && len(p.events.path) == 0 {
			return nil, false, "Potentially truncated top-level numeric value"
		}
		return nil, false, "Truncated value"
	}
	if msg = p.literal(); msg != "" {
		return nil, false, msg
	}
	if p.state == plain {
		if v, ok = p.done(); ok {
			return v, true, ""
		}
	}
	p.reset()
	return nil, false, ""
}

// done takes a finished top-level value, or an event.
func (p *parser) done() (any, bool) {
	if p.stream {
		return p.streamDone()
	}
	if len(p.stack) > 0 || !p.has {
		return nil, false
	}
	v := p.next
	p.next, p.has = nil, false
	return v, true
}

// put sets the finished value.
func (p *parser) put(v any) string {
	if p.has || p.stream && p.events.seen == seenValue {
		return "Expected separator between values"
	}
	if p.stream && len(p.events.path) > 0 {
		p.events.seen = seenValue
	}
	p.next, p.has = v, true
	return ""
}

// structure takes one of [ ] { } , : outside --stream.
func (p *parser) structure(ch byte) string {
	var top *frame
	if n := len(p.stack); n > 0 {
		top = &p.stack[n-1]
	}
	switch ch {
	case '[', '{':
		if len(p.stack) >= maxDepth {
			return "Exceeds depth limit for parsing"
		}
		if p.has {
			return "Expected separator between values"
		}
		f := frame{kind: ch}
		if ch == '{' {
			f.m = map[string]any{}
		}
		p.stack = append(p.stack, f)
	case ':':
		switch key, str := p.next.(string); {
		case !p.has:
			return "Expected string key before ':'"
		case top == nil || top.kind != '{':
			return "':' not as part of an object"
		case !str:
			return "Object keys must be strings"
		default:
			top.kind, top.key = ':', key
			p.next, p.has = nil, false
		}
	case ',':
		switch {
		case !p.has:
			return "Expected value before ','"
		case top == nil:
			return "',' not as part of an object or array"
		case top.kind == '{':
			return "Objects must consist of key:value pairs"
		}
		p.store(top)
	case ']':
		switch {
		case top == nil || top.kind != '[':
			return "Unmatched ']'"
		case p.has:
			p.store(top)
		case len(top.list) > 0:
			return "Expected another array element"
		}
		if top.list == nil {
			top.list = []any{}
		}
		p.pop(top.list)
	case '}':
		switch {
		case top == nil:
			return "Unmatched '}'"
		case p.has && top.kind != ':':
			return "Objects must consist of key:value pairs"
		case p.has:
			p.store(top)
		case top.kind != '{':
			return "Unmatched '}'"
		case len(top.keys) > 0:
			return "Expected another key-value pair"
		}
		p.order.remember(top.m, top.keys)
		p.pop(top.m)
	}
	return ""
}

// store moves the finished value to where it belongs.
func (p *parser) store(top *frame) {
	if top.kind == '[' {
		top.list = append(top.list, p.next)
	} else {
		if _, twice := top.m[top.key]; !twice {
			top.keys = append(top.keys, top.key)
		}
		top.m[top.key] = p.next
		top.kind = '{'
	}
	p.next, p.has = nil, false
}

func (p *parser) pop(v any) {
	p.stack[len(p.stack)-1] = frame{}
	p.stack = p.stack[:len(p.stack)-1]
	p.next, p.has = v, true
}

// literal finishes a number or a word.
func (p *parser) literal() string {
	if len(p.token) == 0 {
		return ""
	}
	var v any
	switch tok := string(p.token); {
	case tok[0] == 't':
		if v = true; tok != "true" {
			return "Invalid literal"
		}
	case tok[0] == 'f':
		if v = false; tok != "false" {
			return "Invalid literal"
		}
	case tok[0] == '\'':
		return `Invalid string literal; expected ", but got '`
	case tok[0] == 'n' && len(tok) > 1 && tok[1] == 'u':
		if tok != "null" {
			return "Invalid literal"
		}
	default:
		var ok bool
		if v, ok = number(p.token); !ok {
			return "Invalid numeric literal"
		}
	}
	p.token = p.token[:0]
	return p.put(v)
}

// str finishes a string.
func (p *parser) str() string {
	for _, c := range p.token {
		if c < 0x20 {
			return "Invalid string: control characters from U+0000 through U+001F must be escaped"
		}
	}
	var s string
	switch {
	case p.escaped:
		b, msg := unescape(p.token)
		if msg != "" {
			return msg
		}
		s = string(b)
	case len(p.token) <= 64 && p.expectsKey():
		var ok bool
		if s, ok = p.intern[string(p.token)]; !ok {
			if s = string(p.token); len(p.intern) < 4096 {
				p.intern[s] = s
			}
		}
	default:
		s = string(p.token)
	}
	p.token, p.escaped = p.token[:0], false
	if cap(p.token) > 1<<20 {
		p.token = nil
	}
	return p.put(strings.ToValidUTF8(s, "\uFFFD"))
}

func (p *parser) expectsKey() bool {
	return len(p.stack) > 0 && p.stack[len(p.stack)-1].kind == '{'
}

func unescape(tok []byte) ([]byte, string) {
	out := make([]byte, 0, len(tok))
	for len(tok) > 0 {
		i := bytes.IndexByte(tok, '\\')
		if i < 0 {
			return append(out, tok...), ""
		}
		out = append(out, tok[:i]...)
		if tok = tok[i+1:]; len(tok) == 0 {
			return nil, "Expected escape character at end of string"
		}
		c := tok[0]
		tok = tok[1:]
		if i := strings.IndexByte(`\"/bftnr`, c); i >= 0 {
			out = append(out, "\\\"/\b\f\t\n\r"[i])
			continue
		}
		if c != 'u' {
			return nil, "Invalid escape"
		}
		r, msg := hex4(tok)
		if msg != "" {
			return nil, msg
		}
		tok = tok[4:]
		if utf16.IsSurrogate(r) {
			low := rune(-1)
			if len(tok) >= 6 && tok[0] == '\\' && tok[1] == 'u' {
				low, _ = hex4(tok[2:])
			}
			if r = utf16.DecodeRune(r, low); r != utf8.RuneError {
				tok = tok[6:]
			}
		}
		out = utf8.AppendRune(out, r)
	}
	return out, ""
}

func hex4(b []byte) (rune, string) {
	if len(b) < 4 {
		return 0, `Invalid \uXXXX escape`
	}
	var r rune
	for _, c := range b[:4] {
		switch {
		case c >= '0' && c <= '9':
			c -= '0'
		case c|0x20 >= 'a' && c|0x20 <= 'f':
			c = c | 0x20 - 'a' + 10
		default:
			return 0, `Invalid characters in \uXXXX escape`
		}
		r = r<<4 | rune(c)
	}
	return r, ""
}

// parseOne reads a text that holds exactly one value. It is an error once ctx
// is done.
func parseOne(ctx context.Context, o *order, text string) (any, error) {
	list, err := parseText(ctx, o, text, 2)
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case err == nil && len(list) == 0:
		err = parseError("Expected JSON value")
	case err == nil && len(list) > 1:
		err = parseError("Unexpected extra JSON values")
	}
	if err != nil {
		return nil, parseError(fmt.Sprintf("%v (while parsing '%s')", err, text))
	}
	return list[0], nil
}

// parseText reads all values of a text, or the first most.
func parseText(ctx context.Context, o *order, text string, most int) ([]any, error) {
	p := newParser(o)
	list := []any{}
	for last := false; !last; {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		n := min(len(text), 64<<10)
		last = n == len(text)
		p.feed([]byte(text[:n]), last)
		text = text[n:]
		for {
			v, ok, err := p.read()
			if err != nil {
				return nil, err
			}
			if !ok {
				break
			}
			if list = append(list, v); len(list) == most {
				return list, nil
			}
		}
	}
	return list, nil
}
