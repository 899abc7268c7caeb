package jq

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"reflect"
	"runtime"
	"slices"
	"sync"

	"github.com/itchyny/gojq"
)

// order remembers the order of keys.
type order struct {
	mu    sync.Mutex
	maps  map[uintptr]entry // of objects that were read
	built [][]string        // of object constructions in the program
	rank  map[string]int    // of every key, by its first appearance
}

// entry keeps the map alive, so that no other can get its address.
type entry struct {
	m    map[string]any
	keys []string
}

func newOrder() *order { return &order{maps: map[uintptr]entry{}, rank: map[string]int{}} }

// maxMaps bounds the memory: past it, the oldest input's objects fall back to
// the rank of their keys.
const maxMaps = 1 << 18

func identity(m map[string]any) uintptr { return reflect.ValueOf(m).Pointer() }

func (o *order) remember(m map[string]any, keys []string) {
	for _, k := range keys {
		o.see(k)
	}
	if len(o.maps) >= maxMaps {
		clear(o.maps)
	}
	o.maps[identity(m)] = entry{m, keys}
}

func (o *order) see(key string) {
	if _, ok := o.rank[key]; !ok && len(o.rank) < maxMaps {
		o.rank[key] = len(o.rank)
	}
}

// forget drops what belongs to one input, once its results are printed.
func (o *order) forget() {
	if len(o.maps) > 4096 {
		clear(o.maps)
	}
}

// keys lists a map's keys in the order in which jq would print them.
func (o *order) keys(m map[string]any) []string {
	if e, ok := o.maps[identity(m)]; ok && same(m, e.keys) {
		return e.keys
	}
	for _, b := range o.built {
		if same(m, b) {
			return b
		}
	}
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	slices.SortStableFunc(keys, func(a, b string) int { return o.of(a) - o.of(b) })
	return keys
}

// keysOf is the keys_unsorted function.
func (o *order) keysOf(v any) any {
	var out []any
	switch v := v.(type) {
	case map[string]any:
		o.mu.Lock()
		defer o.mu.Unlock()
		out = make([]any, 0, len(v))
		for _, k := range o.keys(v) {
			out = append(out, k)
		}
	case []any:
		out = make([]any, len(v))
		for i := range v {
			out[i] = i
		}
	default:
		return fmt.Errorf("%s has no keys", gojq.TypeOf(v))
	}
	return out
}

func (o *order) of(key string) int {
	if r, ok := o.rank[key]; ok {
		return r
	}
	return len(o.rank)
}

func same(m map[string]any, keys []string) bool {
	if len(m) != len(keys) {
		return false
	}
	for _, k := range keys {
		if _, ok := m[k]; !ok {
			return false
		}
	}
	return true
}

// program collects the object constructions of a query.
func (o *order) program(q *gojq.Query) {
	walk(reflect.ValueOf(q), func(obj *gojq.Object) {
		var keys []string
		for _, kv := range obj.KeyVals {
			key := kv.Key
			switch {
			case key == "" && kv.KeyString != nil && kv.KeyString.Queries == nil:
				key = kv.KeyString.Str
			case key == "":
				return
			}
			if key[0] == '$' {
				key = key[1:]
			}
			if !slices.Contains(keys, key) {
				keys = append(keys, key)
			}
			o.see(key)
		}
		o.built = append(o.built, keys)
	}, 0)
}

// walk visits every object construction of a syntax tree.
func walk(v reflect.Value, visit func(*gojq.Object), depth int) {
	if depth > 10_000 {
		return
	}
	switch v.Kind() {
	case reflect.Pointer:
		if v.IsNil() {
			return
		}
		if obj, ok := v.Interface().(*gojq.Object); ok {
			visit(obj)
		}
		walk(v.Elem(), visit, depth+1)
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				walk(v.Field(i), visit, depth+1)
			}
		}
	case reflect.Slice:
		for i := range v.Len() {
			walk(v.Index(i), visit, depth+1)
		}
	}
}

// decoder reads JSON values one after the other, with their key order and
// every digit.
type decoder struct {
	dec   *json.Decoder
	order *order
}

func newDecoder(r io.Reader, o *order) *decoder {
	d := json.NewDecoder(r)
	d.UseNumber()
	return &decoder{d, o}
}

func (d *decoder) next() (any, error) {
	tok, err := d.dec.Token()
	if err != nil {
		return nil, err
	}
	return d.value(tok, 0)
}

// maxDepth is jq's own bound on nesting.
const maxDepth = 10_000

