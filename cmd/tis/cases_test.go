package main

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tools-in-shell/tis/report"
	"github.com/tools-in-shell/tis/runner/sandbox"
)

// The test binary is tis itself, too, for tests that need the process.
const asProgram = "TIS_TEST_AS_PROGRAM"

func TestMain(m *testing.M) {
	sandbox.Main()
	if os.Getenv(asServer) != "" {
		growing()
		os.Exit(0)
	}
	if os.Getenv(asClient) != "" {
		os.Exit(conformanceClient())
	}
	if os.Getenv(asLibrary) != "" {
		library()
		os.Exit(0)
	}
	if os.Getenv(asProgram) != "" {
		main()
	}
	code := m.Run()
	os.RemoveAll(trackerDir)
	os.Exit(code)
}

// a case is a session of `tis run` against real server processes.
type testCase struct {
	Name    string
	Mode    string
	Servers map[string]json.RawMessage
	Config  map[string]json.RawMessage
	Steps   []struct {
		Script  string
		Dir     string
		Timeout string
		Answers [][2]json.RawMessage
		Want    want
	}
}

type want struct {
	Exit          *int
	Stdout        *string
	StdoutHas     []string `json:"stdout_has"`
	StdoutLacks   []string `json:"stdout_lacks"`
	StderrHas     []string `json:"stderr_has"`
	Codes         []string
	Calls         *[]json.RawMessage
	NCalls        *int     `json:"n_calls"`
	RawHas        []string `json:"raw_has"`
	Tools         json.RawMessage
	NoTools       bool `json:"no_tools"`
	Requests      *int
	Files         []string
	NoFiles       []string `json:"no_files"`
	Lists         map[string]int
	StoppedLacks  []string          `json:"stopped_lacks"`
	CallsAnyOrder []json.RawMessage `json:"calls_any_order"`
}

func TestCases(t *testing.T) {
	files, err := filepath.Glob("../../testdata/cases/*.case.json")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		raw, err := os.ReadFile(file)
		require.NoError(t, err)
		var c testCase
		require.NoError(t, json.Unmarshal(raw, &c), file)
		t.Run(c.Name, func(t *testing.T) { t.Parallel(); runCase(t, c) })
	}
}

func runCase(t *testing.T, c testCase) {
	tmp := t.TempDir()
	work, log := filepath.Join(tmp, "work"), filepath.Join(tmp, "calls.log")
	server, err := filepath.Abs("../../testdata/cases/server.mjs")
	require.NoError(t, err)
	var spec map[string]json.RawMessage
	read(t, "../../testdata/cases/servers.json", &spec)
	for k, v := range c.Servers {
		spec[k] = v
	}
	specFile := filepath.Join(tmp, "spec.json")
	write(t, specFile, spec)
	servers := map[string]any{}
	for name, raw := range spec {
		var s struct{ Load, Description string }
		require.NoError(t, json.Unmarshal(raw, &s))
		entry := map[string]any{"command": "node", "args": []string{server, specFile, name, log}}
		if s.Load != "" {
			entry["load"] = s.Load
		}
		if s.Description != "" {
			entry["description"] = s.Description
		}
		servers[name] = entry
	}
	mode := c.Mode
	if mode == "" {
		mode = "normal"
	}
	cfg := map[string]any{"mcpServers": servers, "capabilities": []any{
		map[string]any{"ref": "tools_in_shell", "config": map[string]any{}},
		map[string]any{"ref": "tool_approval", "config": map[string]any{"mode": mode}}}}
	for k, v := range c.Config {
		cfg[k] = v
	}
	config := filepath.Join(tmp, "tis.json")
	write(t, config, cfg)
	tis := func(stdin string, args ...string) (int, string, string) {
		var out, errOut bytes.Buffer
		env := map[string]string{"HOME": tmp, "XDG_STATE_HOME": tmp, "PATH": os.Getenv("PATH")}
		p := program{stdin: strings.NewReader(stdin), stdout: &out, stderr: &errOut, getenv: func(k string) (string, bool) { v, ok := env[k]; return v, ok }}
		return p.main(context.Background(), args), out.String(), errOut.String()
	}
	common := []string{"-c", config, "--session", "case", "--store", "sqlite:" + filepath.Join(tmp, "approvals.db")}
	var last report.Result
	for _, s := range c.Steps {
		for _, a := range s.Answers {
			var decision string
			var n int
			require.NoError(t, json.Unmarshal(a[0], &decision))
			require.NoError(t, json.Unmarshal(a[1], &n))
			exit, _, errOut := tis("", append([]string{"approvals", "answer", last.ApprovalRequests[n].ID, decision}, common...)...)
			require.Zero(t, exit, errOut)
		}
		if s.Dir != "keep" {
			require.NoError(t, os.RemoveAll(work))
			require.NoError(t, os.Mkdir(work, 0o755))
		}
		require.NoError(t, os.WriteFile(log, nil, 0o600))
		args := append([]string{"run", "--json", "--dir", work}, common...)
		if s.Timeout != "" {
			args = append(args, "--timeout", s.Timeout)
		}
		exit, out, errOut := tis(s.Script, append(args, "-")...)
		var r report.Result
		require.NoError(t, json.Unmarshal([]byte(out), &r), errOut)
		require.Equal(t, r.ExitCode, exit)
		if len(r.ApprovalRequests) > 0 || last.ApprovalRequests == nil {
			last = r
		}
		checkStep(t, s.Want, r, work, log)
	}
}

