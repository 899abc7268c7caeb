package catalog

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"golang.org/x/text/language"
	"golang.org/x/text/message"
)

// compiledSchema is what a tool's schema is once it has been needed.
type compiledSchema struct {
	once    sync.Once
	schema  *jsonschema.Schema // nil: checked as "a JSON object" only
	warning atomic.Pointer[string]

	shapeOnce sync.Once
	doc       map[string]any
	props     *index[string]

	digestOnce sync.Once
	digest     string
}

// noRemote refuses every reference that leaves the schema.
type noRemote struct{}

func (noRemote) Load(url string) (any, error) {
	return nil, fmt.Errorf("remote reference %s is not fetched", url)
}

const schemaURL = "mem:///schema.json"

// compile compiles the schema once. A schema that does not compile leaves a
// warning, and the tool stays callable.
func (t *Tool) compile() *jsonschema.Schema {
	t.compiled.once.Do(func() {
		if len(bytes.TrimSpace(t.InputSchema)) == 0 {
			return
		}
		defer func() {
			if p := recover(); p != nil {
				t.warn(fmt.Sprint(p))
			}
		}()
		doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(t.InputSchema))
		if err != nil {
			t.warn(err.Error())
			return
		}
		c := jsonschema.NewCompiler()
		c.UseLoader(noRemote{})
		c.DefaultDraft(jsonschema.Draft2020)
		if err := c.AddResource(schemaURL, doc); err != nil {
			t.warn(err.Error())
			return
		}
		schema, err := c.Compile(schemaURL)
		if err != nil {
			t.warn(err.Error())
			return
		}
		t.compiled.schema = schema
	})
	return t.compiled.schema
}

func (t *Tool) warn(why string) {
	w := fmt.Sprintf("%s: its input schema does not compile, so inputs are only checked to be objects: %s", t.Key(), OneLine(strings.ReplaceAll(why, schemaURL, "schema")))
	t.compiled.warning.Store(&w)
}

// SchemaWarning compiles the schema and says why it could not be, or "".
func (t *Tool) SchemaWarning() string {
	t.compile()
	return t.knownSchemaWarning()
}

func (t *Tool) knownSchemaWarning() string {
	if w := t.compiled.warning.Load(); w != nil {
		return *w
	}
	return ""
}

// Check checks an input against the tool's schema. The error names the JSON
// path, what was expected and what came.
func (t *Tool) Check(input json.RawMessage) *Error {
	if _, err := Object(input); err != nil {
		return Errorf(InvalidInput, "the input is no JSON object: %v; see %s --help", err, t.Command())
	}
	schema := t.compile()
	if schema == nil {
		return nil
	}
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(input))
	if err != nil {
		return Errorf(InvalidInput, "the input is no JSON object: %v; see %s --help", err, t.Command())
	}
	return t.validate(schema, v)
}

func (t *Tool) validate(schema *jsonschema.Schema, v any) (out *Error) {
	defer func() {
		if p := recover(); p != nil { // a schema that the validator can't handle checks nothing more
			t.warn(fmt.Sprint(p))
			out = nil
		}
	}()
	err := schema.Validate(v)
	if err == nil {
		return nil
	}
	var ve *jsonschema.ValidationError
	if !errors.As(err, &ve) {
		return Errorf(InvalidInput, "%v; see %s --help", err, t.Command())
	}
	leaf := deepest(ve)
	return Errorf(InvalidInput, "at %s: %s%s; see %s --help", path(leaf.InstanceLocation), leaf.ErrorKind.LocalizedString(english), got(v, leaf.InstanceLocation), t.Command())
}

var english = message.NewPrinter(language.English)

// deepest is the cause that lies deepest in the input, the first one of several.
func deepest(ve *jsonschema.ValidationError) *jsonschema.ValidationError {
	best := ve
	var walk func(*jsonschema.ValidationError)
	walk = func(e *jsonschema.ValidationError) {
		if len(e.Causes) == 0 && (len(best.Causes) > 0 || len(e.InstanceLocation) > len(best.InstanceLocation)) {
			best = e
		}
		for _, c := range e.Causes {
			walk(c)
		}
	}
	walk(ve)
	return best
}

// path is a JSON path: $.labels[0].
func path(loc []string) string {
	var b strings.Builder
	b.WriteByte('$')
	for _, p := range loc {
		if strings.Trim(p, "0123456789") == "" {
			b.WriteString("[" + p + "]")
		} else if strings.ContainsAny(p, " .[]'\"\n\\") {
			b.WriteString("[" + string(quote(p)) + "]")
		} else {
			b.WriteString("." + p)
		}
	}
	return b.String()
}

// got shows the value at loc when it is a plain one.
func got(v any, loc []string) string {
	for _, p := range loc {
		switch x := v.(type) {
		case map[string]any:
			v = x[p]
		case []any:
			i := slices.IndexFunc(x, func(any) bool { return false })
			if _, err := fmt.Sscan(p, &i); err != nil || i < 0 || i >= len(x) {
				return ""
			}
			v = x[i]
		}
	}
	switch x := v.(type) {
	case string, json.Number, bool, nil:
		raw, err := json.Marshal(x)
		if err != nil {
			return ""
		}
		return " (it is " + clipRaw(string(raw)) + ")"
	}
	return ""
}

func clipRaw(s string) string {
	if r := []rune(s); len(r) > 60 {
		return string(r[:59]) + "…"
	}
	return s
}

// stringness is whether a schema says that a value is a string.
type stringness int

const (
	notSaid stringness = iota
	isString
	isOther
	isNull // says null and nothing else
)

