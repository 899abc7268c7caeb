package main

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"
)

// npm is a file of testdata/npm; CI installs what is in it.
func npm(t *testing.T, name ...string) (path string, ok bool) {
	t.Helper()
	root, err := filepath.Abs("../../testdata/npm")
	require.NoError(t, err)
	_, err = os.Stat(filepath.Join(root, "node_modules", "@modelcontextprotocol", "conformance"))
	path, ok = filepath.Join(append([]string{root}, name...)...), err == nil
	if !ok {
		require.Empty(t, os.Getenv("TIS_CI"), "CI installs testdata/npm")
		t.Log("testdata/npm is not installed (npm ci); nothing to check")
	}
	return path, ok
}

// A client that is not built on the library that tis is built on.
func TestServeDrivenByAnotherClientLibrary(t *testing.T) {
	script, ok := npm(t, "client.mjs")
	if !ok {
		return
	}
	for _, way := range []string{"stdio", "http"} {
		t.Run(way, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t)
			var cmd *exec.Cmd
			if way == "http" {
				cmd = exec.Command("node", script, "http", p.web().url, token)
			} else {
				tis := p.serve()
				cmd = exec.Command("node", append([]string{script, "stdio"}, tis.Args...)...)
				cmd.Env = tis.Env
			}
			var stderr bytes.Buffer
			cmd.Stderr = &stderr
			b, err := cmd.Output()
			require.NoError(t, err, stderr.String())
			var out struct {
				Server                                                                      struct{ Name string }
				Tools                                                                       []string
				Progress                                                                    []mcp.ProgressNotificationParams
				Read, Allow, Decline, Cancel, Reject, RejectAlways, Rejected, Always, After ran
				AlwaysAgain, Apart                                                          ran
				Cancelled                                                                   string
				Questions                                                                   struct{ A, B []string }
			}
			require.NoError(t, json.Unmarshal(b, &out), string(b))
			require.Equal(t, "tis", out.Server.Name)
			require.Equal(t, []string{"bash"}, out.Tools)
			require.Equal(t, "5\n", out.Read.Stdout)
			require.Len(t, out.Progress, 1)
			require.True(t, out.Allow.Success)
			for _, r := range []ran{out.Decline, out.Cancel} {
				require.True(t, r.Tools.Stopped.BeforeStart)
				require.Contains(t, r.Note, "no answer")
			}
			for _, r := range []ran{out.Reject, out.RejectAlways, out.Rejected} {
				require.False(t, r.Success)
				require.Contains(t, r.Stderr, `"code":"denied"`)
			}
			require.True(t, out.Always.Success, "another session's rejection does not count")
			require.True(t, out.AlwaysAgain.Success)
			require.Empty(t, out.Apart.Stdout)
			require.Len(t, out.Questions.A, 5)
			require.Len(t, out.Questions.B, 1)
			require.Contains(t, out.Cancelled, "enough")
			require.Equal(t, "after\n", out.After.Stdout)
			require.Len(t, out.After.Earlier, 1)
			require.Equal(t, []string{"fix-login", "main"}, p.branches())
			if way == "stdio" {
				require.Empty(t, left(p))
			}
		})
	}
}

// scenarios are those of the protocol's conformance suite for servers. The ones
// that do not apply say why.
var scenarios = map[string]string{
	"server-initialize": "", "logging-set-level": "", "ping": "", "tools-list": "", "tools-call-simple-text": "", "tools-call-error": "",
	"json-schema-2020-12": "", "server-sse-multiple-streams": "", "server-sse-polling": "", "dns-rebinding-protection": "",
	"resources-list": "", "prompts-list": "",

	"tools-call-image":              localOnly + "gives images",
	"tools-call-audio":              localOnly + "gives audio",
	"tools-call-embedded-resource":  localOnly + "gives resources",
	"tools-call-mixed-content":      localOnly + "gives images",
	"tools-call-with-logging":       localOnly + "logs to the client",
	"tools-call-with-progress":      localOnly + "tells progress; bash does, and other tests check it",
	"tools-call-sampling":           localOnly + "asks the client's model",
	"tools-call-elicitation":        localOnly + "asks the person; the gate does, and other tests check it",
	"elicitation-sep1034-defaults":  "an approval has no default",
	"elicitation-sep1330-enums":     localOnly + "asks the person",
	"completion-complete":           "there are no prompts and resources to complete",
	"resources-read-text":           noResources,
	"resources-read-binary":         noResources,
	"resources-templates-read":      noResources,
	"resources-subscribe":           noResources,
	"resources-unsubscribe":         noResources,
	"prompts-get-simple":            noPrompts,
	"prompts-get-with-args":         noPrompts,
	"prompts-get-embedded-resource": noPrompts,
	"prompts-get-with-image":        noPrompts,
}

const (
	localOnly   = "the suite calls a tool by a name of its own, which only a local command can have, and no local command "
	noResources = "tis serves no resources"
	noPrompts   = "tis serves no prompts"
)

func TestServePassesTheProtocolsConformanceSuite(t *testing.T) {
	suite, ok := npm(t, "node_modules", ".bin", "conformance")
	if !ok {
		return
	}
	list, err := exec.Command(suite, "list").Output()
	require.NoError(t, err)
	servers, _, _ := strings.Cut(string(list), "Client scenarios")
	var names, known []string
	for _, m := range regexp.MustCompile(`(?m)^  - (\S+)`).FindAllStringSubmatch(servers, -1) {
		names = append(names, m[1])
	}
	for name := range scenarios {
		known = append(known, name)
	}
	require.ElementsMatch(t, names, known, "each of the suite's scenarios is run, or says why not")

	p := newPlace(t)
	tool := func(name, schema string, command ...string) map[string]any {
		return map[string]any{"name": name, "description": "For the suite.", "inputSchema": json.RawMessage(schema), "command": command}
	}
	object := `{"type":"object"}`
	p.config["tools"] = []any{
		tool("test_simple_text", object, "printf", "%s", "This is a simple text response for testing."),
		tool("test_error_handling", object, "sh", "-c", "echo 'This tool intentionally returns an error for testing' >&2; exit 1"),
		tool("json_schema_2020_12_tool", `{"$schema":"https://json-schema.org/draft/2020-12/schema","type":"object","$defs":{"address":{"type":"object","properties":{"street":{"type":"string"},"city":{"type":"string"}}}},`+
			`"properties":{"name":{"type":"string"},"address":{"$ref":"#/$defs/address"}},"additionalProperties":false}`, "true"),
	}
	p.keep("test_simple_text", "test_error_handling", "json_schema_2020_12_tool")
	p.config["capabilities"] = append(p.config["capabilities"].([]any), map[string]any{"ref": "tool_approval", "config": map[string]any{"mode": "off"}})
	p.open = true
	w := p.web()
	slices.Sort(known)
	for _, name := range known {
		if scenarios[name] != "" {
			continue
		}
		t.Run(name, func(t *testing.T) {
			out, err := exec.Command(suite, "server", "--url", w.url+"/", "--scenario", name).CombinedOutput()
			require.NoError(t, err, string(out))
			require.Contains(t, string(out), " 0 failed", string(out))
		})
	}
}
