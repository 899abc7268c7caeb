package jq

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/itchyny/gojq"
)

// rewriter changes a parsed program in place so that it runs on gojq with jq's
// order of keys and jq's messages:
//
//   - .[] goes through an object in its order,
//   - assignments, + and * keep it, and so do object constructions,
//   - text made of a value shows it,
//   - .a and .[0] say what they cannot index,
//   - number literals keep their digits.
//
// The functions that it calls are the prelude's and those of functions.go.
type rewriter struct {
	order  *order
	funcs  []gojq.CompilerOption // made for this program
	checks map[any]string        // names of those that check an index
	vars   int
	text   string // of the program, from the last $__loc__ on
	line   int    // where that begins
	nodes  int    // of the tree, seen so far
}

func newRewriter(o *order) *rewriter { return &rewriter{order: o, checks: map[any]string{}} }

func call(name string, args ...*gojq.Query) *gojq.Term {
	return &gojq.Term{Type: gojq.TermTypeFunc, Func: &gojq.Func{Name: name, Args: args}}
}

func of(t *gojq.Term) *gojq.Query { return &gojq.Query{Term: t} }

func pipe(l, r *gojq.Query) *gojq.Query { return &gojq.Query{Left: l, Op: gojq.OpPipe, Right: r} }

// paren is a query as a term.
func paren(q *gojq.Query) *gojq.Term { return &gojq.Term{Type: gojq.TermTypeQuery, Query: q} }

// define adds a function of no arguments and gives its name.
func (w *rewriter) define(f func(v any) any) string {
	name := "_o_own_" + strconv.Itoa(len(w.funcs))
	w.funcs = append(w.funcs, gojq.WithFunction(name, 0, 0, func(v any, _ []any) any { return f(v) }))
	return name
}

// operators are the functions that stand for operators.
var operators = map[gojq.Operator]string{
	gojq.OpAdd:       "_o_add",
	gojq.OpSub:       "_o_sub",
	gojq.OpMul:       "_o_mul",
	gojq.OpDiv:       "_o_div",
	gojq.OpEq:        "_o_eq",
	gojq.OpNe:        "_o_ne",
	gojq.OpLt:        "_o_lt",
	gojq.OpLe:        "_o_le",
	gojq.OpGt:        "_o_gt",
	gojq.OpGe:        "_o_ge",
	gojq.OpAssign:    "_o_assign",
	gojq.OpModify:    "_o_modify",
	gojq.OpUpdateAdd: "_o_update_add",
	gojq.OpUpdateSub: "_o_update_sub",
	gojq.OpUpdateMul: "_o_update_mul",
	gojq.OpUpdateDiv: "_o_update_div",
	gojq.OpUpdateMod: "_o_update_mod",
	gojq.OpUpdateAlt: "_o_update_alt",
}

// maxNodes bounds the tree of a program: the compiler is recursive, and slow
// on huge ones.
const maxNodes = 40_000

// tooLarge is panicked with and caught in compile.
const tooLarge = fault("the program is too large")

func (w *rewriter) count(n int) {
	if w.nodes += n; w.nodes > maxNodes {
		panic(tooLarge)
	}
}

func (w *rewriter) query(q *gojq.Query) {
	if q == nil {
		return
	}
	w.count(1)
	for _, fd := range q.FuncDefs {
		w.query(fd.Body)
	}
	if q.Term != nil {
		q.Term = w.term(q.Term)
		return
	}
	w.query(q.Left)
	w.query(q.Right)
	w.patterns(q.Patterns)
	if name, ok := operators[q.Op]; ok && q.Left != nil && q.Right != nil {
		q.Term = call(name, q.Left, q.Right)
		q.Left, q.Right, q.Op = nil, nil, 0
	}
}

func (w *rewriter) patterns(list []*gojq.Pattern) {
	w.count(len(list))
	for _, p := range list {
		w.patterns(p.Array)
		for _, o := range p.Object {
			w.str(o.KeyString, "text")
			w.query(o.KeyQuery)
			if o.Val != nil {
				w.patterns([]*gojq.Pattern{o.Val})
			}
		}
	}
}

// term gives what stands for a term and its suffixes.
func (w *rewriter) term(t *gojq.Term) *gojq.Term {
	suffixes := t.SuffixList
	t.SuffixList = nil
	w.count(1 + len(suffixes))
	cur := w.bare(t)
	for i := 0; i < len(suffixes); i++ {
		s := suffixes[i]
		optional := i+1 < len(suffixes) && suffixes[i+1].Optional
		var step *gojq.Term // of what comes before it
		switch {
		case s.Iter:
			step = call("_o_each")
		case s.Index != nil:
			w.index(s.Index)
			if check := w.check(s.Index); check != "" {
				step = call(check)
				step.SuffixList = []*gojq.Suffix{{Index: s.Index}}
			}
		}
		switch {
		case step != nil && optional:
			step = paren(of(step))
			step.SuffixList = []*gojq.Suffix{{Optional: true}}
			i++
			cur = paren(pipe(of(cur), of(step)))
		case step != nil:
			cur = paren(pipe(of(cur), of(step)))
		case s.Optional:
			cur.SuffixList = append(cur.SuffixList, s)
		default: // the words in brackets look at what the whole term looks at
			if len(cur.SuffixList) > 0 {
				cur = paren(of(cur))
			}
			cur.SuffixList = append(cur.SuffixList, s)
			if optional {
				cur.SuffixList = append(cur.SuffixList, suffixes[i+1])
				i++
			}
		}
	}
	return cur
}

