package intercept_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tools-in-shell/tis/catalog"
	"github.com/tools-in-shell/tis/intercept"
)

func text(s string) catalog.Part { return catalog.Part{Type: "text", Text: s} }

func parts(p ...catalog.Part) catalog.Output { return catalog.Output{Parts: p} }

func structured(s string, p ...catalog.Part) catalog.Output {
	return catalog.Output{Structured: json.RawMessage(s), Parts: p}
}

var (
	png  = catalog.Part{Type: "image", Data: []byte("png"), MIMEType: "image/png"}
	link = catalog.Part{Type: "resource_link", Raw: json.RawMessage("{ \"type\": \"resource_link\",\n \"uri\": \"f://<a>&b\" }")}
)

func TestOutput(t *testing.T) {
	for _, c := range []struct {
		name   string
		out    catalog.Output
		stdout string
		result string // in the report
	}{
		{"text gets a final newline", parts(text("noted")), "noted\n", `"noted"`},
		{"text that has one is as it is", parts(text("noted\n")), "noted\n", `"noted\n"`},
		{"text that looks like JSON is text", parts(text(`{"a": <1>}`)), "{\"a\": <1>}\n", `"{\"a\": <1>}"`},
		{"texts are joined by newlines", parts(text("a"), text("b")), "a\nb\n", `"a\nb"`},
		{"an empty text is an empty line", parts(text("")), "\n", `""`},
		{"nothing", parts(), "", `null`},
		{"structured keeps digits, key order and signs", structured("{ \"z\": 1.10,\n \"a\": [9007199254740993, 1e400], \"h\": \"<&>\u2028\" }"), "{\"z\":1.10,\"a\":[9007199254740993,1e400],\"h\":\"<&>\u2028\"}\n", "{\"z\":1.10,\"a\":[9007199254740993,1e400],\"h\":\"<&>\u2028\"}"},
		{"structured comes before text", structured(`{"a":1}`, text("ignored")), "{\"a\":1}\n", `{"a":1}`},
		{"structured need not be an object", structured(`"x"`), "\"x\"\n", `"x"`},
		{"structured that is no JSON becomes a text", structured("{a\nb"), "\"{a\\nb\"\n", `"{a\nb"`},
		{"other parts are an array", parts(text("see"), link), "[{\"type\":\"text\",\"text\":\"see\"},{\"type\":\"resource_link\",\"uri\":\"f://<a>&b\"}]\n", `[{"type":"text","text":"see"},{"type":"resource_link","uri":"f://<a>&b"}]`},
		{"one other part too", parts(link), "[{\"type\":\"resource_link\",\"uri\":\"f://<a>&b\"}]\n", `[{"type":"resource_link","uri":"f://<a>&b"}]`},
		{"an image is set aside", parts(text("here"), png), "here\n", `"here"`},
		{"images alone print nothing", parts(png, png), "", `"(2 files)"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newBench(t)
			b.tool("t", `{}`, returns(c.out, nil))
			r := b.run("s t")
			require.Zero(t, r.exit, "%+v", r)
			require.Equal(t, c.stdout, r.stdout)
			require.Equal(t, c.result, string(b.done()[0].Result))
		})
	}
}

func TestInputReachesTheToolAsItIsTyped(t *testing.T) {
	b := newBench(t)
	require.Zero(t, b.run(`s put {"z":1.10,"a":9007199254740993,"h":"<&>"}`).exit)
	require.Equal(t, []string{`put {"z":1.10,"a":9007199254740993,"h":"<&>"}`}, b.executed())
	require.Equal(t, `{"z":1.10,"a":9007199254740993,"h":"<&>"}`, string(b.done()[0].Input))
}

func TestFiles(t *testing.T) {
	for _, c := range []struct {
		name string
		part catalog.Part
		file string // "" saves none
		note string
	}{
		{"an image", png, "tool-images/chart-2.png", "tools: saved tool-images/chart-2.png\n"},
		{"a media type with parameters", catalog.Part{Type: "image", Data: []byte("x"), MIMEType: "IMAGE/JPEG; q=1"}, "tool-images/chart-1.jpg", ""},
		{"a media type that is not known", catalog.Part{Type: "image", Data: []byte("x"), MIMEType: "image/heic"}, "tool-images/chart-1.heic", ""},
		{"a media type that is a path", catalog.Part{Type: "image", Data: []byte("x"), MIMEType: "image/../../x"}, "tool-images/chart-1.bin", ""},
		{"audio", catalog.Part{Type: "audio", Data: []byte("x"), MIMEType: "audio/mpeg"}, "tool-files/chart-1.mp3", ""},
		{"a binary resource", catalog.Part{Type: "resource", Data: []byte("x"), MIMEType: "application/pdf"}, "tool-files/chart-1.pdf", ""},
		{"no media type", catalog.Part{Type: "resource", Data: []byte("x")}, "tool-files/chart-1.bin", ""},
		{"a bad image", catalog.Part{Type: "image", BadData: "its data is not base64"}, "", "tools: the image that tools s chart returned was not saved: its data is not base64\n"},
		{"an empty image", catalog.Part{Type: "image"}, "", "tools: the image that tools s chart returned was not saved: it is empty\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newBench(t)
			taken := filepath.Join(b.dir, "tool-images", "chart-1.png")
			require.NoError(t, os.MkdirAll(filepath.Dir(taken), 0o755))
			require.NoError(t, os.WriteFile(taken, []byte("mine"), 0o644))
			b.tool("chart", `{"readOnlyHint":true}`, returns(parts(text("here"), c.part), nil))
			r := b.run("s chart")
			require.Zero(t, r.exit, "a bad part is no failure")
			require.Equal(t, "here\n", r.stdout)
			if c.note != "" {
				require.Equal(t, c.note, r.stderr)
			}
			if c.file != "" {
				require.Contains(t, r.stderr, c.file)
				got, err := os.ReadFile(filepath.Join(b.dir, c.file))
				require.NoError(t, err)
				require.Equal(t, c.part.Data, got)
			}
			mine, err := os.ReadFile(taken)
			require.NoError(t, err)
			require.Equal(t, "mine", string(mine))
		})
	}
}

func TestEveryImageGetsItsOwnFile(t *testing.T) {
	b := newBench(t)
	b.tool("../x y", `{"readOnlyHint":true}`, returns(parts(png, png), nil))
	b.run("--help")
	var out, errs strings.Builder
	require.Zero(t, b.i.Command(ctx, []string{"s", "../x y"}, intercept.Stdio{Stdout: &out, Stderr: &errs, Dir: folder(b.dir)}))
	require.Equal(t, "tools: saved tool-images/---x-y-1.png\ntools: saved tool-images/---x-y-2.png\n", errs.String())
}

func TestAFolderThatCannotBeWrittenIsANote(t *testing.T) {
	for _, dir := range []intercept.WriteDir{locked{}, nil} {
		b := newBench(t)
		b.tool("chart", `{}`, returns(parts(text("here"), png), nil))
		b.run("--help")
		var out, errs strings.Builder
		require.Zero(t, b.i.Command(ctx, []string{"s", "chart"}, intercept.Stdio{Stdout: &out, Stderr: &errs, Dir: dir}))
		require.Equal(t, "here\n", out.String())
		require.Contains(t, errs.String(), "was not saved")
		require.True(t, b.done()[0].OK)
	}
}

func TestTheSizeOfAResultIsWhatWouldReachTheScript(t *testing.T) {
	big := strings.Repeat("x", 60)
	for _, c := range []struct {
		name string
		out  catalog.Output
		ok   bool
	}{
		{"at the limit", parts(text(strings.Repeat("x", 100))), true},
		{"texts add up", parts(text(big), text(big)), false},
		{"structured alone is printed", structured(`"`+big+`"`, text(big)), true},
		{"structured over it", structured(`"` + big + big + `"`), false},
		{"files count", parts(text(big), catalog.Part{Type: "image", Data: []byte(big)}), false},
		{"so do other parts", parts(catalog.Part{Type: "resource", Raw: json.RawMessage(`"` + big + big + `"`)}), false},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newBench(t)
			b.cfg.MaxResult = 100
			b.tool("t", `{}`, returns(c.out, nil))
			r := b.run("s t")
			require.Len(t, b.done(), 1)
			require.Equal(t, c.ok, b.done()[0].OK)
			if !c.ok {
				e := failed(t, r)
				require.Equal(t, catalog.ToolError, e.Code)
				require.Contains(t, e.Message, "over the limit of 100")
			}
		})
	}
}
