package approvals_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/tools-in-shell/tis/approvals"
	"github.com/tools-in-shell/tis/catalog"
)

func fingerprint(t tb, c catalog.Call) string {
	t.Helper()
	f, err := approvals.Fingerprint(c)
	require.NoError(t, err)
	require.Len(t, f, 64)
	return f
}

func TestOneCallSpelledInTwoWays(t *testing.T) {
	for _, c := range [][2]string{
		{`{"a":1,"b":2}`, `{ "b": 2, "a": 1 }`},
		{`{"n":1}`, `{"n":1.0}`},
		{`{"n":1}`, `{"n":1e0}`},
		{`{"n":100}`, `{"n":1E+2}`},
		{`{"n":9007199254740993}`, `{"n":9007199254740993.0}`},
		{`{"s":"é/"}`, `{"s":"\u00e9\/"}`},
		{`{"s":"😀"}`, `{"s":"\ud83d\ude00"}`},
		{`{"o":[{"a":1,"b":[]}]}`, `{"o":[{"b":[],"a":1.00}]}`},
	} {
		require.Equal(t, fingerprint(t, call(t, `{}`, c[0])), fingerprint(t, call(t, `{}`, c[1])), "%s and %s", c[0], c[1])
	}
}

func TestCallsThatDiffer(t *testing.T) {
	for _, c := range [][2]string{
		{`{"n":9007199254740993}`, `{"n":9007199254740992}`},
		{`{"n":0.1}`, `{"n":0.10000000000000001}`},
		{`{"n":1}`, `{"n":"1"}`},
		{`{"n":1e400}`, `{"n":1e401}`},
		{`{"n":null}`, `{}`},
		{`{"l":[1,2]}`, `{"l":[2,1]}`},
		{`{"s":"\u00e9"}`, `{"s":"e\u0301"}`},
		{`{"K":1}`, `{"k":1}`},
	} {
		require.NotEqual(t, fingerprint(t, call(t, `{}`, c[0])), fingerprint(t, call(t, `{}`, c[1])), "%s and %s", c[0], c[1])
	}
	a := call(t, `{}`, `{}`)
	for name, tool := range map[string]*catalog.Tool{
		"another name":   {Server: "github", Name: "delete_tag"},
		"another server": {Server: "gitlab", Name: "delete_branch"},
		"no server":      {Name: "mcp_github__delete_branch"},
		"another split":  {Server: "github__delete", Name: "branch"},
	} {
		require.NotEqual(t, fingerprint(t, a), fingerprint(t, catalog.Call{Tool: tool, Input: a.Input}), name)
	}
}

func TestAnInputThatIsNoJSONHasNoFingerprint(t *testing.T) {
	for _, input := range []string{``, `{`, `{} {}`, `{"s":"\ud800"}`} {
		_, err := approvals.Fingerprint(call(t, `{}`, input))
		require.Error(t, err, input)
		_, err = gate(t).Authorize(ctx, "s", "r", call(t, `{}`, input))
		require.Error(t, err, input)
	}
}

func TestEncodingAgainKeepsTheFingerprint(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		input := rapid.MapOf(rapid.StringMatching(`[a-zé_]{0,6}`), anyJSON(3)).Draw(rt, "input")
		text, err := json.Marshal(input)
		require.NoError(rt, err)
		indented, err := json.MarshalIndent(input, " ", "\t")
		require.NoError(rt, err)
		require.Equal(rt, fingerprint(rt, call(rt, `{}`, string(text))), fingerprint(rt, call(rt, `{}`, string(indented))))
	})
}

func anyJSON(depth int) *rapid.Generator[any] {
	plain := rapid.OneOf(rapid.Just[any](nil), rapid.Bool().AsAny(), rapid.StringN(0, 8, -1).AsAny(), rapid.Int64().AsAny(), rapid.Float64().AsAny())
	if depth == 0 {
		return plain
	}
	return rapid.OneOf(plain, rapid.SliceOfN(anyJSON(depth-1), 0, 3).AsAny(), rapid.MapOfN(rapid.StringMatching(`[a-z]{0,3}`), anyJSON(depth-1), 0, 3).AsAny())
}
