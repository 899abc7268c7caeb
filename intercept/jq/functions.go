package jq

import (
	"context"
	"encoding/base32"
	"fmt"
	"math"
	"strings"

	"github.com/itchyny/gojq"
)

// functions are the Go halves of the prelude, and jq's functions that gojq
// leaves to the program around it.
func (r *run) functions() []gojq.CompilerOption {
	o := r.order
	list := []gojq.CompilerOption{
		gojq.WithIterFunction("_o_keys", 0, 0, func(v any, _ []any) gojq.Iter { return o.walk(v) }),
		gojq.WithIterFunction("_o_spots", 0, 0, func(v any, _ []any) gojq.Iter { return &groupsIter{v.(*substitution)} }),
		gojq.WithIterFunction("_o_inputs", 0, 0, func(any, []any) gojq.Iter { return &inputIter{r} }),
		gojq.WithIterFunction("_o_built", 0, 0, func(v any, _ []any) gojq.Iter {
			if s := v.(*streamed); s.ready {
				return gojq.NewIter(s.edit.done())
			}
			return gojq.NewIter[any]()
		}),
	}
	for name, f := range map[string]func(v any) any{
		"_o_object":         object,
		"_o_list":           o.list,
		"_o_passable":       passable,
		"_o_short":          shortText,
		"_o_splittable":     splittable,
		"_o_transposable":   transposable,
		"_o_negated":        o.negated,
		"_o_substituted":    func(v any) any { return v.(*substitution).results() },
		"_o_input":          func(any) any { return r.input() },
		"_o_edit":           func(v any) any { return newEdit(o, v) },
		"_o_done":           func(v any) any { return v.(*edit).done() },
		"_o_sum":            func(v any) any { return o.sum(r.ctx, v) },
		"_o_tojson":         o.tojson,
		"_o_tostring":       o.tostring,
		"_o_fromjson":       func(v any) any { return o.fromjson(r.ctx, v) },
		"_o_tonumber":       func(v any) any { return o.tonumber(r.ctx, v) },
		"_o_from_entries":   o.fromEntries,
		"_o_captures":       o.captures,
		"_o_base32":         func(v any) any { return base32.StdEncoding.EncodeToString([]byte(v.(string))) },
		"_o_base32d":        o.base32d,
		"_o_html":           func(v any) any { return htmlEscape.Replace(v.(string)) },
		"_o_words":          words,
		"_o_stream":         func(any) any { return &streamed{edit: newEdit(o, nil)} },
		"input_filename":    func(any) any { return r.in.filename() },
		"input_line_number": func(any) any { return r.in.line },
		"get_search_list":   func(any) any { return r.searchList() },
		"lgamma_r":          lgammaR,
		"debug":             func(v any) any { r.show([]any{"DEBUG:", v}, "\n"); return v },
		"stderr":            func(v any) any { r.show(v, ""); return v },
	} {
		list = append(list, gojq.WithFunction(name, 0, 0, func(v any, _ []any) any { return f(v) }))
	}
	for name, f := range map[string]func(v, arg any) any{
		"_o_get":        func(v, p any) any { return v.(*edit).get(p.([]any)) },
		"_o_drop":       func(v, p any) any { e := v.(*edit); e.dropped = append(e.dropped, p); return e },
		"_o_add_step":   func(v, event any) any { return v.(*streamed).add(event) },
		"_o_delpaths":   o.delpaths,
		"_o_split":      func(v, sep any) any { return splitText(v, sep) },
		"_o_pattern":    pattern,
		"_o_joinable":   joinable,
		"_o_contains":   func(v, x any) any { return r.contains(v, x) },
		"_o_places":     func(v, x any) any { return r.places(v, x) },
		"_o_replace":    func(v, text any) any { return v.(*substitution).replace(o, text) },
		"_o_check_path": o.checkPath,
		"_o_ordered":    func(v, keys any) any { o.ordered(v, keys.([]any)); return v },
	} {
		list = append(list, gojq.WithFunction(name, 1, 1, func(v any, args []any) any { return f(v, args[0]) }))
	}
	for name, f := range map[string]func(v, a, b any) any{
		"_o_add":          func(_, a, b any) any { return o.add(a, b) },
		"_o_mul":          func(_, a, b any) any { return o.multiply(r.ctx, a, b) },
		"_o_div":          func(_, a, b any) any { return o.divide(a, b) },
		"_o_test":         r.test,
		"_o_match":        r.matchList,
		"_o_pieces":       r.pieces,
		"_o_substitution": r.substitution,
		"_o_sub":          func(_, a, b any) any { return o.subtract(a, b) },
		"_o_eq":           func(_, a, b any) any { return compare(a, b, func(c int) bool { return c == 0 }) },
		"_o_ne":           func(_, a, b any) any { return compare(a, b, func(c int) bool { return c != 0 }) },
		"_o_lt":           func(_, a, b any) any { return compare(a, b, func(c int) bool { return c < 0 }) },
		"_o_le":           func(_, a, b any) any { return compare(a, b, func(c int) bool { return c <= 0 }) },
		"_o_gt":           func(_, a, b any) any { return compare(a, b, func(c int) bool { return c > 0 }) },
		"_o_ge":           func(_, a, b any) any { return compare(a, b, func(c int) bool { return c >= 0 }) },
		"_o_put":          put,
		"_o_setpath":      o.setpath,
	} {
		list = append(list, gojq.WithFunction(name, 2, 2, func(v any, args []any) any { return f(v, args[0], args[1]) }))
	}
	return list
}

