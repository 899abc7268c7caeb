package hosts

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
)

// Undone is what became of one file.
type Undone struct {
	Path string
	What string
}

// ErrNothing is that there is nothing to undo.
var ErrNothing = errors.New("nothing to undo")

// Undo takes the last changes back. A file that nobody has changed since is
// restored byte for byte. In one that was changed elsewhere, the servers are put
// back where they were. When they themselves were changed, nothing is undone and
// the error names the file.
func Undo(backups string) ([]Undone, error) {
	dir, r, err := lastRecord(backups)
	if err != nil {
		return nil, err
	}
	var files []file
	var out []Undone
	for _, k := range r.Files {
		f, what, err := k.undo(dir)
		if err != nil {
			return nil, fmt.Errorf("%s: %w; nothing was undone, the backup is in %s", k.Path, err, dir)
		}
		out = append(out, Undone{k.Path, what})
		if f != nil {
			files = append(files, *f)
		}
	}
	// The config last: until then the hosts start tis with it.
	slices.Reverse(files)
	for _, f := range files {
		err := f.unchanged()
		switch {
		case err != nil:
		case f.edit == nil:
			err = os.Remove(f.real)
		default:
			err = replaceFile(f.real, f.edit.text, f.mode, nil)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w; run tis init --undo again, the backup is in %s", f.path, err, dir)
		}
	}
	return out, os.RemoveAll(dir)
}

// lastRecord finds the changes that were made last.
func lastRecord(backups string) (string, *record, error) {
	all, err := os.ReadDir(backups)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", nil, err
	}
	for _, e := range slices.Backward(all) { // they are named by their time
		dir := filepath.Join(backups, e.Name())
		raw, err := os.ReadFile(filepath.Join(dir, recordName))
		if errors.Is(err, fs.ErrNotExist) {
			continue // it ended before anything was changed
		}
		if err != nil {
			return "", nil, err
		}
		var r record
		if err := json.Unmarshal(raw, &r); err != nil || r.Version != 1 {
			return "", nil, fmt.Errorf("the record of the changes in %s cannot be read", dir)
		}
		return dir, &r, nil
	}
	return "", nil, ErrNothing
}

// undo works out how to take one file back; nil when there is nothing to do.
func (k kept) undo(dir string) (*file, string, error) {
	now, err := os.ReadFile(k.Path)
	missing := errors.Is(err, fs.ErrNotExist)
	if err != nil && !missing {
		return nil, "", plain(err)
	}
	f := &file{path: k.Path, real: k.Path, existed: true, mode: k.Mode, before: now}
	switch {
	case missing && !k.Existed:
		return nil, "it is gone already", nil
	case missing:
		return nil, "", errors.New("it is gone")
	case !k.Existed && digest(now) == k.After:
		return f, "removed", nil
	case !k.Existed:
		return nil, "kept, since it was changed", nil
	case digest(now) == k.Before:
		return nil, "it is as it was", nil
	}
	old, err := os.ReadFile(filepath.Join(dir, k.Backup))
	if err != nil {
		return nil, "", fmt.Errorf("its backup: %w", plain(err))
	}
	if digest(old) != k.Before {
		return nil, "", errors.New("its backup is damaged")
	}
	if digest(now) == k.After {
		f.edit = &edit{text: old}
		return f, "restored", nil
	}
	if k.Old != "" && bytes.Count(now, []byte(k.Old)) == 1 && !bytes.Contains(now, []byte(k.New)) {
		return nil, "its servers are back already", nil
	}
	if k.New == "" || bytes.Count(now, []byte(k.New)) != 1 {
		return nil, "", errors.New("its servers were changed since")
	}
	f.edit = &edit{text: bytes.Replace(now, []byte(k.New), []byte(k.Old), 1)}
	return f, "its servers are back; what else was changed since stays", nil
}