// shape decodes the schema, once, for the typing of pairs.
func (t *Tool) shape() (doc map[string]any, props *index[string]) {
	c := &t.compiled
	c.shapeOnce.Do(func() {
		json.Unmarshal(t.InputSchema, &c.doc) // no object: no properties
		names := map[string]bool{}
		collect(c.doc, c.doc, names, 0)
		c.props = newIndex[string](len(names))
		for name := range names {
			c.props.add(name, name)
		}
	})
	return c.doc, c.props
}

// collect finds the property names of a schema, through references and
// combinations.
func collect(root, s map[string]any, names map[string]bool, depth int) {
	if s == nil || depth > 16 {
		return
	}
	if props, ok := s["properties"].(map[string]any); ok {
		for name := range props {
			names[name] = true
		}
	}
	if ref, ok := s["$ref"].(string); ok {
		collect(root, follow(root, ref), names, depth+1)
	}
	for _, k := range []string{"allOf", "anyOf", "oneOf"} {
		for _, sub := range subschemas(s[k]) {
			collect(root, sub, names, depth+1)
		}
	}
}

func subschemas(v any) []map[string]any {
	list, _ := v.([]any)
	var out []map[string]any
	for _, x := range list {
		if m, ok := x.(map[string]any); ok {
			out = append(out, m)
		}
	}
	return out
}

// follow resolves a reference inside the schema.
func follow(root map[string]any, ref string) map[string]any {
	rest, ok := strings.CutPrefix(ref, "#")
	if !ok {
		return nil
	}
	var at any = root
	for part := range strings.SplitSeq(strings.TrimPrefix(rest, "/"), "/") {
		if part == "" {
			continue
		}
		part = strings.NewReplacer("~1", "/", "~0", "~").Replace(part)
		m, ok := at.(map[string]any)
		if !ok {
			return nil
		}
		at = m[part]
	}
	m, _ := at.(map[string]any)
	return m
}

// key resolves a typed key against the schema's properties and says whether
// its value is a string. An unknown key passes as it is.
func (t *Tool) key(typed string) (name string, spec stringness, fault string) {
	doc, props := t.shape()
	name = typed
	if _, ok := props.exact[typed]; !ok {
		under := strings.ReplaceAll(typed, "-", "_")
		if _, ok := props.exact[under]; ok {
			name = under
		} else {
			var found []string
			for _, p := range props.names {
				if bare(p) == bare(typed) {
					found = append(found, p)
				}
			}
			slices.Sort(found)
			switch {
			case len(found) == 1:
				name = found[0]
			case len(found) > 1:
				return "", 0, fmt.Sprintf("the key %s could mean %s; type it exactly", clip(typed), strings.Join(found, " or "))
			}
		}
	}
	return name, property(doc, doc, name, 0), ""
}

// bare is a key without case, hyphens and underscores.
func bare(s string) string {
	return strings.ToLower(strings.NewReplacer("-", "", "_", "").Replace(s))
}

// property finds what the schema says of one property.
func property(root, s map[string]any, name string, depth int) stringness {
	if s == nil || depth > 16 {
		return notSaid
	}
	var said []stringness
	if props, ok := s["properties"].(map[string]any); ok {
		if p, ok := props[name].(map[string]any); ok {
			said = append(said, says(root, p, depth+1))
		}
	}
	if ref, ok := s["$ref"].(string); ok {
		said = append(said, property(root, follow(root, ref), name, depth+1))
	}
	for _, sub := range subschemas(s["allOf"]) {
		said = append(said, property(root, sub, name, depth+1))
	}
	for _, k := range []string{"anyOf", "oneOf"} {
		var alts []stringness
		for _, sub := range subschemas(s[k]) {
			if v := property(root, sub, name, depth+1); v != notSaid {
				alts = append(alts, v)
			}
		}
		said = append(said, union(alts))
	}
	if v := intersection(said); v != notSaid {
		return v
	}
	if extra, ok := s["additionalProperties"].(map[string]any); ok {
		return says(root, extra, depth+1)
	}
	return notSaid
}

// says is what a schema says of the value itself.
func says(root, s map[string]any, depth int) stringness {
	if s == nil || depth > 16 {
		return notSaid
	}
	var said []stringness
	switch typ := s["type"].(type) {
	case string:
		said = append(said, typeName(typ))
	case []any:
		var alts []stringness
		for _, x := range typ {
			name, _ := x.(string)
			alts = append(alts, typeName(name))
		}
		said = append(said, union(alts))
	}
	if list, ok := s["enum"].([]any); ok {
		said = append(said, values(list))
	}
	if c, ok := s["const"]; ok {
		said = append(said, values([]any{c}))
	}
	if ref, ok := s["$ref"].(string); ok {
		said = append(said, says(root, follow(root, ref), depth+1))
	}
	for _, sub := range subschemas(s["allOf"]) {
		said = append(said, says(root, sub, depth+1))
	}
	for _, k := range []string{"anyOf", "oneOf"} {
		var alts []stringness
		for _, sub := range subschemas(s[k]) {
			alts = append(alts, says(root, sub, depth+1))
		}
		said = append(said, union(alts))
	}
	return intersection(said)
}

func typeName(name string) stringness {
	switch name {
	case "string":
		return isString
	case "null":
		return isNull
	}
	return isOther
}

func values(list []any) stringness {
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
	return union(alts)
}

// union is what several alternatives say together: a string only when each
// that is not null is one.
func union(alts []stringness) stringness {
	out := notSaid
	for _, v := range alts {
		switch {
		case v == isNull:
			if out == notSaid {
				out = isNull
			}
		case v != isString:
			return isOther
		default:
			out = isString
		}
	}
	return out
}

// intersection is what several statements say together: a string as soon as
// one says so.
func intersection(said []stringness) stringness {
	out := notSaid
	for _, v := range said {
		if v == isString {
			return isString
		}
		if v != notSaid {
			out = v
		}
	}
	return out
}