func checkStep(t *testing.T, w want, r report.Result, work, log string) {
	t.Helper()
	if w.Exit != nil {
		require.Equal(t, *w.Exit, r.ExitCode, "%+v", r)
	}
	if w.Stdout != nil {
		require.Equal(t, *w.Stdout, r.Stdout, r.Stderr)
	}
	for _, x := range w.StdoutHas {
		require.Contains(t, r.Stdout, x)
	}
	for _, x := range w.StdoutLacks {
		require.NotContains(t, r.Stdout, x)
	}
	for _, x := range w.StderrHas {
		require.Contains(t, r.Stderr, x)
	}
	if w.Codes != nil {
		require.Equal(t, w.Codes, codes(r.Stderr), r.Stderr)
	}
	calls, raws, lists := readLog(t, log)
	if w.Calls != nil {
		require.JSONEq(t, jsonOf(t, *w.Calls), jsonOf(t, calls))
	}
	if w.CallsAnyOrder != nil {
		require.ElementsMatch(t, w.CallsAnyOrder, calls)
	}
	if w.NCalls != nil {
		require.Len(t, calls, *w.NCalls)
	}
	for _, x := range w.RawHas {
		require.Contains(t, raws, x)
	}
	for server, n := range w.Lists {
		require.Equal(t, n, lists[server], server)
	}
	if w.NoTools {
		require.Nil(t, r.Tools)
	}
	if w.Tools != nil {
		require.NotNil(t, r.Tools)
		var a, b any
		require.NoError(t, json.Unmarshal(w.Tools, &a))
		require.NoError(t, json.Unmarshal([]byte(jsonOf(t, r.Tools)), &b))
		subset(t, "tools", a, b)
	}
	if w.Requests != nil {
		require.Len(t, r.ApprovalRequests, *w.Requests)
	}
	if len(w.StoppedLacks) > 0 && r.Tools != nil && r.Tools.Stopped != nil {
		for _, k := range w.StoppedLacks {
			require.NotContains(t, jsonOf(t, r.Tools.Stopped), `"`+k+`":`)
		}
	}
	for _, g := range w.Files {
		found, _ := filepath.Glob(filepath.Join(work, g))
		require.NotEmpty(t, found, g)
	}
	for _, g := range w.NoFiles {
		found, _ := filepath.Glob(filepath.Join(work, g))
		require.Empty(t, found, g)
	}
}

// subset requires that got holds all that want has; "~x" is contained, ignoring case.
func subset(t *testing.T, at string, want, got any) {
	t.Helper()
	switch w := want.(type) {
	case map[string]any:
		g, ok := got.(map[string]any)
		require.True(t, ok, at)
		for k, v := range w {
			require.Contains(t, g, k, at)
			subset(t, at+"."+k, v, g[k])
		}
	case []any:
		g, ok := got.([]any)
		require.True(t, ok, at)
		require.Len(t, g, len(w), at)
		for i := range w {
			subset(t, at, w[i], g[i])
		}
	case string:
		if part, ok := strings.CutPrefix(w, "~"); ok {
			g, _ := got.(string)
			require.Contains(t, strings.ToLower(g), strings.ToLower(part), at)
			return
		}
		require.Equal(t, want, got, at)
	default:
		require.Equal(t, want, got, at)
	}
}

func codes(stderr string) []string {
	out := []string{}
	for line := range strings.Lines(stderr) {
		var e struct{ Error struct{ Code string } }
		if strings.HasPrefix(line, `{"error"`) && json.Unmarshal([]byte(line), &e) == nil {
			out = append(out, e.Error.Code)
		}
	}
	return out
}

// readLog reads the servers' own log: what really arrived.
func readLog(t *testing.T, log string) (calls []json.RawMessage, raws string, lists map[string]int) {
	t.Helper()
	b, err := os.ReadFile(log)
	require.NoError(t, err)
	calls, lists = []json.RawMessage{}, map[string]int{}
	for line := range strings.Lines(string(b)) {
		var x struct {
			Server, Tool, Raw string
			Input             json.RawMessage
			List              bool
		}
		require.NoError(t, json.Unmarshal([]byte(line), &x))
		if x.List {
			lists[x.Server]++
			continue
		}
		raws += x.Raw
		calls = append(calls, json.RawMessage(jsonOf(t, []any{x.Server + " " + x.Tool, x.Input})))
	}
	return calls, raws, lists
}

func read(t *testing.T, name string, into any) {
	t.Helper()
	b, err := os.ReadFile(name)
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(b, into))
}

func write(t *testing.T, name string, v any) {
	t.Helper()
	require.NoError(t, os.WriteFile(name, []byte(jsonOf(t, v)), 0o600))
}

func jsonOf(t *testing.T, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	require.NoError(t, err)
	return string(b)
}
