package lint

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/tools-in-shell/tis/catalog"
)

// partial is the input of a command as far as it is known.
type partial struct {
	// object holds the members that are known; a value that is not is null.
	object json.RawMessage
	// whole says that nothing is missing.
	whole bool
	// open says that words, or stdin, may add any key.
	open bool
	// dynamic are the keys whose values are not known.
	dynamic map[string]bool
	// from is the word that gives a key its value; twice are the keys that an
	// earlier word has given already.
	from  map[string]int
	twice []twice
	// bad is the word that is no input, with err.
	bad int
}

type twice struct {
	key           string
	first, second int  // words
	inJSON        bool // both in one JSON text
}

// read makes out the input of a variant whose tool is known.
func (v *variant) read() {
	c := v.call
	in := &partial{dynamic: map[string]bool{}, from: map[string]int{}, open: c.Attached, whole: v.complete() && !c.Attached, bad: -1}
	if c.Words == nil && !c.Known { // braces, and then something unknown
		in.open, in.whole = true, false
	}
	members := map[string]json.RawMessage{}
	var order []string
	set := func(i int, key string, value json.RawMessage) {
		if first, ok := in.from[key]; ok {
			in.twice = append(in.twice, twice{key, first, i, false})
		} else {
			order = append(order, key)
		}
		members[key], in.from[key] = value, i
	}
	prefix := v.values[:min(c.named, len(v.values))]
	give := func(i int, unknown bool, words ...string) bool {
		req, _, err := c.pass.o.Catalog.ResolveLiteral(append(slices.Clone(prefix), words...))
		if err != nil {
			v.err, in.bad = err, i
			return false
		}
		if req.Call == nil {
			return true
		}
		for _, key := range keysOf(req.Call.Input) {
			set(i, key.name, key.value)
			if unknown {
				in.dynamic[key.name] = true
			} else {
				delete(in.dynamic, key.name)
			}
		}
		return true
	}
	for i := c.named; i < len(c.words); i++ {
		text := v.values[i]
		if !v.known[i] {
			in.whole = false
			key, ok := dynamicKey(c.words[i].node)
			if !ok {
				in.open = true
				continue
			}
			give(i, true, key+"=null")
			continue
		}
		switch {
		case text == "--help" || text == "-h":
			c.tool = nil // help is no call
			return
		case text == "-":
			in.open, in.whole = true, false
		case text == "--":
		case strings.HasPrefix(text, "--") && !strings.Contains(text, "=") && i+1 < len(c.words):
			next, known := v.values[i+1], v.known[i+1]
			switch {
			case !known && !strings.HasPrefix(leading(c.words[i+1].node), "--"):
				give(i, true, strings.TrimPrefix(text, "--")+"=null")
				in.whole = false
				i++
			case known && !strings.HasPrefix(next, "--"):
				if !give(i, false, text, next) {
					v.input = in
					return
				}
				i++
			case !give(i, false, text):
				v.input = in
				return
			}
		default:
			for _, key := range givenTwice(text) {
				in.twice = append(in.twice, twice{key, i, i, true})
			}
			if !give(i, false, text) {
				v.input = in
				return
			}
		}
	}
	var b bytes.Buffer
	b.WriteByte('{')
	for i, key := range order {
		if i > 0 {
			b.WriteByte(',')
		}
		name, _ := json.Marshal(key) // a string always does
		b.Write(name)
		b.WriteByte(':')
		b.Write(members[key])
	}
	b.WriteByte('}')
	in.object = b.Bytes()
	if in.whole {
		// The whole line at once, as the command itself reads it.
		req, _, err := c.pass.o.Catalog.ResolveLiteral(v.values)
		switch {
		case err != nil:
			v.err = err
		case req.Call != nil:
			in.object = req.Call.Input
		}
	}
	v.input = in
}

type keyValue struct {
	name  string
	value json.RawMessage
}

func keysOf(object json.RawMessage) (out []keyValue) {
	var m map[string]json.RawMessage
	if json.Unmarshal(object, &m) != nil {
		return nil
	}
	for _, k := range slices.Sorted(maps.Keys(m)) {
		out = append(out, keyValue{k, m[k]})
	}
	return out
}

// givenTwice lists the keys that a JSON object gives more than once.
func givenTwice(text string) (keys []string) {
	if !strings.HasPrefix(strings.TrimSpace(text), "{") {
		return nil
	}
	dec := json.NewDecoder(strings.NewReader(text))
	if _, err := dec.Token(); err != nil {
		return nil
	}
	seen := map[string]bool{}
	for dec.More() {
		tok, err := dec.Token()
		key, ok := tok.(string)
		if err != nil || !ok {
			return keys
		}
		var value json.RawMessage
		if dec.Decode(&value) != nil {
			return keys
		}
		if seen[key] && !slices.Contains(keys, key) {
			keys = append(keys, key)
		}
		seen[key] = true
	}
	return keys
}

// dynamicKey is the key of key=value or --key=value of which only the value is
// not known.
func dynamicKey(w *syntax.Word) (string, bool) {
	key, _, ok := strings.Cut(strings.TrimPrefix(leading(w), "--"), "=")
	return key, ok && key != "" && !strings.ContainsAny(key, " \t\n\"'{}[]")
}

// leading is the text that a word begins with, up to the first part of it that
// is not known.
func leading(w *syntax.Word) string {
	if w == nil {
		return ""
	}
	var b strings.Builder
	for _, part := range w.Parts {
		switch part := part.(type) {
		case *syntax.Lit:
			b.WriteString(part.Value)
		case *syntax.SglQuoted:
			b.WriteString(part.Value)
		case *syntax.DblQuoted:
			for _, inner := range part.Parts {
				lit, ok := inner.(*syntax.Lit)
				if !ok {
					return b.String()
				}
				b.WriteString(lit.Value)
			}
		default:
			return b.String()
		}
	}
	return b.String()
}

// faults are those of the known part of an input that no unknown part can mend.
func (v *variant) faults() (out []catalog.Fault) {
	in := v.input
	for _, f := range v.call.tool.Faults(in.object) {
		if !in.whole {
			missing := f.Missing
			if len(f.Path) == 0 && in.open {
				missing = nil // what is not known may have them
			}
			switch {
			case f.Way:
				continue
			case len(f.Path) > 0 && in.dynamic[f.Path[0]]:
				continue
			case len(f.Missing) > 0 && len(missing) == 0:
				continue
			}
		}
		out = append(out, f)
	}
	return out
}
