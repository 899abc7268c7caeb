package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func weigh(t *testing.T, args ...string) string {
	t.Helper()
	var out, errOut bytes.Buffer
	p := program{stdin: strings.NewReader(""), stdout: &out, stderr: &errOut, getenv: func(string) (string, bool) { return "", false }}
	require.Equal(t, exitOK, p.main(context.Background(), append([]string{"weigh"}, args...)), errOut.String())
	return out.String()
}

// The ten catalogs were taken from real servers.
func TestWeighTenCatalogs(t *testing.T) {
	files, err := filepath.Glob("../../testdata/catalogs/*.json")
	require.NoError(t, err)
	require.Len(t, files, 10)
	var args []string
	for _, f := range files {
		args = append(args, "--catalog", f)
	}
	var w weights
	require.NoError(t, json.Unmarshal([]byte(weigh(t, append(args, "--json")...)), &w))
	require.Len(t, w.Servers, 10)
	sum := weight{}
	for _, s := range w.Servers {
		require.Positive(t, s.Tools, s.Name)
		require.Greater(t, s.Bytes, 50*s.Tools, s.Name)
		sum.add(s.Tools, s.Bytes)
	}
	require.Equal(t, sum, w.Directly)
	require.Equal(t, 1, w.Behind.Tools)
	require.Greater(t, w.Behind.Bytes, 500)
	require.Greater(t, w.Directly.Bytes, 20*w.Behind.Bytes)

	readme, err := os.ReadFile("../../README.md")
	require.NoError(t, err)
	thousands := func(n int) string { return fmt.Sprintf("%d,%03d", n/1000, n%1000) }
	require.Contains(t, string(readme), fmt.Sprintf("%d tools of ten real servers take %s bytes of the prompt directly, and %s behind", w.Directly.Tools, thousands(w.Directly.Bytes), thousands(w.Behind.Bytes)))
}

// What the documentation shows is what the command prints.
func TestWeighAsDocumented(t *testing.T) {
	doc, err := os.ReadFile("../../docs/serve.md")
	require.NoError(t, err)
	_, block, ok := strings.Cut(string(doc), "$ tis weigh ")
	require.True(t, ok)
	line, rest, _ := strings.Cut(block, "\n")
	want, _, _ := strings.Cut(rest, "```")
	args := strings.Fields(line)
	for i, a := range args {
		args[i] = strings.Replace(a, "testdata/", "../../testdata/", 1)
	}
	require.Equal(t, want, weigh(t, args...))
}
