package catalog

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
)

// Fault is one thing that is wrong with an input by its schema.
type Fault struct {
	// Path leads to the value: keys, and indices of arrays. Empty is the input.
	Path []string
	// Missing are the keys that the value must have; Extra are those that it must
	// not have.
	Missing, Extra []string
	// Way says that the value could also have been right in another way (anyOf,
	// oneOf, if and their like), so that it is not certain what is meant.
	Way bool
	// Message says where, what was expected and what came.
	Message string
}

// Faults lists all that is wrong with an input. It is empty for an input that
// Check passes, and for a schema that cannot be used.
func (t *Tool) Faults(input json.RawMessage) []Fault {
	v, err := decode(input)
	if err != nil {
		return []Fault{{Message: "the input is no JSON object: " + err.Error()}}
	}
	schema := t.compile()
	if schema == nil {
		return nil
	}
	if at, n := oversized(v, nil); n != "" {
		return []Fault{{Path: at, Message: "at " + path(at) + ": the exponent of " + clip(n) + " is too large to check the number"}}
	}
	invalid, broken := validate(schema, v)
	if invalid == nil || broken != nil {
		return nil
	}
	var out []Fault
	t.faults(invalid, v, &out)
	// The library goes through maps; the list is the same each time.
	slices.SortFunc(out, func(a, b Fault) int {
		return cmp.Or(slices.Compare(a.Path, b.Path), strings.Compare(a.Message, b.Message))
	})
	return out
}

func (t *Tool) faults(ve *jsonschema.ValidationError, v any, out *[]Fault) {
	f := Fault{Path: ve.InstanceLocation}
	switch k := ve.ErrorKind.(type) {
	case *kind.Schema, *kind.Group, *kind.AllOf, *kind.Reference:
		for _, c := range ve.Causes {
			t.faults(c, v, out)
		}
		if len(ve.Causes) > 0 {
			return
		}
	case *kind.Required:
		f.Missing = k.Missing
	case *kind.AdditionalProperties:
		slices.Sort(k.Properties)
		f.Extra = k.Properties
	case *kind.AnyOf, *kind.OneOf, *kind.Not, *kind.Contains:
		f.Way = true
	default:
		f.Way = len(ve.Causes) > 0
	}
	f.Message = strings.TrimSpace(t.explain(ve, v))
	*out = append(*out, f)
}
