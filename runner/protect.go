package runner

import (
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// protected are the files below the working directory that no script may read
// or change, such as the config and the approvals: what is asked about must not
// be the script's to decide. They are known by what they are, so that no other
// name, link or folder leads around it.
type protected []string

// protectedIn lists the files that lie below dir, by their real paths.
func protectedIn(dir string, names []string) (out protected) {
	add := func(path string) {
		if rel, ok := within(dir, path); ok && rel != "." {
			out = append(out, path)
		}
	}
	for _, name := range names {
		full, err := filepath.Abs(name)
		if err != nil {
			continue
		}
		parent, err := filepath.EvalSymlinks(filepath.Dir(full))
		if err != nil {
			continue // where there is no folder there is no file
		}
		path := filepath.Join(parent, filepath.Base(full))
		add(path)
		if real, err := filepath.EvalSymlinks(path); err == nil && real != path {
			add(real)
		}
	}
	return out
}

// is reports whether an opened file is one of them.
func (p protected) is(file *os.File) bool {
	if len(p) == 0 {
		return false
	}
	info, err := file.Stat()
	if err != nil {
		return true
	}
	for _, path := range p {
		if own, err := os.Stat(path); err == nil && os.SameFile(info, own) {
			return true
		}
	}
	return false
}

// there are those that exist.
func (p protected) there() (out []string) {
	for _, path := range p {
		if _, err := os.Lstat(path); err == nil {
			out = append(out, path)
		}
	}
	return out
}

// openAllowed opens a file unless it is protected. Nothing of a protected one is
// cut off, and one that the script would make by its name is not left behind.
func (f *files) openAllowed(root *os.Root, rel string, flag int, perm os.FileMode) (*os.File, error) {
	if len(f.protected) == 0 {
		return root.OpenFile(rel, flag, perm)
	}
	before := map[string]bool{}
	for _, path := range f.protected.there() {
		before[path] = true
	}
	file, err := root.OpenFile(rel, flag&^os.O_TRUNC, perm)
	if err != nil {
		return nil, err
	}
	if f.protected.is(file) {
		for _, path := range f.protected.there() {
			if !before[path] && flag&os.O_CREATE != 0 {
				os.Remove(path)
			}
		}
		return nil, joinClose(file, &fs.PathError{Op: "open", Path: rel, Err: fs.ErrPermission})
	}
	if flag&os.O_TRUNC != 0 {
		if info, err := file.Stat(); err == nil && info.Mode().IsRegular() {
			if err := file.Truncate(0); err != nil {
				return nil, joinClose(file, err)
			}
		}
	}
	return file, nil
}

func joinClose(file io.Closer, err error) error {
	file.Close() // nothing was written
	return err
}

// takeAway renames the files that a script's programs have made under protected
// names, which were free, and says so.
func (p protected) takeAway(before []string, errOut io.Writer) {
	had := map[string]bool{}
	for _, path := range before {
		had[path] = true
	}
	for _, path := range p.there() {
		if had[path] {
			continue
		}
		aside := path + ".from-script"
		if err := os.Rename(path, aside); err != nil {
			fmt.Fprintf(errOut, "tis: the script made %s, which is not its to make, and it cannot be moved away: %v\n", path, err)
			continue
		}
		fmt.Fprintf(errOut, "tis: the script made %s, which is not its to make; it is %s now\n", path, filepath.Base(aside))
	}
}
