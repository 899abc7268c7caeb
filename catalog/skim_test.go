package catalog

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// odds are pieces that JSON texts are made of and broken with.
var odds = []string{`{`, `}`, `[`, `]`, `,`, `:`, `"`, `\`, `\u00e9`, `\ud800`, `\n`, `é`, "\xff", "\x00", "\n", " ", "0", "-", "1.5e+3", "01", "true", "null", "nul",
	`"name"`, `"Name"`, `"description"`, `"inputSchema"`, `"annotations"`, `"policy"`, `"readOnlyHint"`, `"READONLYHINT"`, `"tools"`, `"servers"`, `"load"`, `"on_demand"`, `"resources"`,
	`{"name":"x","description":"a \"b\"\n\u00e9 é \/","inputSchema":{"type":"object"},"annotations":{"readOnlyHint":true,"title":"T"}}`, `"a long text of more than eight bytes"`}

// broken is a text with some of its parts replaced, taken out or put in.
func broken(text string) *rapid.Generator[string] {
	return rapid.Custom(func(t *rapid.T) string {
		out := text
		for range rapid.IntRange(0, 3).Draw(t, "changes") {
			from := rapid.IntRange(0, len(out)).Draw(t, "from")
			to := rapid.IntRange(from, min(len(out), from+12)).Draw(t, "to")
			out = out[:from] + rapid.SampledFrom(append(odds, "")).Draw(t, "piece") + out[to:]
		}
		return out
	})
}

const smallCatalog = `{"$schema":"x","servers":{"b":{"description":"Bees.","load":"start","serverInfo":{"name":"b"},"tools":[{"name":"x","title":"X","inputSchema":{"type":"object","properties":{"a":{"enum":[1,-0.5e3,null]}}},"annotations":{"readOnlyHint":true,"title":"X"}},{"name":"y","description":"Y \"y\" é."}]},"a":{"load":"on_demand","tools":[{"name":"z"}]}},"tools":[{"name":"web_fetch","description":"Fetch.\nIt.","annotations":{"readOnlyHint":false,"idempotentHint":false}}]}`

// What is skimmed is what the readers that explain faults would have read.
func TestACatalogIsSkimmedAsItIsRead(t *testing.T) {
	skimmed := 0
	check := func(t require.TestingT, text string) {
		sources, top, ok := skimCatalog([]byte(text))
		if !ok {
			return
		}
		skimmed++
		require.True(t, json.Valid([]byte(text)), text)
		sources2, top2, err := readCatalog(json.RawMessage(text))
		require.NoError(t, err, text)
		require.Equal(t, flattened(sources2, top2), flattened(sources, top), text)
	}
	rapid.Check(t, func(rt *rapid.T) { check(rt, broken(smallCatalog).Draw(rt, "text")) })
	require.Greater(t, skimmed, 10)
	files, err := filepath.Glob("../testdata/catalogs/*.json")
	require.NoError(t, err)
	require.Len(t, files, 10)
	for _, file := range files {
		raw, err := os.ReadFile(file)
		require.NoError(t, err)
		before := skimmed
		check(t, string(raw))
		require.Equal(t, before+1, skimmed, "%s is read the slow way", file)
	}
}

// flattened is a catalog file without what cannot be compared.
func flattened(sources []Source, top []*Tool) (out []any) {
	for _, s := range sources {
		tools := s.Tools
		if s.Load != nil {
			tools, _ = s.Load(nil)
			s.Load = nil
		}
		s.Tools = nil
		out = append(out, s)
		for _, t := range tools {
			out = append(out, plainTool(t))
		}
	}
	for _, t := range top {
		out = append(out, plainTool(t))
	}
	return out
}

func plainTool(t *Tool) []any {
	return []any{t.Name, t.Server, t.Description, string(t.InputSchema), t.Hints, t.Policy}
}

func TestAToolIsSkimmedAsItIsDecoded(t *testing.T) {
	raw := odds[len(odds)-2]
	skimmed := 0
	rapid.Check(t, func(rt *rapid.T) {
		text := broken(raw).Draw(rt, "text")
		s := &skim{src: []byte(text)}
		s.space()
		got := s.tool("s")
		if got == nil || !s.end() {
			return
		}
		skimmed++
		want, err := decodeTool("s", json.RawMessage(text))
		require.NoError(rt, err)
		require.Equal(rt, plainTool(want), plainTool(got))
	})
	require.Greater(t, skimmed, 10)
}

func TestSkimKnowsValidJSON(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		text := strings.TrimSpace(broken(smallCatalog).Draw(rt, "text"))
		s := &skim{src: []byte(text)}
		s.space()
		require.Equal(rt, json.Valid([]byte(text)), s.value(0) && s.end(), text)
	})
	for text, valid := range map[string]bool{``: false, `-`: false, `-0`: true, `1.`: false, `01`: false, `1e5`: true, `1e`: false, `[1,]`: false, `{"a":1,}`: false, `"\u12g4"`: false,
		`"` + "\x7f" + `"`: true, `tru`: false, `[1 2]`: false, `{"a" 1}`: false, strings.Repeat("[", 90) + strings.Repeat("]", 90): true, `"a": 1`: false, `[,1]`: false} {
		s := &skim{src: []byte(text)}
		s.space()
		require.Equal(t, valid, s.value(0) && s.end(), text)
	}
}
