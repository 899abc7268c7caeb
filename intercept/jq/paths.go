package jq

import (
	"encoding/json"
	"math"
	"math/big"
	"slices"

	"github.com/itchyny/gojq"
)

// maxIndex bounds the arrays that an assignment makes.
const maxIndex = 1 << 24

// edit changes one value in several steps. What it has copied once it changes
// in place from then on, so that updating all members of an array takes time
// in its length and not in its square. Objects keep their order: a key that is
// set again keeps its place, a new one goes to the end.
type edit struct {
	order *order
	root  any
	maps  map[uintptr]*odd  // copies that belong to this edit
	lists map[*any]struct{} // by their first element

	dropped []any // paths to delete in the end
}

func newEdit(o *order, root any) *edit {
	return &edit{order: o, root: root, maps: map[uintptr]*odd{}, lists: map[*any]struct{}{}}
}

// done is the changed value, or an error.
func (e *edit) done() any {
	for _, m := range e.maps {
		e.order.remember(m.m, m.keys)
	}
	clear(e.maps)
	clear(e.lists)
	if len(e.dropped) > 0 {
		return e.order.remove(e.root, e.dropped)
	}
	return e.root
}

// get is the value at a path. What it hands out is not changed any more.
func (e *edit) get(path []any) any {
	v := e.root
	for _, k := range path {
		if v = e.order.index(v, k); isError(v) {
			return v
		}
	}
	e.release(v)
	return v
}

func (e *edit) release(v any) {
	switch v := v.(type) {
	case map[string]any:
		m, ours := e.maps[identity(v)]
		if !ours {
			return
		}
		e.order.remember(m.m, m.keys)
		delete(e.maps, identity(v))
		for _, x := range v {
			e.release(x)
		}
	case []any:
		if len(v) == 0 {
			return
		}
		if _, ours := e.lists[&v[0]]; ours {
			delete(e.lists, &v[0])
			for _, x := range v {
				e.release(x)
			}
		}
	}
}

// put sets the value at a path.
func (e *edit) put(path []any, v any) error {
	if len(path) > maxDepth {
		return errTooDeep
	}
	root, err := e.set(e.root, path, v)
	if err == nil {
		e.root = root
	}
	return err
}

func (e *edit) set(at any, path []any, v any) (any, error) {
	if len(path) == 0 {
		return v, nil
	}
	key := path[0]
	if n, ok := value(key); ok {
		key = n
	}
	switch key := key.(type) {
	case string:
		if m, ok := at.(map[string]any); ok || at == nil {
			child, err := e.set(m[key], path[1:], v)
			if err != nil {
				return nil, err
			}
			return e.setKey(m, key, child), nil
		}
	case int, float64, *big.Int:
		if list, ok := at.([]any); ok || at == nil {
			return e.setIndex(list, key, path[1:], v)
		}
	case map[string]any:
		if list, ok := at.([]any); ok || at == nil {
			return e.setSlice(list, key, path[1:], v)
		}
	default:
		if at == nil {
			return nil, faultf("Invalid path component: %s", e.order.describe(key))
		}
	}
	return nil, cannotIndex(at, path[0])
}

func (e *edit) setKey(m map[string]any, key string, v any) any {
	own := e.maps[identity(m)]
	if own == nil || m == nil {
		c := make(map[string]any, len(m)+1)
		for k, x := range m {
			c[k] = x
		}
		own = &odd{c, slices.Clone(e.order.keys(m))}
		e.maps[identity(c)] = own
	}
	if _, have := own.m[key]; !have {
		own.keys = append(own.keys, key)
	}
	own.m[key] = v
	return own.m
}

func (e *edit) setIndex(list []any, key any, rest []any, v any) (any, error) {
	i, _ := gojq.ToInt(key)
	if f, ok := key.(float64); ok {
		i, _ = gojq.ToInt(math.Floor(f))
	}
	if i < 0 {
		if i += len(list); i < 0 {
			return nil, fault("Out of bounds negative array index")
		}
	}
	if i > maxIndex && i >= len(list) {
		return nil, fault("Array index too large")
	}
	var old any
	if i < len(list) {
		old = list[i]
	}
	child, err := e.set(old, rest, v)
	if err != nil {
		return nil, err
	}
	ours := false
	if len(list) > 0 {
		_, ours = e.lists[&list[0]]
	}
	if !ours {
		list = slices.Clone(list)
	}
	for len(list) <= i {
		list = append(list, nil)
	}
	list[i] = child
	e.lists[&list[0]] = struct{}{} // growing may have moved it
	return list, nil
}

func (e *edit) setSlice(list []any, spec map[string]any, rest []any, v any) (any, error) {
	from, to, err := bounds(len(list), spec)
	if err != nil {
		return nil, err
	}
	var old any
	if list != nil {
		old = slices.Clone(list[from:to])
	}
	child, err := e.set(old, rest, v)
	if err != nil {
		return nil, err
	}
	part, ok := child.([]any)
	if !ok {
		return nil, fault("A slice of an array can only be assigned another array")
	}
	return slices.Concat(list[:from], part, list[to:]), nil
}

