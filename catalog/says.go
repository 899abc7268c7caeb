package catalog

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/url"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// stringness is whether a schema says that a value is a string.
type stringness int

const (
	notSaid  stringness = iota
	isString            // nothing but strings, and null
	isOther
	isNull   // null and nothing else
	circular // it only refers to itself, so it says nothing that counts
)

// shape decodes the schema, once, for the typing of pairs.
func (t *Tool) shape() (doc map[string]any, props *index[string]) {
	c := &t.derived
	c.shapeOnce.Do(func() {
		dec := json.NewDecoder(bytes.NewReader(t.InputSchema))
		dec.UseNumber()
		if dec.Decode(&c.doc) != nil {
			c.doc = nil // no object: it says nothing of properties
		}
		names := map[string]bool{}
		collect(c.doc, c.doc, names, map[uintptr]bool{})
		c.props = newIndex[string](len(names))
		for name := range names {
			c.props.add(name, name)
		}
		slices.Sort(c.props.names)
	})
	return c.doc, c.props
}

// key resolves a typed key against the schema's properties and says whether
// its value is a string. An unknown key passes as it is. why is not empty when
// the key could mean several properties.
func (t *Tool) key(typed string) (name string, spec stringness, why string) {
	doc, props := t.shape()
	name = typed
	if _, ok := props.exact[name]; !ok {
		name = strings.ReplaceAll(typed, "-", "_")
	}
	if _, ok := props.exact[name]; !ok {
		name = typed
		var found []string
		for _, p := range props.names {
			if joined(p) == joined(typed) {
				found = append(found, p)
			}
		}
		if len(found) > 1 {
			return "", notSaid, fmt.Sprintf("the key %s could mean %s; type it exactly", clip(typed), strings.Join(found, " or "))
		}
		if len(found) == 1 {
			name = found[0]
		}
	}
	a := asker{root: doc, name: name, ofValue: map[uintptr]stringness{}, ofProperty: map[uintptr]stringness{}}
	return name, a.property(doc), ""
}

// joined is a key without case, hyphens and underscores.
func joined(s string) string {
	return strings.ToLower(strings.NewReplacer("-", "", "_", "").Replace(s))
}

// collect gathers the property names of a schema, through references and
// combinations.
func collect(root, s map[string]any, names map[string]bool, seen map[uintptr]bool) {
	if s == nil || seen[id(s)] {
		return
	}
	seen[id(s)] = true
	if props, ok := s["properties"].(map[string]any); ok {
		for name := range props {
			names[name] = true
		}
	}
	if ref, ok := s["$ref"].(string); ok {
		collect(root, follow(root, ref), names, seen)
	}
	for _, k := range []string{"allOf", "anyOf", "oneOf"} {
		for _, sub := range subschemas(s[k]) {
			collect(root, sub, names, seen)
		}
	}
}

func id(s map[string]any) uintptr { return reflect.ValueOf(s).Pointer() }

// subschemas are the schemas of an allOf, anyOf or oneOf. true is a schema that
// says nothing; false is one that nothing meets, so it adds nothing.
func subschemas(v any) []map[string]any {
	list, _ := v.([]any)
	var out []map[string]any
	for _, x := range list {
		switch x := x.(type) {
		case map[string]any:
			out = append(out, x)
		case bool:
			if x {
				out = append(out, map[string]any{})
			}
		}
	}
	return out
}

// follow resolves a reference inside the schema: a JSON pointer or an anchor.
func follow(root map[string]any, ref string) map[string]any {
	fragment, ok := strings.CutPrefix(ref, "#")
	if !ok {
		return nil
	}
	if decoded, err := url.PathUnescape(fragment); err == nil {
		fragment = decoded
	}
	if fragment == "" {
		return root
	}
	pointer, ok := strings.CutPrefix(fragment, "/")
	if !ok {
		return anchor(root, fragment)
	}
	var at any = root
	for part := range strings.SplitSeq(pointer, "/") {
		switch x := at.(type) {
		case map[string]any:
			at = x[strings.NewReplacer("~1", "/", "~0", "~").Replace(part)]
		case []any:
			i, err := strconv.Atoi(part)
			if err != nil || i < 0 || i >= len(x) {
				return nil
			}
			at = x[i]
		default:
			return nil
		}
	}
	m, _ := at.(map[string]any)
	return m
}

