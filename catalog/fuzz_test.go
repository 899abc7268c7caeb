package catalog_test

import (
	"bytes"
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/tools-in-shell/tis/catalog"
)

// What Object lets through is JSON that it leaves alone the next time, and
// that has one canonical form.
func FuzzObject(f *testing.F) {
	for _, s := range []string{`{}`, `{"a":1,"a":[{"b":1,"b":2}]}`, `{"\ud83d\ude00":"\ud800"}`, ` {"x":1e400} `, `{"a":{"a":{}},"a":1}`, `[1]`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		once, err := catalog.Object(raw)
		if err != nil {
			if strings.Contains(err.Error(), "\n") {
				t.Fatalf("%q", err.Error())
			}
			return
		}
		twice, err := catalog.Object(once)
		if err != nil || !bytes.Equal(once, twice) {
			t.Fatalf("%s, then %s: %v", once, twice, err)
		}
		if !json.Valid(once) {
			t.Fatalf("%s is no JSON", once)
		}
		a, err := catalog.Canonical(raw)
		if err != nil {
			t.Fatal(err)
		}
		b, err := catalog.Canonical(once)
		if err != nil || !bytes.Equal(a, b) {
			t.Fatalf("%s and %s: %v", a, b, err)
		}
	})
}

// No schema and no line makes Resolve or Check panic, or break a message.
func FuzzResolve(f *testing.F) {
	f.Add(typed, "s=1\n--n\n5")
	f.Add(`{"$ref":"#"}`, "{}\n--help")
	f.Add(`{"properties":{"k":{"$ref":"#/properties/k"}},"required":["k"]}`, "k=1")
	f.Fuzz(func(t *testing.T, schema, line string) {
		x := tool("s", "x", schema)
		c := catalog.New([]catalog.Source{{Name: "s", Loaded: true, Tools: []*catalog.Tool{x}}}, nil, catalog.Options{})
		for _, args := range [][]string{strings.Split(line, "\n"), append([]string{"s", "x"}, strings.Split(line, "\n")...)} {
			req, err := c.Resolve(context.Background(), args, nil, nil)
			if req.Call != nil {
				err = req.Call.Tool.Check(req.Call.Input)
				if !json.Valid(req.Call.Input) {
					t.Fatalf("%s is no JSON", req.Call.Input)
				}
			}
			if err != nil && strings.ContainsAny(err.Message, "\n\x1b") {
				t.Fatalf("%q", err.Message)
			}
		}
	})
}
