package catalog_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/tools-in-shell/tis/catalog"
)

// input resolves a call of one top-level tool with a schema.
func input(schema, stdin string, args ...string) (string, *catalog.Error) {
	c := catalog.New(nil, []*catalog.Tool{tool("", "t", schema)}, catalog.Options{})
	var req catalog.Request
	var err *catalog.Error
	if stdin == "" {
		req, err = c.Resolve(context.Background(), append([]string{"t"}, args...), nil, nil)
	} else {
		req, err = c.Resolve(context.Background(), append([]string{"t"}, args...), strings.NewReader(stdin), nil)
	}
	if err != nil {
		return "", err
	}
	return string(req.Call.Input), nil
}

func TestWhenASchemaSaysString(t *testing.T) {
	prop := func(s string) string { return `{"properties":{"k":` + s + `}}` }
	for name, c := range map[string]struct {
		schema string
		text   bool
	}{
		"type":                              {prop(`{"type":"string"}`), true},
		"type list with null":               {prop(`{"type":["null","string"]}`), true},
		"type list with another":            {prop(`{"type":["string","integer"]}`), false},
		"type list narrowed by an enum":     {prop(`{"type":["string","integer"],"enum":["7","8"]}`), true},
		"null alone":                        {prop(`{"type":"null"}`), false},
		"any":                               {prop(`{}`), false},
		"true":                              {prop(`true`), false},
		"enum of strings":                   {prop(`{"enum":["7",null]}`), true},
		"mixed enum":                        {prop(`{"enum":["7",7]}`), false},
		"const string":                      {prop(`{"const":"7"}`), true},
		"const number":                      {prop(`{"const":7}`), false},
		"allOf one says so":                 {prop(`{"allOf":[{"minLength":1},{"type":"string"}]}`), true},
		"anyOf all say so":                  {prop(`{"anyOf":[{"type":"string"},{"enum":["a"]},{"type":"null"}]}`), true},
		"anyOf with an open one":            {prop(`{"anyOf":[{"type":"string"},{}]}`), false},
		"anyOf with true":                   {prop(`{"anyOf":[{"type":"string"},true]}`), false},
		"anyOf with false":                  {prop(`{"anyOf":[{"type":"string"},false]}`), true},
		"oneOf with a number":               {prop(`{"oneOf":[{"type":"string"},{"type":"number"}]}`), false},
		"ref":                               {`{"$defs":{"a b":{"type":"string"}},"properties":{"k":{"$ref":"#/$defs/a%20b"}}}`, true},
		"ref into a list":                   {`{"allOf":[{"type":"string"}],"properties":{"k":{"$ref":"#/allOf/0"}}}`, true},
		"ref with escapes":                  {`{"definitions":{"a/b~c":{"type":"string"}},"properties":{"k":{"$ref":"#/definitions/a~1b~0c"}}}`, true},
		"ref to an anchor":                  {`{"$defs":{"x":{"$anchor":"name","type":"string"}},"properties":{"k":{"$ref":"#name"}}}`, true},
		"remote ref":                        {prop(`{"$ref":"https://example.com/s.json"}`), false},
		"ref to itself":                     {`{"$defs":{"x":{"$ref":"#/$defs/x"}},"properties":{"k":{"$ref":"#/$defs/x"}}}`, false},
		"ref to itself or a string":         {`{"$defs":{"x":{"anyOf":[{"type":"string"},{"$ref":"#/$defs/x"}]}},"properties":{"k":{"$ref":"#/$defs/x"}}}`, true},
		"whole schema by ref":               {`{"$defs":{"in":{"properties":{"k":{"type":"string"}}}},"$ref":"#/$defs/in"}`, true},
		"whole schema by oneOf":             {`{"oneOf":[{"properties":{"k":{"type":"string"}}},{"properties":{"other":{}}}]}`, true},
		"alternatives that disagree":        {`{"anyOf":[{"properties":{"k":{"type":"string"}}},{"properties":{"k":{"type":"integer"}}}]}`, false},
		"other keys are strings":            {`{"additionalProperties":{"type":"string"}}`, true},
		"other keys are strings, k its own": {`{"properties":{"k":{}},"additionalProperties":{"type":"string"}}`, false},
		"no schema":                         {``, false},
		"a schema that is none":             {`7`, false},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := input(c.schema, "", "k=7")
			require.Nil(t, err)
			require.Equal(t, map[bool]string{true: `{"k":"7"}`, false: `{"k":7}`}[c.text], got)
		})
	}
}

func TestSchemasThatReferToThemselvesManyTimesEnd(t *testing.T) {
	refs := strings.Repeat(`{"$ref":"#/$defs/a"},{"$ref":"#/$defs/b"},`, 20)
	schema := fmt.Sprintf(`{"$defs":{"a":{"anyOf":[%[1]s{"type":"string"}]},"b":{"oneOf":[%[1]s{"type":"string"}]}},"properties":{"k":{"$ref":"#/$defs/a"}},"allOf":[%[1]s{}]}`, refs)
	start := time.Now()
	_, err := input(schema, "", "k=7")
	require.Nil(t, err)
	require.Less(t, time.Since(start), time.Second)
}

