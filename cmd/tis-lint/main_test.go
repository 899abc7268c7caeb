package main

import (
	"bytes"
	"encoding/xml"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tools-in-shell/tis/analyze/lint"
	"github.com/tools-in-shell/tis/runner/sandbox"
)

func TestMain(m *testing.M) {
	sandbox.Main()
	testscript.Main(m, map[string]func(){"tis-lint": main})
}

// The program as a process: every flag, format and bad input.
func TestScripts(t *testing.T) {
	catalog, err := filepath.Abs("../../corpus/cases/catalogs/base.json")
	require.NoError(t, err)
	cases, err := filepath.Abs("../../corpus/cases")
	require.NoError(t, err)
	testscript.Run(t, testscript.Params{Dir: "testdata/script", Setup: func(e *testscript.Env) error {
		e.Setenv("CATALOG", catalog)
		e.Setenv("CASES", cases)
		return nil
	}})
}

// Whatever a script holds, the frames steer no terminal and the formats stay
// what they are.
func TestHostileScripts(t *testing.T) {
	text := "tools \x1b]0;title\x07 \u202egnp.exe\u202c ]]> <a&b> '\r' %0A ::error::x \xff\xfe日本\u0301\n\ttools linear create-issue title=$t\t# \x1b[31m\n"
	found, err := check([]*script{{file: "odd \x1b[2J<&>.sh", text: text}}, lint.Options{})
	require.NoError(t, err)
	require.NotEmpty(t, found[0].findings)
	for name, write := range formats {
		var out bytes.Buffer
		require.NoError(t, write(&out, found, false), name)
		printed := out.String()
		assert.NotContains(t, printed, "\x1b", name)
		switch name {
		case "checkstyle", "junit":
			dec := xml.NewDecoder(strings.NewReader(printed))
			for {
				_, err := dec.Token()
				if err == io.EOF {
					break
				}
				require.NoError(t, err, name)
			}
		case "github":
			for line := range strings.Lines(printed) {
				assert.Regexp(t, `^::(error|warning|notice) file=`, line)
			}
		}
	}
}

func TestFilesThatAreNoScripts(t *testing.T) {
	dir := t.TempDir()
	binary := filepath.Join(dir, "binary.sh")
	require.NoError(t, os.WriteFile(binary, []byte("#!/bin/sh\n\x00"), 0o600))
	var out, errOut bytes.Buffer
	p := program{stdin: strings.NewReader(""), stdout: &out, stderr: &errOut, getenv: os.LookupEnv}
	require.Equal(t, exitUsage, p.main(t.Context(), []string{binary}))
	require.Equal(t, "tis-lint: "+binary+": is a binary file, want a script\n", errOut.String())
}

func TestTheCaretStandsUnderWhatIsMeant(t *testing.T) {
	for _, c := range []struct{ before, meant, after string }{
		{"", "tools", " x"}, {"\t\t", "title=$t", ""}, {"日本 ", "本", " x"}, {"e\u0301 ", "x", ""},
		{strings.Repeat("long ", 40), "title=$t", strings.Repeat(" more", 40)}, {"a", strings.Repeat("x", 200), "b"}, {"\x1b[31m", "x", "\u202e"},
	} {
		var out bytes.Buffer
		frame(&out, false, 7, c.before+c.meant+c.after, len(c.before), len(c.before+c.meant), "")
		lines := strings.Split(out.String(), "\n")
		source, marks := lines[1], lines[2]
		at := strings.Index(marks, "^")
		rest := source
		for columns(source)-columns(rest) < at {
			_, size := []rune(rest)[0], len(string([]rune(rest)[0]))
			rest = rest[size:]
		}
		assert.True(t, strings.HasPrefix(strings.TrimLeft(rest, "\u0301"), string([]rune(shown(c.meant))[0])), "%q\n%s", c, out.String())
		assert.LessOrEqual(t, columns(source), 140)
	}
}

func TestFences(t *testing.T) {
	text := "# x\n\n```bash\ntools a\n```\n\n- item\n  ```sh title=x\n  tools b\n    tools c\n  ```\n\n```console\n$ tools d\n```\n\n> ~~~ shell\n> tools e\n> ~~~\n\n````bash\n```\ntools f\n````\n\n```go\ntools g\n```\n"
	var got []string
	for _, s := range fences("x.md", text) {
		line, col := s.at(lint.Position{Line: 1, Col: 1})
		got = append(got, strings.TrimSpace(s.text))
		lines := strings.Split(text, "\n")
		assert.True(t, strings.HasPrefix(lines[line-1][col-1:], strings.Split(s.text, "\n")[0]), "%q %d:%d", s.text, line, col)
	}
	assert.Equal(t, []string{"tools a", "tools b\n  tools c", "tools e", "```\ntools f"}, got)
}

func FuzzInputs(f *testing.F) {
	f.Add("```bash\ntools a\n```\n", `{"script":"tools a"}`)
	f.Add("- ```sh\n  x\n  ```", `{"hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"tools x"}}`)
	f.Fuzz(func(t *testing.T, markdown, event string) {
		for _, s := range fences("x.md", markdown) {
			line, col := s.at(lint.Position{Line: 1, Col: 1})
			require.LessOrEqual(t, line, strings.Count(markdown, "\n")+2)
			require.Positive(t, col)
		}
		var out, errOut bytes.Buffer
		p := program{stdin: strings.NewReader(event), stdout: &out, stderr: &errOut, getenv: os.LookupEnv}
		require.Zero(t, p.main(t.Context(), []string{"hook", "--catalog", "../../corpus/cases/catalogs/base.json"}))
		require.Empty(t, errOut.String())
	})
}
