// Package tis_test holds the checks of the whole repository.
package tis_test

import (
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const module = "github.com/tools-in-shell/tis"

// house lists every package, from the ground floor up, with those of ours that
// it may import. Each of them stands further up in this list: the order is
// total.
var house = []struct {
	name    string
	imports []string
}{
	{"catalog", nil},
	{"approvals", []string{"catalog"}},
	{"approvals/sqlstore", []string{"approvals"}},
	{"approvals/storetest", []string{"approvals"}},
	{"analyze", []string{"catalog", "approvals"}},
	{"analyze/dialect", nil},
	{"analyze/lint", []string{"catalog", "approvals", "analyze", "analyze/dialect"}},
	{"report", []string{"catalog", "approvals"}},
	{"intercept/jq", nil},
	{"intercept", []string{"catalog", "approvals", "analyze", "report"}},
	{"runner/sandbox", nil},
	{"runner", []string{"catalog", "approvals", "analyze", "analyze/dialect", "report", "intercept/jq", "intercept", "runner/sandbox"}},
	{"signin", nil},
	{"mcpsource", []string{"catalog", "signin"}},
	{"signin/signintest", nil},
	{"hosts", []string{"catalog"}},
	{"capability", []string{"catalog", "approvals"}},
	{"config", []string{"catalog", "approvals", "capability"}},
	{"corpus", []string{"catalog", "approvals", "analyze", "analyze/lint", "report"}},
	{"bench", []string{"catalog", "approvals", "analyze", "runner/sandbox"}},
	{"endtoend/server", nil},
	{"endtoend", nil},
	{"serve", []string{"catalog", "approvals", "report", "intercept", "runner", "capability"}},
	{"telemetry", []string{"catalog", "report", "serve"}},
	{"cmd/tis-lint", []string{"catalog", "approvals", "analyze", "analyze/lint", "report", "runner/sandbox", "runner", "capability", "config", "corpus"}},
	{"cmd/tis", []string{"catalog", "approvals", "approvals/sqlstore", "analyze", "report", "intercept", "runner/sandbox", "runner", "signin", "mcpsource", "hosts", "capability", "config", "serve", "telemetry"}},
	{"examples/tracker", nil},
	{"examples/embed", []string{"catalog", "runner"}},
}

func TestTheListIsInOrder(t *testing.T) {
	seen := map[string]bool{}
	for _, room := range house {
		assert.False(t, seen[room.name], "%s is listed twice", room.name)
		for _, i := range room.imports {
			assert.True(t, seen[i], "%s may import %s, which does not stand before it", room.name, i)
		}
		seen[room.name] = true
	}
}

func TestImportsRunDownward(t *testing.T) {
	// Files for one system only have imports too.
	for _, system := range []string{"linux", "darwin", "windows"} {
		t.Run(system, func(t *testing.T) {
			var listed []string
			packages := goList(t, system)
			for _, room := range house {
				listed = append(listed, room.name)
				imports, ok := packages[room.name]
				assert.True(t, ok, "the package %s is in the list and not in the repository", room.name)
				for _, i := range imports {
					assert.True(t, slices.Contains(room.imports, i), "%s must not import %s", room.name, i)
				}
			}
			for name := range packages {
				assert.True(t, slices.Contains(listed, name), "the package %s is not in the list", name)
			}
		})
	}
}

// goList returns what each of our packages imports of ours on a system. The
// root holds tests only and is left out.
func goList(t *testing.T, system string) map[string][]string {
	t.Helper()
	cmd := exec.Command("go", "list", "-json=ImportPath,Imports", "./...")
	cmd.Env = append(os.Environ(), "GOOS="+system, "CGO_ENABLED=0")
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	require.NoError(t, err, stderr.String())
	packages := map[string][]string{}
	for dec := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p struct {
			ImportPath string
			Imports    []string
		}
		err := dec.Decode(&p)
		if errors.Is(err, io.EOF) {
			return packages
		}
		require.NoError(t, err)
		name, inside := strings.CutPrefix(p.ImportPath, module+"/")
		if !inside {
			require.Empty(t, p.Imports, "the root holds tests only")
			continue
		}
		ours := []string{}
		for _, i := range p.Imports {
			if i, ok := strings.CutPrefix(i, module+"/"); ok {
				ours = append(ours, i)
			}
		}
		packages[name] = ours
	}
}
