package lint_test

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/tools/txtar"

	"github.com/tools-in-shell/tis/analyze/lint"
	"github.com/tools-in-shell/tis/approvals"
	"github.com/tools-in-shell/tis/catalog"
)

var update = flag.Bool("update", false, "write docs/rules.md and the wants of testdata")

// example is the catalog that the rules' pages are about.
func example(tb testing.TB) *catalog.Catalog {
	f, err := os.Open("testdata/catalog.json")
	require.NoError(tb, err)
	defer f.Close()
	servers, top, err := catalog.ParseCatalogFile(f, "testdata/catalog.json")
	require.NoError(tb, err)
	return catalog.New(servers, top, catalog.Options{})
}

// options judge by the normal mode, and by a rule that no issue of Linear is
// deleted.
func options(tb testing.TB) lint.Options {
	rules, err := approvals.CompileRules([]approvals.Rule{{Tool: "linear delete-*", Decision: "deny", Message: "archive it"}})
	require.NoError(tb, err)
	gate := approvals.NewGate(approvals.NewMemory(), approvals.Config{Rules: rules})
	return lint.Options{Catalog: example(tb), Preview: func(calls []catalog.Call) ([]approvals.Verdict, error) {
		return gate.Preview(context.Background(), "lint", calls)
	}}
}

func TestEveryPageShowsItsRule(t *testing.T) {
	codes := map[string]bool{}
	for _, r := range lint.Rules() {
		t.Run(r.Code, func(t *testing.T) {
			assert.False(t, codes[r.Code], "the code is given twice")
			codes[r.Code] = true
			assert.Regexp(t, `^TIS[0-9]{3}$`, r.Code)
			assert.Regexp(t, `^[a-z]+(-[a-z]+)*$`, r.Name)
			assert.NotEmpty(t, r.Title)
			assert.NotEmpty(t, r.Why)
			assert.Same(t, r, lint.Find(r.Code))
			found, err := lint.Check(r.Bad, options(t))
			require.NoError(t, err)
			assert.Contains(t, codesOf(found), r.Code, "the bad example:\n%s\n%v", r.Bad, found)
			found, err = lint.Check(r.Good, options(t))
			require.NoError(t, err)
			assert.NotContains(t, codesOf(found), r.Code, "the good example:\n%s", r.Good)
			for _, f := range found {
				assert.NotEqual(t, lint.Error, f.Severity, "the good example: %s", f.Message)
			}
		})
	}
}

func codesOf(found []lint.Finding) (codes []string) {
	for _, f := range found {
		codes = append(codes, f.Rule.Code)
	}
	return codes
}

func TestTheRulesPageIsUpToDate(t *testing.T) {
	var b strings.Builder
	b.WriteString("# Rules\n\nWhat tis-lint can say. This page is made from the rules: `go test ./analyze/lint -update` writes it.\n\n| Code | Name | Severity | What |\n|---|---|---|---|\n")
	for _, r := range lint.Rules() {
		fmt.Fprintf(&b, "| [%s](#%s-%s-%s) | %s | %s | %s |\n", r.Code, strings.ToLower(r.Code), r.Name, r.Severity, r.Name, r.Severity, r.Title)
	}
	for _, r := range lint.Rules() {
		b.WriteString("\n" + lint.Page(r))
	}
	const name = "../../docs/rules.md"
	if *update {
		require.NoError(t, os.WriteFile(name, []byte(b.String()), 0o644))
	}
	have, err := os.ReadFile(name)
	require.NoError(t, err)
	require.Equal(t, string(have), b.String(), "docs/rules.md is old: go test ./analyze/lint -update")
}

// shown is the findings as testdata has them.
func shown(found []lint.Finding) string {
	var b strings.Builder
	for _, f := range found {
		fmt.Fprintf(&b, "%d:%d-%d:%d %s %s: %s\n", f.Start.Line, f.Start.Col, f.End.Line, f.End.Col, f.Severity, f.Rule.Code, f.Message)
		for _, n := range f.Notes {
			fmt.Fprintf(&b, "  %d:%d %s\n", n.Start.Line, n.Start.Col, n.Message)
		}
		for _, x := range f.Fixes {
			fmt.Fprintf(&b, "  fix: %s\n", x.Message)
		}
	}
	return b.String()
}

