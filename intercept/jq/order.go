package jq

import (
	"hash/maphash"
	"reflect"
	"slices"
)

// order knows in which order the keys of every object stand.
//
// gojq keeps objects as Go maps, which have no order. Nearly all objects that
// have the same keys have them in the same order, so the order is kept once
// for each set of keys (a shape), as it was first seen. Only an object in
// another order is remembered by itself, by the identity of its map. That
// keeps a stream of alike objects in bounded memory.
type order struct {
	seed   maphash.Seed
	shapes map[uint64][]string
	room   int // for keys in shapes

	fixed        map[uintptr]odd // of values that live as long as the program
	recent, past map[uintptr]odd // two generations: the older one is dropped
	held         int             // keys in recent
	settled      bool            // the program runs: nothing new is fixed

	rank map[string]int // of keys, by their first appearance
}

// odd is an object whose order is not that of its shape. It keeps the map
// alive, so that no other can get its address.
type odd struct {
	m    map[string]any
	keys []string
}

// The bounds of what is remembered, in keys.
const (
	maxShapeKeys = 1 << 16
	maxOddKeys   = 1 << 18
	maxRanked    = 1 << 14
)

func newOrder() *order {
	return &order{
		seed: maphash.MakeSeed(), shapes: map[uint64][]string{}, room: maxShapeKeys,
		fixed: map[uintptr]odd{}, recent: map[uintptr]odd{}, rank: map[string]int{},
	}
}

func identity(m map[string]any) uintptr { return reflect.ValueOf(m).Pointer() }

// remember notes that m has its keys in this order. keys must not change
// afterwards.
func (o *order) remember(m map[string]any, keys []string) {
	if len(keys) < 2 {
		return
	}
	if o.shape(keys) {
		return
	}
	if !o.settled {
		o.fixed[identity(m)] = odd{m, keys}
		return
	}
	if o.held += len(keys); o.held > maxOddKeys {
		o.past, o.recent, o.held = o.recent, map[uintptr]odd{}, len(keys)
	}
	o.recent[identity(m)] = odd{m, keys}
}

// shape reports whether keys stand in the order of their shape. The first
// order seen becomes the shape's.
func (o *order) shape(keys []string) bool {
	var h uint64
	for _, k := range keys {
		h += maphash.String(o.seed, k)
	}
	if known, ok := o.shapes[h]; ok {
		return slices.Equal(known, keys)
	}
	if len(keys) > o.room {
		return false
	}
	o.room -= len(keys)
	o.shapes[h] = keys
	for _, k := range keys {
		if _, ok := o.rank[k]; !ok && len(o.rank) < maxRanked {
			o.rank[k] = len(o.rank)
		}
	}
	return true
}

// keys lists the keys of m in their order. The result must not be changed.
func (o *order) keys(m map[string]any) []string {
	if len(m) < 2 {
		for k := range m {
			return []string{k}
		}
		return nil
	}
	id := identity(m)
	for _, known := range [...]map[uintptr]odd{o.recent, o.past, o.fixed} {
		if e, ok := known[id]; ok && same(m, e.keys) {
			return e.keys
		}
	}
	var h uint64
	for k := range m {
		h += maphash.String(o.seed, k)
	}
	if known, ok := o.shapes[h]; ok && same(m, known) {
		return known
	}
	return o.guess(m)
}

// guess orders an object that gojq made behind our back, or whose order had to
// be dropped: by the first appearance of its keys, then by name.
func (o *order) guess(m map[string]any) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	at := func(k string) int {
		if r, ok := o.rank[k]; ok {
			return r
		}
		return maxRanked
	}
	slices.SortStableFunc(keys, func(a, b string) int { return at(a) - at(b) })
	return keys
}

// forget drops what belongs to one input, once its results are printed.
func (o *order) forget() {
	if len(o.recent) > 0 {
		clear(o.recent)
	}
	o.past, o.held = nil, 0
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

// members lists the values of an array or of an object, in order.
func (o *order) members(v any) ([]any, bool) {
	switch v := v.(type) {
	case []any:
		return v, true
	case map[string]any:
		list := make([]any, 0, len(v))
		for _, k := range o.keys(v) {
			list = append(list, v[k])
		}
		return list, true
	}
	return nil, false
}