func TestHowAKeyIsTyped(t *testing.T) {
	schema := `{"properties":{"thread_id":{"type":"string"},"perPage":{},"per_page":{},"sortBy":{},"odd key":{"type":"string"},"with-hyphen":{},"thread-id":{}}}`
	for arg, want := range map[string]string{
		"thread_id=1": `{"thread_id":"1"}`, "thread-id=1": `{"thread-id":1}`, "THREADID=1": "", "perPage=1": `{"perPage":1}`, "per-page=1": `{"per_page":1}`,
		"perpage=1": "", "sort-by=1": `{"sortBy":1}`, "SORT_BY=1": `{"sortBy":1}`, "with_hyphen=1": `{"with-hyphen":1}`, "odd key=1": `{"odd key":"1"}`,
		"un-known=1": `{"un-known":1}`, "a.b=1": `{"a.b":1}`, "two words=1": "", "=1": "", "-x=1": "", "": "", "--=1": "", "7": "", `"s"`: "", "é=1": `{"é":1}`,
	} {
		got, err := input(schema, "", arg)
		if want == "" {
			require.NotNil(t, err, arg)
			require.Equal(t, catalog.InvalidInput, err.Code)
			require.Contains(t, err.Message, "; see tools t --help")
			continue
		}
		require.Nil(t, err, arg)
		require.Equal(t, want, got)
	}
	_, err := input(schema, "", "perpage=1")
	require.Contains(t, err.Message, "could mean perPage or per_page")
}

func TestJSONStaysAsItWasWrittenAndTheLastKeyWins(t *testing.T) {
	for in, want := range map[string]string{
		`{"a":9007199254740993,"b":1.10,"c":1e400,"d":-0.0E+05}`: `{"a":9007199254740993,"b":1.10,"c":1e400,"d":-0.0E+05}`,
		`{"z":1,"a":2,"z":3}`:                                `{"z":3,"a":2}`,
		`{"o":{"x":1,"y":[{"k":1,"k":2,"\u006b":3}],"x":2}}`: `{"o":{"x":2,"y":[{"\u006b":3}]}}`,
		"\t{ \"a\" : [ 1 , { } , [ ] ] }\n":                  `{"a":[1,{},[]]}`,
		`{"a":"<&>\u00e9\/\ud83d\ude00\u0000"}`:              `{"a":"<&>\u00e9\/\ud83d\ude00\u0000"}`,
		`{"<&>":"é"}`:                                        `{"<&>":"é"}`,
		`{"":"","a":{"":{}}}`:                                `{"":"","a":{"":{}}}`,
	} {
		for _, via := range []string{"argument", "stdin"} {
			var got string
			var err *catalog.Error
			if via == "stdin" {
				got, err = input("", in)
			} else {
				got, err = input("", "", in)
			}
			require.Nil(t, err, in)
			require.Equal(t, want, got, via)
		}
		out, err := catalog.Object([]byte(in))
		require.NoError(t, err)
		require.Equal(t, want, string(out))
	}
	got, err := input("", "", `k={"a":1,"a":1.0}`)
	require.Nil(t, err)
	require.Equal(t, `{"k":{"a":1.0}}`, got)
}

func TestWhatIsNoObject(t *testing.T) {
	for in, why := range map[string]string{
		``: "empty", ` `: "empty", `[]`: "an array", `"x"`: "a string", `7`: "a number", `true`: "a boolean", `null`: "null",
		`{`: "not JSON", `{"a"}`: "not JSON", `{"a":1,}`: "not JSON", `{'a':1}`: "not JSON", `{"a":01}`: "not JSON", `{} {}`: "something follows an object",
		"{\"a\":\"\xff\"}": "UTF-8", "{\"\x00\":1}": "NUL", `{"a":"\ud800"}`: "surrogate", `{"\udc00":1}`: "surrogate", `{"a":["\ud83d\ud83d"]}`: "surrogate",
		strings.Repeat(`{"a":`, 20_000) + "1" + strings.Repeat("}", 20_000): "not JSON",
	} {
		_, err := catalog.Object([]byte(in))
		require.ErrorContains(t, err, why)
		if strings.TrimSpace(in) != "" {
			_, fault := input("", in)
			require.Equal(t, catalog.InvalidInput, fault.Code)
			require.Contains(t, fault.Message, why)
		}
	}
	_, err := catalog.Object([]byte(`{"a":"\\ud800","b":"\\\\","c":"\""}`))
	require.NoError(t, err)
}

