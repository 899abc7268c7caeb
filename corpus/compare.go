package corpus

import (
	"bytes"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/rogpeppe/go-internal/diff"
	"golang.org/x/tools/txtar"
)

// Difference is a want that the case does not meet any more.
type Difference struct {
	// Name is the want: plan, lint, run-1.
	Name string
	// Diff is from what was wanted to what is, as a unified diff.
	Diff string
}

// Compare lists the wants of the case that the outcome does not meet.
func (c *Case) Compare(out Outcome) []Difference {
	var found []Difference
	for _, name := range slices.Sorted(maps.Keys(c.want)) {
		if want, got := ended(c.want[name]), ended(out[name]); want != got {
			file := c.Path + ":want/" + name
			found = append(found, Difference{name, string(diff.Diff(file, []byte(want), file+" now", []byte(got)))})
		}
	}
	return found
}

// Update writes the outcome into the case's file: into the wants that are there,
// or all when there is none. It reports whether the file was different. The
// file is replaced as a whole or not at all.
func (c *Case) Update(out Outcome) (changed bool, err error) {
	all := len(c.want) == 0
	a := &txtar.Archive{Comment: c.archive.Comment}
	for _, f := range c.archive.Files {
		if name, ok := strings.CutPrefix(f.Name, "want/"); ok {
			f.Data = []byte(ended(out[name]))
		}
		a.Files = append(a.Files, f)
	}
	if all {
		for _, name := range slices.Sorted(maps.Keys(out)) {
			a.Files = append(a.Files, txtar.File{Name: "want/" + name, Data: []byte(ended(out[name]))})
		}
	}
	next := txtar.Format(a)
	// A link stays one; the file that it names is replaced.
	file, err := filepath.EvalSymlinks(c.Path)
	if err != nil {
		return false, err
	}
	old, err := os.ReadFile(file)
	if err != nil || bytes.Equal(old, next) {
		return false, err
	}
	return true, replace(file, next)
}

// replace writes a file beside the old one and then takes its place.
func replace(name string, data []byte) error {
	was, err := os.Stat(name)
	if err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(name), filepath.Base(name)+".*")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	_, err = f.Write(data)
	if err2 := f.Close(); err == nil {
		err = err2
	}
	if err == nil {
		err = os.Chmod(f.Name(), was.Mode().Perm())
	}
	if err == nil {
		err = os.Rename(f.Name(), name)
	}
	return err
}

// ended is a text as a file holds it: a last line without its newline gets one.
func ended(text string) string {
	if text == "" || strings.HasSuffix(text, "\n") {
		return text
	}
	return text + "\n"
}