// keyIter goes through the keys of an object, or the indices of an array.
type keyIter struct {
	keys []string
	n, i int
}

func (k *keyIter) Next() (any, bool) {
	if k.i++; k.i > k.n {
		return nil, false
	}
	if k.keys != nil {
		return k.keys[k.i-1], true
	}
	return k.i - 1, true
}

func (o *order) walk(v any) gojq.Iter {
	switch v := v.(type) {
	case []any:
		return &keyIter{n: len(v)}
	case map[string]any:
		return &keyIter{keys: o.keys(v), n: len(v)}
	}
	return gojq.NewIter[any](faultf("%s has no keys", o.describe(v)))
}

// object tells an object from an array, for iterating.
func object(v any) any {
	_, ok := v.(map[string]any)
	return ok
}

func (o *order) list(v any) any {
	if list, ok := o.members(v); ok {
		return list
	}
	return faultf("Cannot iterate over %s", o.describe(v))
}

// ordered notes the order of an object that a construction with computed keys
// made.
func (o *order) ordered(v any, list []any) {
	m, ok := v.(map[string]any)
	if !ok {
		return
	}
	keys, seen := make([]string, 0, len(m)), make(map[string]bool, len(m))
	for _, k := range list {
		if s, ok := k.(string); ok && !seen[s] {
			seen[s] = true
			keys = append(keys, s)
		}
	}
	if same(m, keys) {
		o.remember(m, keys)
	}
}

func (o *order) tostring(v any) any {
	if s, ok := v.(string); ok {
		return s
	}
	return o.tojson(v)
}

func (o *order) tojson(v any) any {
	text, err := o.text(v, maxText)
	if err != nil {
		return err
	}
	return text
}

func (o *order) fromjson(ctx context.Context, v any) any {
	s, ok := v.(string)
	if !ok {
		return faultf("%s only strings can be parsed", o.describe(v))
	}
	got, err := parseOne(ctx, o, s)
	if err != nil {
		return err
	}
	return got
}

func (o *order) tonumber(ctx context.Context, v any) any {
	if _, ok := value(v); ok {
		return v
	}
	s, ok := v.(string)
	if !ok {
		return faultf("%s cannot be parsed as a number", o.describe(v))
	}
	got, err := parseOne(ctx, o, s)
	if err != nil {
		return err
	}
	if _, ok := value(got); !ok {
		return faultf("%s cannot be parsed as a number", o.describe(v))
	}
	return got
}

func put(v, path, x any) any {
	e := v.(*edit)
	if err := e.put(path.([]any), x); err != nil {
		return err
	}
	return e
}

