package runner

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/interp"
)

// files is what the shell itself can reach: the working directory, the run's
// temp directory and a few devices. Both directories are opened as an os.Root,
// so that no symbolic link, `..` or race leads out of them.
type files struct {
	dir, tmp   string
	work, temp *os.Root
	protected  protected
}

func openFiles(dir, tmp string, keep protected) (*files, error) {
	work, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	temp, err := os.OpenRoot(tmp)
	if err != nil {
		return nil, errors.Join(err, work.Close())
	}
	return &files{dir: dir, tmp: tmp, work: work, temp: temp, protected: keep}, nil
}

func (f *files) Close() error { return errors.Join(f.work.Close(), f.temp.Close()) }

// locate maps an absolute, cleaned path to the root that holds it.
func (f *files) locate(op, path string) (*os.Root, string, error) {
	for _, r := range []struct {
		dir  string
		root *os.Root
	}{{f.dir, f.work}, {f.tmp, f.temp}} {
		if rel, ok := within(r.dir, path); ok {
			return r.root, rel, nil
		}
	}
	return nil, "", &fs.PathError{Op: op, Path: path, Err: fs.ErrPermission}
}

// within reports whether path is dir or below it, and its relative form.
func within(dir, path string) (string, bool) {
	if path == dir {
		return ".", true
	}
	return strings.CutPrefix(path, strings.TrimSuffix(dir, "/")+"/")
}

func abs(dir, path string) string {
	if !filepath.IsAbs(path) {
		path = filepath.Join(dir, path)
	}
	return filepath.Clean(path)
}

// devices are the device files that scripts use; everything else in /dev is
// out of reach.
func isDevice(path string) bool {
	switch path {
	case "/dev/null", "/dev/zero", "/dev/random", "/dev/urandom", "/dev/full":
		return runtime.GOOS != "windows" || path == "/dev/null"
	}
	return false
}

func (f *files) open(ctx context.Context, path string, flag int, perm os.FileMode) (io.ReadWriteCloser, error) {
	hc := interp.HandlerCtx(ctx)
	if path == "" {
		return nil, &fs.PathError{Op: "open", Path: path, Err: fs.ErrNotExist}
	}
	return f.openAt(hc, path, flag, perm)
}

func (f *files) openAt(hc interp.HandlerContext, path string, flag int, perm os.FileMode) (io.ReadWriteCloser, error) {
	full := abs(hc.Dir, path)
	switch full {
	case "/dev/stdin", "/dev/fd/0", "/proc/self/fd/0":
		if hc.Stdin != nil {
			return stream{Reader: hc.Stdin}, nil
		}
	case "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1":
		return stream{Writer: hc.Stdout}, nil
	case "/dev/stderr", "/dev/fd/2", "/proc/self/fd/2":
		return stream{Writer: hc.Stderr}, nil
	}
	if isDevice(full) {
		return os.OpenFile(full, flag&^(os.O_CREATE|os.O_TRUNC), 0)
	}
	root, rel, err := f.locate("open", full)
	if err != nil {
		return nil, err
	}
	file, err := f.openAllowed(root, rel, flag, perm)
	if err != nil {
		return nil, shownAs(path, err)
	}
	return file, nil
}

// shownAs names the path as the script wrote it.
func shownAs(path string, err error) error {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		err = pe.Err
	}
	return &fs.PathError{Op: "open", Path: path, Err: err}
}

// stream is one of the command's own streams, opened by its device name. It
// stays open: the command owns it.
type stream struct {
	io.Reader
	io.Writer
}

func (stream) Close() error { return nil }

func (s stream) Read(p []byte) (int, error) {
	if s.Reader == nil {
		return 0, io.EOF
	}
	return s.Reader.Read(p)
}

func (s stream) Write(p []byte) (int, error) {
	if s.Writer == nil {
		return 0, fs.ErrPermission
	}
	return s.Writer.Write(p)
}

func (f *files) stat(_ context.Context, name string, follow bool) (fs.FileInfo, error) {
	if isDevice(name) {
		return os.Lstat(name)
	}
	root, rel, err := f.locate("stat", name)
	if err != nil {
		return nil, err
	}
	if follow {
		return root.Stat(rel)
	}
	return root.Lstat(rel)
}

func (f *files) readDir(ctx context.Context, name string) ([]fs.DirEntry, error) {
	root, rel, err := f.locate("readdir", abs(interp.HandlerCtx(ctx).Dir, name))
	if err != nil {
		return nil, err
	}
	dir, err := root.Open(rel)
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	entries, err := dir.ReadDir(-1)
	sortEntries(entries)
	return entries, err
}

// access approximates access(2) by opening: os.Root has nothing closer, and
// what can't be opened can't be used either.
func (f *files) access(ctx context.Context, name string, mode interp.AccessMode) error {
	info, err := f.stat(ctx, name, true)
	if err != nil {
		return err
	}
	bits := info.Mode().Perm()
	for _, need := range []struct {
		mode interp.AccessMode
		bits fs.FileMode
	}{{interp.AccessRead, 0o444}, {interp.AccessWrite, 0o222}, {interp.AccessExec, 0o111}} {
		if mode&need.mode != 0 && bits&need.bits == 0 {
			return &fs.PathError{Op: "access", Path: name, Err: fs.ErrPermission}
		}
	}
	return nil
}

// Create makes a new file for a tool's image or binary result below the
// working directory. It never overwrites.
func (f *files) Create(name string) (io.WriteCloser, error) { return Folder{f.work}.Create(name) }

// Folder is a folder below which a tool's images and files are saved.
type Folder struct{ *os.Root }

// Create makes a new file and the folders above it. It never overwrites.
func (d Folder) Create(name string) (io.WriteCloser, error) {
	if parent := filepath.Dir(name); parent != "." {
		if err := d.MkdirAll(parent, 0o755); err != nil {
			return nil, err
		}
	}
	return d.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
}

// readScript reads a script file that a command names.
func (f *files) readScript(hc interp.HandlerContext, path string, limit int64) (string, error) {
	file, err := f.openAt(hc, path, os.O_RDONLY, 0)
	if err != nil {
		return "", err
	}
	defer file.Close()
	text, err := io.ReadAll(io.LimitReader(file, limit+1))
	if err != nil {
		return "", shownAs(path, err)
	}
	if int64(len(text)) > limit {
		return "", &fs.PathError{Op: "open", Path: path, Err: errors.New("the script is larger than 4 MiB")}
	}
	return string(text), nil
}

func sortEntries(entries []fs.DirEntry) {
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
}
