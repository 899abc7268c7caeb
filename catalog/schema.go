package catalog

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// derived is what is worked out of a tool once it is needed, and kept.
type derived struct {
	once    sync.Once
	schema  *jsonschema.Schema // nil: checked as "a JSON object" only
	warning atomic.Pointer[string]

	shapeOnce sync.Once
	doc       map[string]any
	props     *index[string]

	digestOnce sync.Once
	digest     string

	spoken spoken
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
	t.derived.once.Do(func() {
		if len(bytes.TrimSpace(t.InputSchema)) == 0 {
			return
		}
		schema, err := compile(t.InputSchema)
		if err != nil {
			t.warn("does not compile", err)
		}
		t.derived.schema = schema
	})
	return t.derived.schema
}

func compile(raw json.RawMessage) (schema *jsonschema.Schema, err error) {
	defer func() {
		if p := recover(); p != nil {
			schema, err = nil, fmt.Errorf("%v", p)
		}
	}()
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
	if err != nil {
		return nil, err
	}
	c := jsonschema.NewCompiler()
	c.UseLoader(noRemote{})
	c.DefaultDraft(jsonschema.Draft2020)
	if err := c.AddResource(schemaURL, doc); err != nil {
		return nil, err
	}
	return c.Compile(schemaURL)
}

// warn notes why inputs are only checked to be objects.
func (t *Tool) warn(how string, why error) {
	text := strings.ReplaceAll(OneLine(printable(why.Error())), schemaURL, "schema")
	w := fmt.Sprintf("%s: its input schema %s, so inputs are only checked to be objects: %s", OneLine(printable(t.Key())), how, cut(text, 300))
	t.derived.warning.Store(&w)
}

// SchemaWarning compiles the schema and says why it could not be, or "".
func (t *Tool) SchemaWarning() string {
	t.compile()
	return t.knownSchemaWarning()
}

func (t *Tool) knownSchemaWarning() string {
	if w := t.derived.warning.Load(); w != nil {
		return *w
	}
	return ""
}

// Check checks an input against the tool's schema. The error names the JSON
// path, what was expected, what came, and the command that shows the schema. A
// schema that cannot be used checks nothing but that the input is an object,
// and Catalog.Warnings says so.
func (t *Tool) Check(input json.RawMessage) *Error {
	v, err := decode(input)
	if err != nil {
		return t.refuse("the input is no JSON object: " + err.Error())
	}
	if _, ok := v.(map[string]any); !ok {
		return t.refuse("the input is no JSON object: it is " + kindOf(input))
	}
	schema := t.compile()
	if schema == nil {
		return nil
	}
	if at, n := oversized(v, nil); n != "" {
		return t.refuse(fmt.Sprintf("at %s: the exponent of %s is too large to check the number", path(at), clip(n)))
	}
	invalid, broken := validate(schema, v)
	switch {
	case broken != nil:
		t.warn("cannot be applied", broken)
		return nil
	case invalid != nil:
		return t.refuse(t.explain(invalid, v))
	}
	return nil
}

func (t *Tool) refuse(why string) *Error {
	return fault(InvalidInput, "%s; see %s --help", cut(why, 600), t.Command())
}

// validate reports what is wrong with the value, or with the schema itself.
func validate(schema *jsonschema.Schema, v any) (invalid *jsonschema.ValidationError, broken error) {
	defer func() {
		if p := recover(); p != nil {
			invalid, broken = nil, fmt.Errorf("%v", p)
		}
	}()
	err := schema.Validate(v)
	if err == nil {
		return nil, nil
	}
	invalid, ok := err.(*jsonschema.ValidationError)
	switch {
	case !ok:
		return nil, err
	case endless(invalid):
		return nil, fmt.Errorf("it refers to itself without end")
	}
	return invalid, nil
}

// maxExponent bounds the numbers that are compared by value: 1e999999 has a
// million digits then.
const maxExponent = 10_000

// oversized finds a number that is too large to be compared.
func oversized(v any, at []string) (where []string, number string) {
	switch v := v.(type) {
	case map[string]any:
		for k, x := range v {
			if where, number = oversized(x, append(at, k)); number != "" {
				return where, number
			}
		}
	case []any:
		for i, x := range v {
			if where, number = oversized(x, append(at, fmt.Sprint(i))); number != "" {
				return where, number
			}
		}
	case json.Number:
		s := v.String()
		if i := strings.IndexAny(s, "eE"); i >= 0 {
			digits := strings.TrimLeft(s[i+1:], "+-0")
			if len(digits) > 5 || len(digits) == 5 && digits > fmt.Sprint(maxExponent) {
				return at, s
			}
		}
	}
	return nil, ""
}