// check names the function that says in jq's words why a constant index does
// not work; "" for another index.
func (w *rewriter) check(x *gojq.Index) string {
	var key any
	switch {
	case x.Name != "":
		key = x.Name
	case x.Str != nil && x.Str.Queries == nil:
		key = x.Str.Str
	case x.IsSlice || x.Start == nil || x.Start.Term == nil || len(x.Start.Term.SuffixList) > 0:
		return ""
	case x.Start.Term.Type == gojq.TermTypeNumber:
		key = 0 // all numbers fail alike
	case x.Start.Term.Type == gojq.TermTypeString && x.Start.Term.Str.Queries == nil:
		key = x.Start.Term.Str.Str
	default:
		return ""
	}
	if name, ok := w.checks[key]; ok {
		return name
	}
	_, byName := key.(string)
	name := w.define(func(v any) any {
		switch v.(type) {
		case nil:
			return v
		case map[string]any:
			if byName {
				return v
			}
		case []any:
			if !byName {
				return v
			}
		}
		return cannotIndex(v, key)
	})
	w.checks[key] = name
	return name
}

func (w *rewriter) index(x *gojq.Index) {
	w.str(x.Str, "text")
	for _, q := range [...]*gojq.Query{x.Start, x.End} {
		if q != nil && !constant(q.Term) {
			w.query(q)
		}
	}
	// An array as an index is looked for in the one that is indexed.
	if q := x.Start; q != nil && !x.IsSlice && !constant(q.Term) && !literal(q.Term) {
		x.Start = pipe(q, of(call("_o_passable")))
	}
}

// constant reports whether t is a number, with or without a minus sign. In an
// index it stays one: gojq knows constant indices by it.
func constant(t *gojq.Term) bool {
	if t != nil && t.Type == gojq.TermTypeUnary && len(t.SuffixList) == 0 {
		t = t.Unary.Term
	}
	return t != nil && t.Type == gojq.TermTypeNumber && len(t.SuffixList) == 0
}

// literal reports whether t is a string without interpolations.
func literal(t *gojq.Term) bool {
	return t != nil && t.Type == gojq.TermTypeString && t.Str.Queries == nil && len(t.SuffixList) == 0
}

// bare rewrites a term without suffixes.
func (w *rewriter) bare(t *gojq.Term) *gojq.Term {
	switch t.Type {
	case gojq.TermTypeIndex:
		w.index(t.Index)
		if check := w.check(t.Index); check != "" {
			c := call(check)
			c.SuffixList = []*gojq.Suffix{{Index: t.Index}}
			return paren(of(c))
		}
	case gojq.TermTypeFunc:
		if t.Func.Name == "$__loc__" {
			return w.location()
		}
		for _, a := range t.Func.Args {
			w.query(a)
		}
	case gojq.TermTypeObject:
		return w.object(t)
	case gojq.TermTypeArray:
		w.query(t.Array.Query)
	case gojq.TermTypeNumber:
		if n, ok := number([]byte(t.Number)); ok {
			if lit, ok := n.(json.Number); ok {
				return call(w.define(func(any) any { return lit }))
			}
		}
	case gojq.TermTypeUnary:
		if n := t.Unary.Term; constant(t) && n.Type == gojq.TermTypeNumber && strings.Trim(n.Number, "0.") != "" {
			break // a negative number
		}
		t.Unary.Term = w.term(t.Unary.Term)
		if t.Unary.Op == gojq.OpSub {
			return paren(pipe(of(t.Unary.Term), of(call("_o_negated"))))
		}
	case gojq.TermTypeFormat:
		return w.format(t)
	case gojq.TermTypeString:
		w.str(t.Str, "text")
	case gojq.TermTypeIf:
		w.query(t.If.Cond)
		w.query(t.If.Then)
		for _, e := range t.If.Elif {
			w.query(e.Cond)
			w.query(e.Then)
		}
		w.query(t.If.Else)
	case gojq.TermTypeTry:
		w.query(t.Try.Body)
		if t.Try.Catch != nil {
			w.query(t.Try.Catch)
			t.Try.Catch = pipe(of(call("_o_words")), t.Try.Catch)
		}
	case gojq.TermTypeReduce:
		w.query(t.Reduce.Query)
		w.patterns(t.Reduce.Patterns)
		w.query(t.Reduce.Start)
		w.query(t.Reduce.Update)
	case gojq.TermTypeForeach:
		w.query(t.Foreach.Query)
		w.patterns(t.Foreach.Patterns)
		w.query(t.Foreach.Start)
		w.query(t.Foreach.Update)
		w.query(t.Foreach.Extract)
	case gojq.TermTypeLabel:
		w.query(t.Label.Body)
	case gojq.TermTypeQuery:
		w.query(t.Query)
	}
	return t
}