// testdata/*.txtar hold scripts and what is found in them, near misses among
// them; NAME.sh is a script, NAME.want its findings and NAME.fixed the script
// with the fixes made.
func TestFindings(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txtar")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		a, err := txtar.ParseFile(file)
		require.NoError(t, err)
		data := map[string]string{}
		for _, f := range a.Files {
			data[f.Name] = string(f.Data)
		}
		out := &txtar.Archive{Comment: a.Comment}
		for _, f := range a.Files {
			name, ok := strings.CutSuffix(f.Name, ".sh")
			if !ok {
				continue
			}
			t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar")+"/"+name, func(t *testing.T) {
				found, err := lint.Check(string(f.Data), options(t))
				require.NoError(t, err)
				fixed, n := lint.ApplyFixes(string(f.Data), found)
				out.Files = append(out.Files, f, txtar.File{Name: name + ".want", Data: []byte(shown(found))})
				if n > 0 {
					out.Files = append(out.Files, txtar.File{Name: name + ".fixed", Data: []byte(fixed)})
				}
				if *update {
					return
				}
				want, ok := data[name+".want"]
				require.True(t, ok, "there is no want")
				assert.Equal(t, want, shown(found))
				assert.Equal(t, data[name+".fixed"], map[bool]string{true: fixed}[n > 0])
			})
		}
		if *update {
			require.NoError(t, os.WriteFile(file, txtar.Format(out), 0o644))
		}
	}
}

func TestWithoutACatalogOnlyTheShellIsLookedAt(t *testing.T) {
	found, err := lint.Check("tools nosuch tool a=$x\nexit\ntools b\n", lint.Options{})
	require.NoError(t, err)
	assert.Equal(t, []string{"TIS403", "TIS503"}, codesOf(found))
}

func TestOptions(t *testing.T) {
	o := options(t)
	o.Disabled = []string{"TIS101"}
	found, err := lint.Check("tools nosuch\n", o)
	require.NoError(t, err)
	assert.Empty(t, found)
	o.Disabled, o.Severities = nil, map[string]lint.Severity{"TIS101": lint.Info}
	found, err = lint.Check("tools nosuch\n", o)
	require.NoError(t, err)
	require.Len(t, found, 1)
	assert.Equal(t, lint.Info, found[0].Severity)
	for _, bad := range []lint.Options{{Disabled: []string{"TIS109"}}, {Severities: map[string]lint.Severity{"X": lint.Info}}, {Severities: map[string]lint.Severity{"TIS101": "bad"}}} {
		_, err := lint.Check("", bad)
		assert.Error(t, err)
	}
	_, err = lint.Check("tools github delete-branch branch=x\n", lint.Options{Catalog: example(t), Preview: func([]catalog.Call) ([]approvals.Verdict, error) { return nil, os.ErrClosed }})
	assert.ErrorIs(t, err, os.ErrClosed)
}

func FuzzCheck(f *testing.F) {
	for _, r := range lint.Rules() {
		f.Add(r.Bad)
		f.Add(r.Good)
	}
	o := options(f)
	f.Fuzz(func(t *testing.T, text string) {
		found, err := lint.Check(text, o)
		require.NoError(t, err)
		for _, x := range found {
			require.LessOrEqual(t, x.Start.Offset, x.End.Offset)
			require.LessOrEqual(t, x.End.Offset, len(text))
			require.NotContains(t, x.Message, "\n")
		}
		lint.ApplyFixes(text, found)
	})
}

func BenchmarkCheck(b *testing.B) {
	raw, err := os.ReadFile("../../bench/testdata/review.sh")
	require.NoError(b, err)
	files, err := filepath.Glob("../../testdata/catalogs/*.json")
	require.NoError(b, err)
	var servers []catalog.Source
	for _, name := range files {
		f, err := os.Open(name)
		require.NoError(b, err)
		s, _, err := catalog.ParseCatalogFile(f, name)
		f.Close()
		require.NoError(b, err)
		servers = append(servers, s...)
	}
	o := options(b)
	o.Catalog = catalog.New(servers, nil, catalog.Options{})
	for _, times := range []int{1, 322} {
		text := strings.Repeat(string(raw), times)
		b.Run(fmt.Sprintf("lines=%d", strings.Count(text, "\n")), func(b *testing.B) {
			for b.Loop() {
				if _, err := lint.Check(text, o); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
