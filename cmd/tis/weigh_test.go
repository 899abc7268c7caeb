package main

import (
	"bytes"
	"context"
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// The ten catalogs were taken from real servers.
func TestWeighTenCatalogs(t *testing.T) {
	files, err := filepath.Glob("../../testdata/catalogs/*.json")
	require.NoError(t, err)
	require.Len(t, files, 10)
	args := []string{"weigh"}
	for _, f := range files {
		args = append(args, "--catalog", f)
	}
	run := func(args ...string) string {
		var out, errOut bytes.Buffer
		p := program{stdin: strings.NewReader(""), stdout: &out, stderr: &errOut, getenv: func(string) (string, bool) { return "", false }}
		require.Equal(t, exitOK, p.main(context.Background(), args), errOut.String())
		return out.String()
	}
	var w weights
	require.NoError(t, json.Unmarshal([]byte(run(append(args, "--json")...)), &w))
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
	require.Contains(t, run(args...), "behind tis serve")
	t.Log("\n" + run(args...))
}
