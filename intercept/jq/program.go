package jq

import (
	"errors"
	"fmt"
	"io"
	"math"
	"path"
	"regexp"
	"strconv"
	"strings"

	"github.com/itchyny/gojq"
)

// maxProgram bounds a program and a module, in bytes.
const maxProgram = 1 << 20

// maxNesting bounds how deep brackets stand in each other.
const maxNesting = 10_000

// compile makes the program ready to run. names are those of its variables.
func (r *run) compile(text string, names []string) (code *gojq.Code, err error) {
	defer func() {
		if p := recover(); p == tooLarge {
			err = tooLarge
		} else if p != nil {
			panic(p)
		}
	}()
	if strings.TrimSpace(text) == "" {
		text = "."
	}
	q, err := parseProgram(text, "<top-level>")
	if err != nil {
		return nil, err
	}
	w := newRewriter(r.order)
	w.text, w.line = text, 1
	for _, keys := range shapes {
		r.order.shape(keys)
	}
	w.query(q)
	options := append(r.functions(),
		gojq.WithVariables(names),
		gojq.WithEnvironLoader(func() []string { return nil }),
		gojq.WithModuleLoader(&modules{r, w, q}),
	)
	// The functions of a module are known once it is loaded, while the program
	// is compiled, so they are loaded first.
	if err := r.preload(w, q); err != nil {
		return nil, err
	}
	code, err = gojq.Compile(q, append(options, w.funcs...)...)
	if err != nil {
		return nil, located(err, text)
	}
	return code, nil
}

func parseProgram(text, where string) (*gojq.Query, error) {
	if len(text) > maxProgram {
		return nil, errors.New("the program is too large")
	}
	depth, deepest := 0, 0
	for i := range len(text) {
		switch text[i] {
		case '(', '[', '{':
			depth++
			deepest = max(deepest, depth)
		case ')', ']', '}':
			depth--
		}
	}
	if deepest > maxNesting {
		return nil, errors.New("the program is nested too deeply")
	}
	q, err := gojq.Parse(text)
	var bad *gojq.ParseError
	if errors.As(err, &bad) {
		what := "end of file"
		if bad.Token != "" {
			what = "'" + bad.Token + "'"
		}
		at := min(max(bad.Offset-len(bad.Token), 0), len(text))
		return nil, fmt.Errorf("syntax error, unexpected %s (Unix shell quoting issues?) at %s", what, lineAt(text, at, where))
	}
	return q, err
}

// lineAt shows where in a program something is.
func lineAt(text string, offset int, where string) string {
	n := strings.Count(text[:offset], "\n")
	lines := strings.Split(text, "\n")
	return fmt.Sprintf("%s, line %d:\n%s", where, n+1, lines[n])
}

var notDefined = regexp.MustCompile(`^(function|variable|label) not defined: (\S+)$`)

// located gives a compile error in jq's words, with its line.
func located(err error, text string) error {
	m := notDefined.FindStringSubmatch(err.Error())
	if m == nil {
		return err
	}
	name, _, _ := strings.Cut(m[2], "/")
	at := regexp.MustCompile(regexp.QuoteMeta(name) + `\b`).FindStringIndex(text)
	if at == nil {
		at = []int{0}
	}
	what := m[2]
	if m[1] == "label" {
		what = "$*label-" + strings.TrimPrefix(what, "$")
	}
	return fmt.Errorf("%s is not defined at %s", what, lineAt(text, at[0], "<top-level>"))
}

// location is what $__loc__ stands for. The tree does not say where it is, so
// each one is taken to be the next in the text.
func (w *rewriter) location() *gojq.Term {
	if before, after, ok := strings.Cut(w.text, "$__loc__"); ok {
		w.line += strings.Count(before, "\n")
		w.text = after
	}
	text := func(s string) *gojq.Query {
		return of(&gojq.Term{Type: gojq.TermTypeString, Str: &gojq.String{Str: s}})
	}
	return &gojq.Term{Type: gojq.TermTypeObject, Object: &gojq.Object{KeyVals: []*gojq.ObjectKeyVal{
		{Key: "file", Val: text("<top-level>")},
		{Key: "line", Val: of(&gojq.Term{Type: gojq.TermTypeNumber, Number: strconv.Itoa(w.line)})},
	}}}
}