// bounds reads a slice's {"start", "end"}.
func bounds(n int, spec map[string]any) (from, to int, err error) {
	read := func(key string, missing int, round func(float64) float64) (int, bool) {
		v := spec[key]
		if v == nil {
			return missing, true
		}
		f, ok := gojq.ToFloat64(v)
		if f < 0 {
			f += float64(n)
		}
		return int(min(max(round(f), 0), float64(n))), ok && !math.IsNaN(f)
	}
	from, ok1 := read("start", 0, math.Floor)
	to, ok2 := read("end", n, math.Ceil)
	if !ok1 || !ok2 {
		return 0, 0, fault("Start and end indices of an array slice must be numbers")
	}
	return from, max(from, to), nil
}

// index is v[key], or an error.
func (o *order) index(v, key any) any {
	if n, ok := value(key); ok {
		key = n
	}
	switch key := key.(type) {
	case string:
		if m, ok := v.(map[string]any); ok {
			return m[key]
		}
	case int, float64, *big.Int:
		if list, ok := v.([]any); ok {
			i, _ := gojq.ToInt(key)
			if i < 0 {
				i += len(list)
			}
			if i < 0 || i >= len(list) {
				return nil
			}
			return list[i]
		}
	case map[string]any:
		if list, ok := v.([]any); ok {
			from, to, err := bounds(len(list), key)
			if err != nil {
				return err
			}
			return list[from:to:to]
		}
	default:
		return cannotIndex(v, key)
	}
	if v == nil {
		return nil
	}
	return cannotIndex(v, key)
}

// remove deletes paths, which are taken to be of the value as it is.
func (o *order) remove(v any, paths []any) any {
	for _, p := range paths {
		if _, ok := p.([]any); !ok {
			return faultf("Path must be specified as array, not %s", gojq.TypeOf(p))
		}
	}
	if _, err := weigh(paths); err != nil {
		return err
	}
	paths = slices.Clone(paths)
	slices.SortStableFunc(paths, gojq.Compare)
	if len(paths) == 0 {
		return v
	}
	if len(paths[0].([]any)) == 0 {
		return nil
	}
	e := newEdit(o, v)
	out, err := e.removeSorted(v, paths, 0)
	if err != nil {
		return err
	}
	e.root = out
	return e.done()
}

func (e *edit) removeSorted(v any, paths []any, depth int) (any, error) {
	var gone []any
	for i := 0; i < len(paths); {
		path := paths[i].([]any)
		key, j := path[depth], i+1
		for j < len(paths) && gojq.Compare(paths[j].([]any)[depth], key) == 0 {
			j++
		}
		if len(path) == depth+1 {
			gone = append(gone, key)
			i = j
			continue
		}
		child := e.order.index(v, key)
		if err, bad := child.(error); bad {
			return nil, err
		}
		if child != nil {
			child, err := e.removeSorted(child, paths[i:j], depth+1)
			if err != nil {
				return nil, err
			}
			if v, err = e.set(v, []any{key}, child); err != nil {
				return nil, err
			}
		}
		i = j
	}
	if len(gone) == 0 || v == nil {
		return v, nil
	}
	switch v := v.(type) {
	case map[string]any:
		return e.dropKeys(v, gone)
	case []any:
		return dropElements(v, gone)
	}
	return nil, faultf("Cannot delete fields from %s", gojq.TypeOf(v))
}

func (e *edit) dropKeys(m map[string]any, gone []any) (any, error) {
	drop := make(map[string]bool, len(gone))
	for _, k := range gone {
		s, ok := k.(string)
		if !ok {
			return nil, cannotIndex(m, k)
		}
		drop[s] = true
	}
	old := e.order.keys(m)
	if own := e.maps[identity(m)]; own != nil {
		old = own.keys
	}
	c := &odd{make(map[string]any, len(m)), make([]string, 0, len(m))}
	for _, k := range old {
		if !drop[k] {
			c.m[k] = m[k]
			c.keys = append(c.keys, k)
		}
	}
	e.maps[identity(c.m)] = c
	return c.m, nil
}

func dropElements(list []any, gone []any) (any, error) {
	drop := make([]bool, len(list))
	for _, k := range gone {
		switch k := k.(type) {
		case int, float64, *big.Int, json.Number:
			i, _ := gojq.ToInt(k)
			if i < 0 {
				i += len(list)
			}
			if i >= 0 && i < len(list) {
				drop[i] = true
			}
		case map[string]any:
			from, to, err := bounds(len(list), k)
			if err != nil {
				return nil, err
			}
			for i := from; i < to; i++ {
				drop[i] = true
			}
		default:
			return nil, cannotIndex(list, k)
		}
	}
	left := make([]any, 0, len(list))
	for i, x := range list {
		if !drop[i] {
			left = append(left, x)
		}
	}
	return left, nil
}