// checkPath lets v through when it has the path, or null where it would be.
func (o *order) checkPath(v, path any) any {
	p, ok := path.([]any)
	if !ok {
		return fault("Path must be specified as an array")
	}
	at := v
	for _, k := range p {
		if at = o.index(at, k); isError(at) {
			return at
		}
	}
	return v
}

func (o *order) setpath(v, path, x any) any {
	p, ok := path.([]any)
	if !ok {
		return fault("Path must be specified as an array")
	}
	e := newEdit(o, v)
	if err := e.put(p, x); err != nil {
		return err
	}
	return e.done()
}

func (o *order) delpaths(v, paths any) any {
	list, ok := paths.([]any)
	if !ok {
		return fault("Paths must be specified as an array")
	}
	return o.remove(v, list)
}

// streamed builds values from the events of --stream.
type streamed struct {
	edit  *edit
	ready bool
}

func (s *streamed) add(event any) any {
	if s.ready {
		s.edit, s.ready = newEdit(s.edit.order, nil), false
	}
	list, ok := event.([]any)
	if !ok || len(list) == 0 {
		return fault("Invalid streaming format")
	}
	path, ok := list[0].([]any)
	if !ok {
		return fault("Invalid streaming format")
	}
	if len(list) > 1 {
		if err := s.edit.put(path, list[1]); err != nil {
			return err
		}
	}
	s.ready = len(list) > 1 && len(path) == 0 || len(list) == 1 && len(path) == 1
	return s
}

// fromEntries makes an object of {key, value} objects. As in jq, several other
// names stand for both.
func (o *order) fromEntries(v any) any {
	list, ok := o.members(v)
	if !ok {
		return faultf("Cannot iterate over %s", o.describe(v))
	}
	m, keys := make(map[string]any, len(list)), make([]string, 0, len(list))
	for _, entry := range list {
		e, ok := entry.(map[string]any)
		if !ok && entry != nil {
			return cannotIndex(entry, "key")
		}
		k := e["key"]
		for _, name := range [...]string{"k", "name", "Name", "K", "Key"} {
			if k == nil {
				k = e[name]
			}
		}
		var x any
		for _, name := range [...]string{"value", "v", "Value", "V"} {
			if got, have := e[name]; have {
				x = got
				break
			}
		}
		switch k.(type) {
		case []any, map[string]any:
			return faultf("Cannot use %s as object key", o.describe(k))
		}
		key, _ := o.tostring(k).(string)
		if _, have := m[key]; !have {
			keys = append(keys, key)
		}
		m[key] = x
	}
	o.remember(m, keys)
	return m
}

// captures makes an object of the named groups of a match.
func (o *order) captures(v any) any {
	found, _ := v.(map[string]any)
	list, _ := found["captures"].([]any)
	m, keys := map[string]any{}, []string{}
	for _, c := range list {
		c, _ := c.(map[string]any)
		if name, ok := c["name"].(string); ok {
			if _, have := m[name]; !have {
				keys = append(keys, name)
			}
			m[name] = c["string"]
		}
	}
	o.remember(m, keys)
	return m
}

var htmlEscape = strings.NewReplacer("<", "&lt;", ">", "&gt;", "&", "&amp;", "'", "&#39;", `"`, "&quot;")

func (o *order) base32d(v any) any {
	s := strings.TrimRight(v.(string), "=")
	b, err := base32.StdEncoding.WithPadding(base32.NoPadding).DecodeString(s)
	if err != nil {
		return faultf("%s is not valid base32 data", o.describe(v))
	}
	return strings.ToValidUTF8(string(b), "\uFFFD")
}

// words gives a runtime message of gojq in jq's words, for catch.
func words(v any) any {
	if s, ok := v.(string); ok {
		return wording(s)
	}
	return v
}

func lgammaR(v any) any {
	f, ok := gojq.ToFloat64(v)
	if !ok {
		return fmt.Errorf("lgamma_r cannot be applied to: %s (%s)", gojq.TypeOf(v), gojq.Preview(v))
	}
	g, sign := math.Lgamma(f)
	return []any{g, sign}
}