func (d *decoder) value(tok json.Token, depth int) (any, error) {
	if depth > maxDepth {
		return nil, fmt.Errorf("Exceeds depth limit for parsing")
	}
	delim, ok := tok.(json.Delim)
	if !ok {
		return tok, nil
	}
	if delim == '[' {
		list := []any{}
		for d.dec.More() {
			v, err := d.inner(depth)
			if err != nil {
				return nil, err
			}
			list = append(list, v)
		}
		_, err := d.dec.Token()
		return list, noEOF(err)
	}
	m, keys := map[string]any{}, []string{}
	for d.dec.More() {
		tok, err := d.dec.Token()
		if err != nil {
			return nil, noEOF(err)
		}
		key, ok := tok.(string)
		if !ok {
			return nil, fmt.Errorf("object keys must be strings")
		}
		v, err := d.inner(depth)
		if err != nil {
			return nil, err
		}
		if _, twice := m[key]; !twice {
			keys = append(keys, key)
		}
		m[key] = v
	}
	if _, err := d.dec.Token(); err != nil {
		return nil, noEOF(err)
	}
	d.order.mu.Lock()
	d.order.remember(m, keys)
	d.order.mu.Unlock()
	return m, nil
}

func (d *decoder) inner(depth int) (any, error) {
	tok, err := d.dec.Token()
	if err != nil {
		return nil, noEOF(err)
	}
	return d.value(tok, depth+1)
}

// noEOF: the end inside a value is a fault.
func noEOF(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}

// printer writes values as jq does.
type printer struct {
	order   *order
	indent  string // "" is compact
	sort    bool
	ascii   bool
	color   bool
	scratch bytes.Buffer
}

func (p *printer) print(w io.Writer, v any) error {
	p.scratch.Reset()
	p.order.mu.Lock()
	p.write(v, 0)
	p.order.mu.Unlock()
	_, err := w.Write(p.scratch.Bytes())
	runtime.KeepAlive(v)
	return err
}

// jq's colours, by kind of value.
const (
	colorNull, colorFalse, colorTrue = "\x1b[1;30m", "\x1b[0;39m", "\x1b[0;39m"
	colorNumber, colorString         = "\x1b[0;39m", "\x1b[0;32m"
	colorArray, colorObject          = "\x1b[1;39m", "\x1b[1;39m"
	colorKey, colorEnd               = "\x1b[34;1m", "\x1b[0m"
)

func (p *printer) paint(color, text string) {
	if p.color {
		p.scratch.WriteString(color + text + colorEnd)
		return
	}
	p.scratch.WriteString(text)
}

func (p *printer) write(v any, depth int) {
	switch v := v.(type) {
	case []any:
		if len(v) == 0 {
			p.paint(colorArray, "[]")
			return
		}
		p.paint(colorArray, "[")
		for i, x := range v {
			if i > 0 {
				p.paint(colorArray, ",")
			}
			p.line(depth + 1)
			p.write(x, depth+1)
		}
		p.line(depth)
		p.paint(colorArray, "]")
	case map[string]any:
		if len(v) == 0 {
			p.paint(colorObject, "{}")
			return
		}
		keys := p.order.keys(v)
		if p.sort {
			keys = slices.Sorted(slices.Values(keys))
		}
		p.paint(colorObject, "{")
		for i, k := range keys {
			if i > 0 {
				p.paint(colorObject, ",")
			}
			p.line(depth + 1)
			p.paint(colorKey, p.text(k))
			p.paint(colorObject, ":")
			if p.indent != "" {
				p.scratch.WriteByte(' ')
			}
			p.write(v[k], depth+1)
		}
		p.line(depth)
		p.paint(colorObject, "}")
	case string:
		p.paint(colorString, p.text(v))
	case nil:
		p.paint(colorNull, "null")
	case bool:
		if v {
			p.paint(colorTrue, "true")
		} else {
			p.paint(colorFalse, "false")
		}
	case json.Number:
		p.paint(colorNumber, v.String()) // as it was written
	default:
		b, err := gojq.Marshal(v)
		if err != nil {
			b = []byte("null")
		}
		p.paint(colorNumber, string(b))
	}
}

// line starts a new line, unless the output is compact.
func (p *printer) line(depth int) {
	if p.indent == "" {
		return
	}
	p.scratch.WriteByte('\n')
	for range depth {
		p.scratch.WriteString(p.indent)
	}
}

func (p *printer) text(s string) string {
	b, err := gojq.Marshal(s)
	if err != nil {
		return `""`
	}
	if !p.ascii {
		return string(b)
	}
	return ascii(string(b))
}

// ascii escapes everything outside ASCII.
func ascii(s string) string {
	var b bytes.Buffer
	for _, r := range s {
		switch {
		case r < 0x80:
			b.WriteRune(r)
		case r < 0x10000:
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			r -= 0x10000
			fmt.Fprintf(&b, `\u%04x\u%04x`, 0xd800+(r>>10), 0xdc00+(r&0x3ff))
		}
	}
	return b.String()
}
