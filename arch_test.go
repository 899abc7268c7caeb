// Package tis_test holds the checks of the whole repository.
package tis_test

import (
	"encoding/json"
	"io"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// house lists every package with those of ours that it may import.
var house = map[string][]string{
	"":                    nil,
	"catalog":             nil,
	"approvals":           {"catalog"},
	"approvals/sqlstore":  {"approvals"},
	"approvals/storetest": {"approvals"},
	"analyze":             {"catalog", "approvals"},
	"report":              {"catalog", "approvals"},
	"intercept":           {"catalog", "approvals", "analyze", "report"},
	"intercept/jq":        nil,
	"runner":              {"catalog", "approvals", "analyze", "report", "intercept", "intercept/jq", "runner/sandbox"},
	"runner/sandbox":      nil,
	"mcpsource":           {"catalog"},
	"capability":          {"catalog", "approvals"},
	"config":              {"catalog", "approvals", "capability"},
	"cmd/tis":             {"catalog", "approvals", "approvals/sqlstore", "analyze", "report", "intercept", "runner", "runner/sandbox", "mcpsource", "capability", "config"},
	"examples/embed":      {"catalog", "runner"},
	"examples/tracker":    nil,
}

func TestImportsRunDownward(t *testing.T) {
	const module = "github.com/tools-in-shell/tis"
	out, err := exec.Command("go", "list", "-json=ImportPath,Imports", "./...").Output()
	require.NoError(t, err)
	dec, seen := json.NewDecoder(strings.NewReader(string(out))), 0
	for {
		var p struct {
			ImportPath string
			Imports    []string
		}
		err := dec.Decode(&p)
		if err == io.EOF {
			break
		}
		require.NoError(t, err)
		name := strings.Trim(strings.TrimPrefix(p.ImportPath, module), "/")
		allowed, listed := house[name]
		require.True(t, listed, "the package %s is not in the list", name)
		seen++
		for _, i := range p.Imports {
			if ours, ok := strings.CutPrefix(i, module+"/"); ok {
				require.True(t, slices.Contains(allowed, ours), "%s must not import %s", name, ours)
			}
		}
	}
	require.Equal(t, len(house), seen, "a listed package is gone")
}