// anchor finds the schema with an $anchor.
func anchor(v any, name string) map[string]any {
	switch v := v.(type) {
	case map[string]any:
		if v["$anchor"] == name {
			return v
		}
		for _, x := range v {
			if found := anchor(x, name); found != nil {
				return found
			}
		}
	case []any:
		for _, x := range v {
			if found := anchor(x, name); found != nil {
				return found
			}
		}
	}
	return nil
}

// asker finds what a schema says of one property. Each subschema is asked once,
// so schemas that refer to themselves end.
type asker struct {
	root                map[string]any
	name                string
	ofValue, ofProperty map[uintptr]stringness
}

// property is what the schema of an object says of the property.
func (a *asker) property(s map[string]any) stringness {
	return a.once(a.ofProperty, s, func() stringness {
		var said []stringness
		props, _ := s["properties"].(map[string]any)
		p, own := props[a.name]
		if p, ok := p.(map[string]any); ok {
			said = append(said, a.value(p))
		}
		if ref, ok := s["$ref"].(string); ok {
			said = append(said, a.property(follow(a.root, ref)))
		}
		for _, sub := range subschemas(s["allOf"]) {
			said = append(said, a.property(sub))
		}
		for _, k := range []string{"anyOf", "oneOf"} {
			var alts []stringness
			for _, sub := range subschemas(s[k]) {
				if v := a.property(sub); v != notSaid { // one that does not mention it does not count
					alts = append(alts, v)
				}
			}
			said = append(said, either(alts))
		}
		if extra, ok := s["additionalProperties"].(map[string]any); ok && !own {
			said = append(said, a.value(extra))
		}
		return both(said)
	})
}

// value is what a schema says of the value itself.
func (a *asker) value(s map[string]any) stringness {
	return a.once(a.ofValue, s, func() stringness {
		var said []stringness
		switch typ := s["type"].(type) {
		case string:
			said = append(said, ofType(typ))
		case []any:
			var alts []stringness
			for _, x := range typ {
				name, _ := x.(string)
				alts = append(alts, ofType(name))
			}
			said = append(said, either(alts))
		}
		if list, ok := s["enum"].([]any); ok {
			said = append(said, ofValues(list))
		}
		if c, ok := s["const"]; ok {
			said = append(said, ofValues([]any{c}))
		}
		if ref, ok := s["$ref"].(string); ok {
			said = append(said, a.value(follow(a.root, ref)))
		}
		for _, sub := range subschemas(s["allOf"]) {
			said = append(said, a.value(sub))
		}
		for _, k := range []string{"anyOf", "oneOf"} {
			var alts []stringness
			for _, sub := range subschemas(s[k]) {
				alts = append(alts, a.value(sub))
			}
			said = append(said, either(alts))
		}
		return both(said)
	})
}

func (a *asker) once(known map[uintptr]stringness, s map[string]any, ask func() stringness) stringness {
	if s == nil {
		return notSaid
	}
	if v, ok := known[id(s)]; ok {
		return v
	}
	known[id(s)] = circular
	known[id(s)] = ask()
	return known[id(s)]
}

func ofType(name string) stringness {
	switch name {
	case "string":
		return isString
	case "null":
		return isNull
	}
	return isOther
}

func ofValues(list []any) stringness {
	var alts []stringness
	for _, v := range list {
		switch v.(type) {
		case string:
			alts = append(alts, isString)
		case nil:
			alts = append(alts, isNull)
		default:
			alts = append(alts, isOther)
		}
	}
	return either(alts)
}

// either is what several alternatives say together: a string only when each
// that is not null is one.
func either(alts []stringness) stringness {
	out := notSaid
	for _, v := range alts {
		switch v {
		case isString:
			out = isString
		case isNull, circular:
			if out == notSaid || out == circular {
				out = v
			}
		default:
			return isOther
		}
	}
	return out
}

// both is what several statements say together: a string as soon as one says so.
func both(said []stringness) stringness {
	out := notSaid
	for _, v := range said {
		switch {
		case v == isString:
			return isString
		case v == notSaid, v == circular && out != notSaid:
		default:
			out = v
		}
	}
	return out
}
