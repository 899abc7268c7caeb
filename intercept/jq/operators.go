package jq

import (
	"context"
	"encoding/json"
	"math"
	"math/big"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/itchyny/gojq"
)

// add is l + r.
func (o *order) add(l, r any) any {
	switch l := l.(type) {
	case nil:
		return r
	case string:
		if r, ok := r.(string); ok {
			if len(l)+len(r) > maxText {
				return errTextTooLong
			}
			return l + r
		}
	case []any:
		if r, ok := r.([]any); ok {
			if len(l)+len(r) > maxElements {
				return errListTooLong
			}
			return append(l[:len(l):len(l)], r...)
		}
	case map[string]any:
		if r, ok := r.(map[string]any); ok {
			return o.union(l, r)
		}
	case int, float64, *big.Int, json.Number:
		if y, ok := value(r); ok {
			x, _ := value(l)
			return plus(x, y)
		}
	}
	if r == nil {
		return l
	}
	return faultf("%s and %s cannot be added", o.describe(l), o.describe(r))
}

// subtract is l - r.
func (o *order) subtract(l, r any) any {
	if x, ok := value(l); ok {
		if y, ok := value(r); ok {
			return plus(x, negative(y))
		}
	}
	a, ok1 := l.([]any)
	b, ok2 := r.([]any)
	if !ok1 || !ok2 {
		return faultf("%s and %s cannot be subtracted", o.describe(l), o.describe(r))
	}
	if _, err := weigh(b); err != nil {
		return err
	}
	b = slices.SortedFunc(slices.Values(b), gojq.Compare)
	left := []any{}
	for _, x := range a {
		if _, gone := slices.BinarySearchFunc(b, x, gojq.Compare); !gone {
			left = append(left, x)
		}
	}
	return left
}

// negated is -v. Of 0 it is the other zero, as of every double.
func (o *order) negated(v any) any {
	n, ok := value(v)
	if !ok {
		return faultf("%s cannot be negated", o.describe(v))
	}
	if n == 0 {
		return math.Copysign(0, -1)
	}
	return negative(n)
}

// multiply is l * r.
func (o *order) multiply(ctx context.Context, l, r any) any {
	x, ok1 := value(l)
	y, ok2 := value(r)
	switch {
	case ok1 && ok2:
		return times(x, y)
	case ok1:
		l, r, y, ok2 = r, l, x, true
	}
	if s, ok := l.(string); ok && ok2 {
		return repeated(s, y)
	}
	a, ok1 := l.(map[string]any)
	b, ok2 := r.(map[string]any)
	if !ok1 || !ok2 {
		return faultf("%s and %s cannot be multiplied", o.describe(l), o.describe(r))
	}
	if err := comparable(l, r); err != nil {
		return err
	}
	m, err := o.deep(ctx, a, b)
	if err != nil {
		return err
	}
	return m
}

// repeated is a string times a number: null when that is not above 0.
func repeated(s string, times any) any {
	n, _ := gojq.ToFloat64(times)
	switch {
	case !(n >= 0):
		return nil
	case s == "":
		return s
	case n*float64(len(s)) > maxText:
		return errTextTooLong
	}
	return strings.Repeat(s, int(n))
}

// divide is l / r.
func (o *order) divide(l, r any) any {
	x, ok1 := value(l)
	y, ok2 := value(r)
	if ok1 && ok2 {
		q := quotient(x, y)
		if q == nil {
			return faultf("%s and %s cannot be divided because the divisor is zero", o.describe(l), o.describe(r))
		}
		return q
	}
	s, ok1 := l.(string)
	sep, ok2 := r.(string)
	if !ok1 || !ok2 {
		return faultf("%s and %s cannot be divided", o.describe(l), o.describe(r))
	}
	return split(s, sep)
}

// split is a string cut at each sep, or into its characters.
func split(s, sep string) any {
	if s == "" {
		return []any{}
	}
	if n := len(s) / max(len(sep), 1); n > maxElements && strings.Count(s, sep) > maxElements {
		return errListTooLong
	}
	parts := strings.Split(s, sep)
	list := make([]any, len(parts))
	for i, p := range parts {
		list[i] = p
	}
	return list
}

// union is one object after the other.
func (o *order) union(maps ...map[string]any) any {
	all, keys := make(map[string]any, len(maps[0])), make([]string, 0, len(maps[0]))
	for _, m := range maps {
		for _, k := range o.keys(m) {
			if _, have := all[k]; !have {
				keys = append(keys, k)
			}
			all[k] = m[k]
		}
		if len(all) > maxElements {
			return fault("the object has too many keys")
		}
	}
	o.remember(all, keys)
	return all
}

// sum adds up the members of an array or object. Runs of one type are added at
// once.
func (o *order) sum(ctx context.Context, v any) any {
	list, ok := o.members(v)
	if !ok {
		return faultf("Cannot iterate over %s", o.describe(v))
	}
	var total any
	for i := 0; i < len(list) && !isError(total); {
		part, n := o.sumRun(ctx, list[i:])
		if !isError(part) {
			part = o.add(total, part)
		}
		total = part
		i += n
	}
	return total
}