// modules gives gojq the prelude and the modules that programs import.
type modules struct {
	run     *run
	rewrite *rewriter
	program *gojq.Query
}

// LoadInitModules is called by gojq before the program is compiled, when its
// modules have been loaded.
func (m *modules) LoadInitModules() ([]*gojq.Query, error) {
	texts := []string{m.program.String()}
	for _, q := range m.run.loaded {
		texts = append(texts, q.String())
	}
	q, err := preludeFor(texts)
	return []*gojq.Query{q}, err
}

// LoadModuleWithMeta is called by gojq for import and include.
func (m *modules) LoadModuleWithMeta(name string, meta map[string]any) (*gojq.Query, error) {
	return m.run.module(m.rewrite, name, meta)
}

// LoadJSONWithMeta is called by gojq for the import of data.
func (m *modules) LoadJSONWithMeta(name string, meta map[string]any) (any, error) {
	text, _, err := m.run.find(name, ".json", meta)
	if err != nil {
		return nil, err
	}
	return parseText(m.run.ctx, m.run.order, text, math.MaxInt)
}

// preload reads the modules that a program imports, and theirs.
func (r *run) preload(w *rewriter, q *gojq.Query) error {
	for _, i := range q.Imports {
		if strings.HasPrefix(i.ImportAlias, "$") {
			continue
		}
		name := i.ImportPath
		if name == "" {
			name = i.IncludePath
		}
		if _, err := r.module(w, name, i.Meta.ToValue()); err != nil {
			return err
		}
	}
	return nil
}

// module reads a module, once.
func (r *run) module(w *rewriter, name string, meta map[string]any) (*gojq.Query, error) {
	text, file, err := r.find(name, ".jq", meta)
	if err != nil {
		return nil, err
	}
	if q, ok := r.loaded[file]; ok {
		if q == nil {
			return nil, fmt.Errorf("the module %s imports itself", name)
		}
		return q, nil
	}
	if r.order.settled { // the program is compiled: modulemeta only looks
		return parseProgram(text, file)
	}
	r.loaded[file] = nil // until it is read
	q, err := parseProgram(text, file)
	if err != nil {
		return nil, err
	}
	for _, i := range q.Imports { // a search path is relative to the module
		if i.Meta == nil {
			continue
		}
		for _, kv := range i.Meta.KeyVals {
			if (kv.Key == "search" || kv.KeyString == "search") && kv.Val.Str != "" && !path.IsAbs(kv.Val.Str) {
				kv.Val.Str = path.Join(path.Dir(file), kv.Val.Str)
			}
		}
	}
	if err := r.preload(w, q); err != nil {
		return nil, err
	}
	w.text, w.line = text, 1
	w.query(q)
	r.loaded[file] = q
	return q, nil
}

// find reads the file of a module from the library directories.
func (r *run) find(name, ext string, meta map[string]any) (text, file string, err error) {
	for _, part := range strings.Split(name, "/") {
		if part == ".." {
			return "", "", fmt.Errorf("Relative paths to modules may not traverse to parent directories (%s)\n", name)
		}
	}
	dirs := r.opt.library
	switch s := meta["search"].(type) {
	case string:
		dirs = append([]string{s}, dirs...)
	case []any:
		for _, d := range s {
			if d, ok := d.(string); ok {
				dirs = append([]string{d}, dirs...)
			}
		}
	}
	for _, dir := range dirs {
		for _, file := range [...]string{path.Join(dir, name+ext), path.Join(dir, name, path.Base(name)+ext)} {
			if text, err := r.readFile(file, maxProgram); err == nil {
				return text, file, nil
			}
		}
	}
	return "", "", fmt.Errorf("module not found: %s\n", name)
}

// readFile reads a file of at most limit bytes.
func (r *run) readFile(name string, limit int64) (string, error) {
	if r.open == nil {
		return "", errors.New("there are no files here")
	}
	f, err := r.open(name)
	if err != nil {
		return "", err
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(interruptible(r.ctx, f), limit+1))
	if err == nil && int64(len(b)) > limit {
		err = errors.New("the file is too large")
	}
	return string(b), err
}