// str formats the interpolations of a string and adds everything up.
func (w *rewriter) str(s *gojq.String, format string) {
	if s == nil || s.Queries == nil {
		return
	}
	var sum *gojq.Query
	for _, q := range s.Queries {
		if q.Term == nil || q.Term.Str == nil { // not literal text between two of them
			w.query(q)
			q = of(paren(pipe(q, of(formatted(format)))))
		}
		if sum == nil {
			sum = q
		} else {
			sum = of(call("_o_add", sum, q))
		}
	}
	s.Queries = []*gojq.Query{of(paren(sum))}
}

func formatted(format string) *gojq.Term {
	switch format {
	case "text":
		return call("_o_tostring")
	case "json":
		return call("_o_tojson")
	}
	return call("format", of(&gojq.Term{Type: gojq.TermTypeString, Str: &gojq.String{Str: format}}))
}

// format is @name, or @name "text with \(values)".
func (w *rewriter) format(t *gojq.Term) *gojq.Term {
	if t.Str == nil {
		return formatted(t.Format[1:])
	}
	w.str(t.Str, t.Format[1:])
	return &gojq.Term{Type: gojq.TermTypeString, Str: t.Str}
}

// object is an object construction. One with constant keys gives its order to
// all objects that have these keys, unless another has done so; then, and when
// a key is computed, the order is noted each time it is built.
func (w *rewriter) object(t *gojq.Term) *gojq.Term {
	var keys []string
	have := map[string]bool{}
	constant := true
	w.count(len(t.Object.KeyVals))
	for _, kv := range t.Object.KeyVals {
		key := kv.Key
		switch {
		case kv.KeyString != nil && kv.KeyString.Queries == nil:
			key = kv.KeyString.Str
		case key == "" || key[0] == '$' && kv.Val != nil:
			constant = false
		case key == "$__loc__":
			kv.Key, kv.Val = "__loc__", of(w.location())
			key = kv.Key
		case key[0] == '$':
			key = key[1:]
		}
		w.str(kv.KeyString, "text")
		w.query(kv.KeyQuery)
		w.query(kv.Val)
		if !have[key] {
			have[key] = true
			keys = append(keys, key)
		}
	}
	if !constant {
		return w.computed(t.Object)
	}
	if len(keys) < 2 || w.order.shape(keys) {
		return t
	}
	note := w.define(func(v any) any {
		if m, ok := v.(map[string]any); ok {
			w.order.remember(m, keys)
		}
		return v
	})
	return paren(pipe(of(t), of(call(note))))
}

// computed binds the keys and values of a construction one after the other,
// as it would evaluate them, builds the object and notes its order:
//
//	K1 as $k1 | V1 as $v1 | {$k1: $v1} | _o_ordered([$k1])
func (w *rewriter) computed(o *gojq.Object) *gojq.Term {
	type binding struct {
		name  string
		value *gojq.Query
	}
	var bound []binding
	bind := func(q *gojq.Query) *gojq.Query {
		w.vars++
		name := "$_o_" + strconv.Itoa(w.vars)
		bound = append(bound, binding{name, q})
		return of(call(name))
	}
	str := func(s *gojq.String) *gojq.Query { return of(&gojq.Term{Type: gojq.TermTypeString, Str: s}) }
	built := &gojq.Object{}
	var keys *gojq.Query
	for _, kv := range o.KeyVals {
		var key *gojq.Query
		val := kv.Val
		switch {
		case kv.KeyQuery != nil:
			key = bind(kv.KeyQuery)
		case kv.KeyString != nil:
			key = bind(str(kv.KeyString))
		case kv.Key[0] == '$' && val != nil:
			key = of(call(kv.Key))
		case kv.Key[0] == '$':
			key, val = str(&gojq.String{Str: kv.Key[1:]}), of(call(kv.Key))
		default:
			key = str(&gojq.String{Str: kv.Key})
		}
		if val == nil { // {"a b"} is {"a b": .["a b"]}
			val = of(&gojq.Term{Type: gojq.TermTypeIndex, Index: &gojq.Index{Start: key}})
		}
		built.KeyVals = append(built.KeyVals, &gojq.ObjectKeyVal{KeyQuery: key, Val: bind(val)})
		if keys == nil {
			keys = key
		} else {
			keys = &gojq.Query{Left: keys, Op: gojq.OpComma, Right: key}
		}
	}
	list := &gojq.Term{Type: gojq.TermTypeArray, Array: &gojq.Array{Query: keys}}
	q := pipe(of(&gojq.Term{Type: gojq.TermTypeObject, Object: built}), of(call("_o_ordered", of(list))))
	for _, b := range slices.Backward(bound) {
		q = &gojq.Query{Left: b.value, Op: gojq.OpPipe, Patterns: []*gojq.Pattern{{Name: b.name}}, Right: q}
	}
	return paren(q)
}