// sumRun adds up the first members that have the type of the very first, and
// counts them.
func (o *order) sumRun(ctx context.Context, list []any) (any, int) {
	switch list[0].(type) {
	case string:
		var b strings.Builder
		n := runOf(list, func(s string) bool {
			b.WriteString(s)
			return b.Len() <= maxText
		})
		if b.Len() > maxText {
			return errTextTooLong, n
		}
		return b.String(), n
	case []any:
		all := []any{}
		n := runOf(list, func(l []any) bool {
			all = append(all, l...)
			return len(all) <= maxElements
		})
		if len(all) > maxElements {
			return errListTooLong, n
		}
		return all, n
	case map[string]any:
		var maps []map[string]any
		n := runOf(list, func(m map[string]any) bool {
			maps = append(maps, m)
			return len(maps) < 1024 && ctx.Err() == nil
		})
		if n > 1 {
			return o.union(maps...), n
		}
	}
	return list[0], 1
}

// runOf hands out the members up to the first of another type, or until each
// has enough, and counts them.
func runOf[T any](list []any, each func(T) bool) int {
	for i, v := range list {
		t, ok := v.(T)
		if !ok {
			return i
		}
		if !each(t) {
			return i + 1
		}
	}
	return len(list)
}

// deep is l * r of two objects.
func (o *order) deep(ctx context.Context, l, r map[string]any) (any, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	both := o.union(l, r)
	all, ok := both.(map[string]any)
	if !ok {
		return nil, both.(error)
	}
	for k, x := range r {
		a, ok1 := l[k].(map[string]any)
		b, ok2 := x.(map[string]any)
		if ok1 && ok2 {
			child, err := o.deep(ctx, a, b)
			if err != nil {
				return nil, err
			}
			all[k] = child
		}
	}
	return all, nil
}

// contains is the function of that name.
func (r *run) contains(v, x any) any {
	_, ok1 := v.(bool)
	_, ok2 := x.(bool)
	if gojq.TypeOf(v) != gojq.TypeOf(x) || ok1 && ok2 && v != x {
		return faultf("%s and %s cannot have their containment checked", r.order.describe(v), r.order.describe(x))
	}
	if err := comparable(v, x); err != nil {
		return err
	}
	return within(r.ctx, v, x)
}

// within is whether l has all of r in it: r itself, a part of a string, an
// element of an array for each of r's, a member of an object for each of r's.
// It is an error once ctx is done.
func within(ctx context.Context, l, r any) any {
	switch b := r.(type) {
	case string:
		if a, ok := l.(string); ok {
			return strings.Contains(a, b)
		}
	case []any:
		a, ok := l.([]any)
		if !ok {
			break
		}
		for _, y := range b {
			found := false
			for _, x := range a {
				if err := ctx.Err(); err != nil {
					return err
				}
				if gojq.TypeOf(x) != gojq.TypeOf(y) {
					continue
				}
				switch c := within(ctx, x, y).(type) {
				case error:
					return c
				case bool:
					found = c
				}
				if found {
					break
				}
			}
			if !found {
				return false
			}
		}
		return true
	case map[string]any:
		a, ok := l.(map[string]any)
		if !ok {
			break
		}
		for k, y := range b {
			x, have := a[k]
			if !have || gojq.TypeOf(x) != gojq.TypeOf(y) {
				return false
			}
			if c := within(ctx, x, y); c != true {
				return c
			}
		}
		return true
	}
	return gojq.Compare(l, r) == 0
}

// places are where x stands in v: a text in a text, counted in characters,
// elements one after the other in an array, or a single element.
func (r *run) places(v, x any) any {
	found := []any{}
	if s, ok := v.(string); ok {
		part, ok := x.(string)
		if !ok {
			return cannotIndex(v, x)
		}
		at := runes{s: s}
		for from := 0; part != ""; {
			i := strings.Index(s[from:], part)
			if err := r.ctx.Err(); err != nil {
				return err
			}
			if i < 0 {
				break
			}
			found = append(found, at.count(from+i))
			_, width := utf8.DecodeRuneInString(s[from+i:])
			from += i + width
		}
		return found
	}
	list := v.([]any)
	part, ok := x.([]any)
	if !ok {
		part = []any{x}
	}
	if _, err := weigh(part); err != nil {
		return err
	}
	for i := 0; len(part) > 0 && i <= len(list)-len(part); i++ {
		if err := r.ctx.Err(); err != nil {
			return err
		}
		if slices.EqualFunc(list[i:i+len(part)], part, func(a, b any) bool { return gojq.Compare(a, b) == 0 }) {
			found = append(found, i)
		}
	}
	return found
}

// splitText is v cut at each sep.
func splitText(v, sep any) any {
	s, ok1 := v.(string)
	at, ok2 := sep.(string)
	if !ok1 || !ok2 {
		return fault("split input and separator must be strings")
	}
	return split(s, at)
}
