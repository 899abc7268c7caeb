package catalog

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
	"golang.org/x/text/language"
	"golang.org/x/text/message"
)

// explain says in one sentence what is wrong with an input: where, what was
// expected, what came.
func (t *Tool) explain(ve *jsonschema.ValidationError, v any) string {
	e := cause(ve)
	if extra, ok := e.ErrorKind.(*kind.AdditionalProperties); ok {
		slices.Sort(extra.Properties) // the library goes through a map
	}
	text := e.ErrorKind.LocalizedString(message.NewPrinter(language.English))
	if extra, ok := e.ErrorKind.(*kind.AdditionalProperties); ok && len(extra.Properties) > 0 && len(e.InstanceLocation) == 0 {
		_, props := t.shape()
		return "at $: " + text + didYouMean(near(extra.Properties[0], props.names))
	}
	return "at " + path(e.InstanceLocation) + ": " + text + came(v, e.InstanceLocation)
}

// cause is the fault to name: the one that lies deepest in the input, the
// first of several. Alternatives that all want another type are one fault.
func cause(ve *jsonschema.ValidationError) *jsonschema.ValidationError {
	if len(ve.Causes) == 0 {
		return ve
	}
	if merged := otherTypes(ve); merged != nil {
		return merged
	}
	best := cause(ve.Causes[0])
	for _, c := range ve.Causes[1:] {
		if e := cause(c); len(e.InstanceLocation) > len(best.InstanceLocation) {
			best = e
		}
	}
	return best
}

// otherTypes is the fault of an anyOf or oneOf of which every alternative
// wants another type, else nil.
func otherTypes(ve *jsonschema.ValidationError) *jsonschema.ValidationError {
	switch ve.ErrorKind.(type) {
	case *kind.AnyOf, *kind.OneOf:
	default:
		return nil
	}
	all := &kind.Type{}
	for _, c := range ve.Causes {
		leaf := cause(c)
		typ, ok := leaf.ErrorKind.(*kind.Type)
		if !ok || len(leaf.InstanceLocation) != len(ve.InstanceLocation) {
			return nil
		}
		all.Got = typ.Got
		for _, w := range typ.Want {
			if !slices.Contains(all.Want, w) {
				all.Want = append(all.Want, w)
			}
		}
	}
	return &jsonschema.ValidationError{SchemaURL: ve.SchemaURL, InstanceLocation: ve.InstanceLocation, ErrorKind: all}
}

// endless reports whether the schema runs in a circle.
func endless(ve *jsonschema.ValidationError) bool {
	if _, ok := ve.ErrorKind.(*kind.RefCycle); ok {
		return true
	}
	return slices.ContainsFunc(ve.Causes, endless)
}

// path is a JSON path: $.labels[0].
func path(loc []string) string {
	var b strings.Builder
	b.WriteByte('$')
	for _, p := range loc {
		switch {
		case isIndex(p):
			b.WriteString("[" + p + "]")
		case isPlain(p):
			b.WriteString("." + p)
		default:
			fmt.Fprintf(&b, "[%s]", clip(p))
		}
	}
	return b.String()
}

func isIndex(p string) bool { return p != "" && strings.Trim(p, "0123456789") == "" }

func isPlain(p string) bool {
	return p != "" && len(p) <= 100 && strings.IndexFunc(p, func(r rune) bool {
		return r != '_' && r != '-' && (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z')
	}) < 0
}

// came shows the value at loc: as it is when it is a plain one, else its kind.
func came(v any, loc []string) string {
	for _, p := range loc {
		switch x := v.(type) {
		case map[string]any:
			v = x[p]
		case []any:
			i, err := strconv.Atoi(p)
			if err != nil || i < 0 || i >= len(x) {
				return ""
			}
			v = x[i]
		}
	}
	switch x := v.(type) {
	case string, json.Number, bool:
		return " (it is " + cut(string(encode(x)), 60) + ")"
	case []any:
		return " (it is an array)"
	case map[string]any:
		if len(loc) > 0 {
			return " (it is an object)"
		}
	case nil:
		return " (it is null)"
	}
	return ""
}