func TestStdinIsReadOnlyWhenItBelongsToTheCall(t *testing.T) {
	c := catalog.New(nil, []*catalog.Tool{tool("", "t", `{}`)}, catalog.Options{})
	for line, want := range map[string]string{"t a=1": `{"a":1}`, "t - a=1": `{"x":1,"a":1}`, "t --body -": `{"body":"-"}`, "t a=1 -": `{"x":1,"a":1}`} {
		left := strings.NewReader(`{"x":1}`)
		req, err := c.Resolve(context.Background(), strings.Fields(line), nil, left)
		require.Nil(t, err)
		require.Equal(t, want, string(req.Call.Input))
		require.Equal(t, !strings.Contains(want, "x"), left.Len() > 0, line)
	}
	_, err := c.Resolve(context.Background(), []string{"t", "-"}, nil, nil)
	require.Contains(t, err.Message, "stdin is empty")
	req, _, err := c.ResolveLiteral([]string{"t", "a=1"})
	require.Nil(t, err)
	require.Equal(t, `{"a":1}`, string(req.Call.Input))
}

// anyObject draws JSON objects of every kind of value, as JSON texts.
func anyObject(t *rapid.T) string {
	var value func(depth int) *rapid.Generator[any]
	value = func(depth int) *rapid.Generator[any] {
		plain := []*rapid.Generator[any]{
			rapid.Just[any](nil), rapid.Map(rapid.Bool(), func(b bool) any { return b }), rapid.Map(rapid.String(), func(s string) any { return s }),
			rapid.Map(rapid.StringMatching(`-?(0|[1-9][0-9]{0,25})(\.[0-9]{1,5})?([eE][+-]?[0-9]{1,3})?`), func(s string) any { return json.Number(s) }),
		}
		if depth == 0 {
			return rapid.OneOf(plain...)
		}
		return rapid.OneOf(append(plain,
			rapid.Map(rapid.SliceOfN(value(depth-1), 0, 4), func(l []any) any { return l }),
			rapid.Map(rapid.MapOfN(rapid.String(), value(depth-1), 0, 4), func(m map[string]any) any { return m }))...)
	}
	raw, err := json.MarshalIndent(rapid.MapOfN(rapid.String(), value(3), 0, 6).Draw(t, "object"), "", rapid.SampledFrom([]string{"", " ", "\t"}).Draw(t, "indent"))
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

// decoded keeps digits, so that equal means equal.
func decoded(t *rapid.T, raw string) any {
	dec := json.NewDecoder(strings.NewReader(raw))
	dec.UseNumber()
	var v any
	if err := dec.Decode(&v); err != nil {
		t.Fatal(err)
	}
	return v
}

func TestAnyObjectArrivesExactlyAsArgumentAndOnStdin(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		raw := anyObject(t)
		want := decoded(t, raw)
		for _, via := range [][]string{{"", raw}, {raw}, {raw, "-"}} {
			got, err := input(typed, via[0], via[1:]...)
			if err != nil {
				t.Fatal(err)
			}
			require.Equal(t, want, decoded(t, got))
		}
		canonical, err := catalog.Canonical(json.RawMessage(raw))
		require.NoError(t, err)
		again, err := catalog.Canonical(canonical)
		require.NoError(t, err)
		require.Equal(t, string(canonical), string(again))
	})
}

func TestAnyTextArrivesExactlyAtAStringKey(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := strings.ReplaceAll(rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{"", "7", "true", "null", "{}", "-", "--x", "a=b", `"q"`})).Draw(t, "s"), "\x00", "")
		for _, args := range [][]string{{"s=" + s}, {"--s=" + s}, {"--s", s}} {
			if args[0] == "--s" && (strings.HasPrefix(s, "--")) {
				continue // that is the next flag
			}
			if args[0] == "--s" && s == "--help" {
				continue
			}
			got, err := input(typed, "", args...)
			if err != nil {
				t.Fatal(err)
			}
			var v map[string]any
			require.NoError(t, json.Unmarshal([]byte(got), &v))
			require.Equal(t, map[string]any{"s": s}, v)
		}
	})
}

// A pair carries any value to a key that the schema leaves open: as JSON, and a
// text that is no JSON also as it is.
func TestAnyValueArrivesExactlyInAPair(t *testing.T) {
	key := rapid.StringMatching(`[A-Za-z0-9_.:/@+]([A-Za-z0-9_.:/@+-]{0,11}[A-Za-z0-9])?`)
	rapid.Check(t, func(t *rapid.T) {
		want, _ := decoded(t, anyObject(t)).(map[string]any)
		named := map[string]any{}
		var pairs, flags, split []string
		for _, v := range want {
			k := key.Draw(t, "key")
			if k == "help" {
				continue
			}
			if _, taken := named[k]; taken {
				continue
			}
			raw, err := json.Marshal(v)
			require.NoError(t, err)
			text := string(raw)
			if s, ok := v.(string); ok && !json.Valid([]byte(s)) && !strings.ContainsRune(s, 0) && rapid.Bool().Draw(t, "bare") {
				text = s
			}
			named[k] = v
			pairs, flags = append(pairs, k+"="+text), append(flags, "--"+k+"="+text)
			if !strings.HasPrefix(text, "--") { // that would be the next flag
				split = append(split, "--"+k, text)
			} else {
				split = append(split, k+"="+text)
			}
		}
		for _, args := range [][]string{pairs, flags, split} {
			got, err := input(`{}`, "", args...)
			if err != nil {
				t.Fatal(args, err)
			}
			require.Equal(t, named, decoded(t, got), "%q", args)
		}
	})
}
