package corpus

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/tools/txtar"

	"github.com/tools-in-shell/tis/approvals"
	"github.com/tools-in-shell/tis/catalog"
)

// Setting is what a script meets: case.json.
type Setting struct {
	// Catalogs are catalog files, relative to the case.
	Catalogs    []string         `json:"catalogs,omitempty"`
	KeepVisible []string         `json:"keep_visible,omitempty"`
	Mode        approvals.Mode   `json:"mode,omitempty"`
	Rules       []approvals.Rule `json:"rules,omitempty"`
	// Answers were given before the first run.
	Answers []Answer `json:"answers,omitempty"`
	// Then holds, for each further run, the answers to what the run before it
	// asked, in order; the last one is for all that are left.
	Then [][]approvals.Decision `json:"then,omitempty"`
	// Results are what the tools give. The first that fits counts.
	Results []Canned `json:"results,omitempty"`
	Calls   int      `json:"calls,omitempty"` // the call limit of a run; default 50
	// Unordered says that calls run side by side: what arrived and what was done
	// is sorted, since its order means nothing.
	Unordered bool `json:"unordered,omitempty"`
}

// Answer is a person's answer to one call.
type Answer struct {
	Tool     string             `json:"tool"` // "tools github delete-branch"
	Input    json.RawMessage    `json:"input"`
	Decision approvals.Decision `json:"decision"`
}

// Canned is what a tool gives for an input.
type Canned struct {
	Tool  string          `json:"tool"`            // as typed; * is every tool
	Input json.RawMessage `json:"input,omitempty"` // nothing: any
	// Output is a text when it is a JSON string, else a structured result.
	Output json.RawMessage `json:"output,omitempty"`
	// Error makes the call fail with this text.
	Error string `json:"error,omitempty"`
}

// Case is one recorded script.
type Case struct {
	// Path is the file that the case came from.
	Path string
	// About says what the case shows.
	About   string
	Setting Setting

	scripts []string          // of each run; the last one is for all that follow
	files   map[string][]byte // of the working directory
	want    map[string]string // by name: plan, lint, run-1
	archive *txtar.Archive
	servers []catalog.Source
	top     []*catalog.Tool
}

// Load reads a case. An error names the file and what is wrong in it.
func Load(name string) (*Case, error) {
	raw, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	c, err := parse(name, raw)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return c, nil
}

func parse(name string, raw []byte) (*Case, error) {
	c := &Case{Path: name, files: map[string][]byte{}, want: map[string]string{}, archive: txtar.Parse(raw)}
	c.About = strings.TrimSpace(string(c.archive.Comment))
	scripts, seen := map[int]string{}, map[string]bool{}
	for _, f := range c.archive.Files {
		if seen[f.Name] {
			return nil, fmt.Errorf("%s is there twice", f.Name)
		}
		seen[f.Name] = true
		switch kind, rest, _ := strings.Cut(f.Name, "/"); {
		case f.Name == "case.json":
			if err := strictly(f.Data, &c.Setting); err != nil {
				return nil, fmt.Errorf("case.json: %w", err)
			}
		case f.Name == "catalog.json":
			if err := c.addCatalog(bytes.NewReader(f.Data), f.Name); err != nil {
				return nil, err
			}
		case scriptNumber(f.Name) > 0:
			scripts[scriptNumber(f.Name)] = string(f.Data)
		case kind == "files" && filepath.IsLocal(rest):
			c.files[path.Clean(rest)] = f.Data
		case kind == "want" && wantName(rest):
			c.want[rest] = string(f.Data)
		default:
			return nil, fmt.Errorf("%s is no part of a case; want case.json, catalog.json, script.sh, script-2.sh, files/NAME, want/plan, want/lint or want/run-1", f.Name)
		}
	}
	for i := range len(scripts) {
		text, ok := scripts[i+1]
		if !ok {
			return nil, fmt.Errorf("the script of run %d is missing", i+1)
		}
		c.scripts = append(c.scripts, text)
	}
	if len(c.scripts) == 0 {
		return nil, errors.New("script.sh is missing")
	}
	for _, name := range c.Setting.Catalogs {
		if err := c.openCatalog(filepath.Join(filepath.Dir(c.Path), filepath.FromSlash(name))); err != nil {
			return nil, err
		}
	}
	for name := range maps.Keys(c.want) {
		if n, ok := numbered(name, "run"); ok && n > c.runs() {
			return nil, fmt.Errorf("want/%s: there are only %d runs; a further one needs a script or an entry in \"then\"", name, c.runs())
		}
	}
	return c, c.Setting.check()
}

// runs is how often the case runs its script.
func (c *Case) runs() int { return max(1+len(c.Setting.Then), len(c.scripts)) }

func (s *Setting) check() error {
	decisions := []approvals.Decision{approvals.Allow, approvals.AllowAlways, approvals.Reject, approvals.RejectAlways}
	for _, list := range s.Then {
		for _, d := range list {
			if !slices.Contains(decisions, d) {
				return fmt.Errorf("case.json: the decision %q in \"then\" is none of %q", d, decisions)
			}
		}
	}
	for _, a := range s.Answers {
		if !slices.Contains(decisions, a.Decision) {
			return fmt.Errorf("case.json: the decision %q in \"answers\" is none of %q", a.Decision, decisions)
		}
	}
	switch s.Mode {
	case "", approvals.Off, approvals.Normal, approvals.Protective:
		return nil
	}
	return fmt.Errorf("case.json: the mode %q is none of off, normal and protective", s.Mode)
}

func (c *Case) openCatalog(name string) error {
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	return c.addCatalog(f, name)
}

func (c *Case) addCatalog(r io.Reader, name string) error {
	servers, top, err := catalog.ParseCatalogFile(r, name)
	if err != nil {
		return err
	}
	c.servers, c.top = append(c.servers, servers...), append(c.top, top...)
	return nil
}

// scriptNumber is the run that a script file is for, from 1; 0 for another file.
func scriptNumber(name string) int {
	base, ok := strings.CutSuffix(name, ".sh")
	switch n, many := numbered(base, "script"); {
	case !ok:
		return 0
	case base == "script":
		return 1
	case many && n > 1:
		return n
	}
	return 0
}

func wantName(name string) bool {
	n, ok := numbered(name, "run")
	return name == "plan" || name == "lint" || ok && n > 0
}

// numbered reads PREFIX-N.
func numbered(name, prefix string) (int, bool) {
	digits, ok := strings.CutPrefix(name, prefix+"-")
	if !ok || digits == "" || len(digits) > 3 || digits[0] == '0' {
		return 0, false
	}
	n := 0
	for _, d := range digits {
		if d < '0' || d > '9' {
			return 0, false
		}
		n = n*10 + int(d-'0')
	}
	return n, true
}

// strictly decodes one JSON object that may hold known keys only.
func strictly(raw []byte, into any) error {
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.DisallowUnknownFields()
	if err := dec.Decode(into); err != nil {
		return err
	}
	if _, err := dec.Token(); err != io.EOF {
		return errors.New("something follows the object")
	}
	return nil
}
