package hosts

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"time"
)

// record is what was changed, kept to take it back. Its folder holds the files
// as they were, and is for its owner alone.
type record struct {
	Version int       `json:"version"`
	At      time.Time `json:"at"`
	Files   []kept    `json:"files"`
}

// kept is one file as it was and as it was left.
type kept struct {
	Path    string      `json:"path"`
	Backup  string      `json:"backup"`
	Existed bool        `json:"existed"`
	Mode    fs.FileMode `json:"mode"`
	Before  string      `json:"before"` // digests
	After   string      `json:"after"`
	Old     string      `json:"old,omitempty"` // the part that changed
	New     string      `json:"new,omitempty"`
}

func digest(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

const recordName = "record.json"

// Apply makes the changes, all or none, and keeps what is needed to undo them
// in a folder of its own below backups. valid checks the config's text.
func (p *Plan) Apply(backups string, valid func(path string) error) error {
	if len(p.files) == 0 {
		return nil
	}
	for _, f := range p.files { // before anything is written
		if err := f.unchanged(); err != nil {
			return err
		}
	}
	dir, err := p.keep(backups)
	if err != nil {
		return fmt.Errorf("keeping a backup: %w", err)
	}
	for i, f := range p.files {
		err := f.unchanged()
		if err == nil {
			err = f.write(valid, p.Config)
		}
		if err != nil {
			// A file that was written and cannot be put back is still in the backup.
			if back := undoFiles(dir, p.files[:i]); back != nil {
				return fmt.Errorf("%s: %w; and what was changed before it could not be put back: %w; run: tis init --undo", f.path, err, back)
			}
			return fmt.Errorf("%s: %w; nothing was changed", f.path, err)
		}
	}
	return nil
}

// undoFiles puts back what was written and forgets the record.
func undoFiles(dir string, files []file) error {
	var all error
	for _, f := range files {
		all = errors.Join(all, f.restore())
	}
	if all == nil {
		all = os.RemoveAll(dir)
	}
	return all
}

func (f file) restore() error {
	if !f.existed {
		return os.Remove(f.real)
	}
	return replaceFile(f.real, f.before, f.was, nil)
}

// unchanged checks that the file is still what the plan was made of.
func (f file) unchanged() error {
	now, err := os.ReadFile(f.real)
	switch {
	case !f.existed && errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil && f.existed:
		return fmt.Errorf("%s: %w", f.path, plain(err))
	case err != nil || !f.existed || !bytes.Equal(now, f.before):
		return fmt.Errorf("%s was changed in the meantime; run tis init again", f.path)
	}
	return nil
}

func (f file) write(valid func(string) error, config string) error {
	if err := os.MkdirAll(filepath.Dir(f.real), 0o700); err != nil {
		return err
	}
	if f.path != config {
		valid = nil
	}
	return replaceFile(f.real, f.edit.text, f.mode, valid)
}

// replaceFile replaces a file, whole or not at all. valid may look at the new
// one first.
func replaceFile(path string, text []byte, mode fs.FileMode, valid func(string) error) error {
	t, err := os.CreateTemp(filepath.Dir(path), ".tis-*") // 0600
	if err != nil {
		return err
	}
	_, err = t.Write(text)
	if err == nil {
		err = t.Sync()
	}
	if err = errors.Join(err, t.Close()); err == nil && valid != nil {
		err = valid(t.Name())
	}
	if err == nil {
		err = os.Chmod(t.Name(), mode)
	}
	if err == nil {
		err = os.Rename(t.Name(), path)
	}
	if err != nil {
		os.Remove(t.Name())
	}
	return err
}

// keep writes the backup.
func (p *Plan) keep(backups string) (string, error) {
	now := time.Now().UTC()
	dir := filepath.Join(backups, now.Format("20060102T150405.000000000Z"))
	if err := os.MkdirAll(backups, 0o700); err != nil {
		return "", err
	}
	if err := os.Mkdir(dir, 0o700); err != nil {
		return "", err
	}
	r := record{Version: 1, At: now}
	for i, f := range p.files {
		k := kept{
			Path: f.real, Backup: strconv.Itoa(i), Existed: f.existed, Mode: f.was,
			Before: digest(f.before), After: digest(f.edit.text), Old: f.edit.old, New: f.edit.new,
		}
		if f.existed {
			if err := os.WriteFile(filepath.Join(dir, k.Backup), f.before, 0o600); err != nil {
				return "", err
			}
		}
		r.Files = append(r.Files, k)
	}
	raw, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return "", err
	}
	return dir, replaceFile(filepath.Join(dir, recordName), raw, 0o600, nil)
}
