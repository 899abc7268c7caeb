package jq

import "slices"

// What the stream parser saw last.
const (
	seenNothing = byte(0)
	seenValue   = byte('V')
)

// events is the state of --stream: where in the value the parser stands. It
// needs memory for the path alone, however large the value is.
type events struct {
	path    []any // of array indices and object keys; nil is a key not known yet
	seen    byte  // one of [ { : , or the constants above
	out     []any // an event to hand out
	closing bool  // and after it, the event that closes its array or object
}

func (e *events) copyPath() []any { return append([]any{}, e.path...) }

// streamDone takes the event that is ready.
func (p *parser) streamDone() (any, bool) {
	e := &p.events
	if len(e.path) == 0 && p.has {
		v := p.next
		p.next, p.has = nil, false
		return []any{[]any{}, v}, true
	}
	if e.out == nil {
		return nil, false
	}
	v := e.out
	if e.out = nil; e.closing {
		e.out, e.closing = []any{slices.Clone(v[0].([]any))}, false
	}
	return v, true
}

// leaf emits the finished value at the current path.
func (p *parser) leaf(closing bool) {
	p.events.out, p.events.closing = []any{p.events.copyPath(), p.next}, closing
	p.next, p.has = nil, false
}

// structStream takes one of [ ] { } , : under --stream.
func (p *parser) structStream(ch byte) string {
	e := &p.events
	var at *any
	if n := len(e.path); n > 0 {
		at = &e.path[n-1]
	}
	inArray := false
	if at != nil {
		_, inArray = (*at).(int)
	}
	switch ch {
	case '[', '{':
		switch {
		case len(e.path) >= maxDepth:
			return "Exceeds depth limit for parsing"
		case p.has || e.seen == seenValue:
			return "Expected a separator between values"
		case e.seen == '{':
			return "Expected string key after '{', not '" + string(ch) + "'"
		case e.seen == ',' && !inArray:
			return "Expected string key after ',' in object, not '" + string(ch) + "'"
		}
		if e.seen = ch; ch == '[' {
			e.path = append(e.path, 0)
		} else {
			e.path = append(e.path, nil)
		}
	case ':':
		key, str := p.next.(string)
		switch {
		case at == nil || inArray:
			return "':' not as part of an object"
		case !p.has || e.seen == seenNothing:
			return "Expected string key before ':'"
		case !str:
			return "Object keys must be strings"
		case *at != nil || e.seen != seenValue:
			return "':' should follow a key"
		}
		*at, e.seen = key, ':'
		p.next, p.has = nil, false
	case ',':
		switch {
		case e.seen != seenValue:
			return "Expected value before ','"
		case at == nil:
			return "',' not as part of an object or array"
		case *at == nil:
			return "Objects must consist of key:value pairs"
		}
		if p.has {
			p.leaf(false)
		}
		if e.seen = ','; inArray {
			*at = (*at).(int) + 1
		} else {
			*at = nil
		}
	case ']':
		switch {
		case at == nil:
			return "Unmatched ']' at the top-level"
		case e.seen == ',':
			return "Expected another array element"
		case !inArray:
			return "Unmatched ']' in the middle of an object"
		}
		p.closeStream('[', []any{})
	case '}':
		switch {
		case at == nil:
			return "Unmatched '}' at the top-level"
		case e.seen == ',':
			return "Expected another key:value pair"
		case inArray:
			return "Unmatched '}' in the middle of an array"
		case e.seen == ':':
			return "Missing value in key:value pair"
		case p.has && *at == nil:
			return "Objects must consist of key:value pairs"
		}
		p.closeStream('{', map[string]any{})
	}
	return ""
}

// closeStream ends an array or object. An empty one is a leaf.
func (p *parser) closeStream(opened byte, empty any) {
	e := &p.events
	up := len(e.path) - 1
	switch {
	case e.seen == opened:
		e.path = e.path[:up]
		e.out, e.closing = []any{e.copyPath(), empty}, false
	case p.has:
		p.leaf(true)
		e.path = e.path[:up]
	default:
		e.out, e.closing = []any{e.copyPath()}, false
		e.path = e.path[:up]
	}
	if e.seen = seenValue; up == 0 {
		e.seen = seenNothing
	}
}
