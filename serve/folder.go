//lint:file-ignore SA1019 Roots and log messages end with a later protocol version; the clients of today have them.

package serve

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/tools-in-shell/tis/report"
)

// Folders says where sessions work. Every session has a folder of its own,
// which goes away with it.
type Folders struct {
	// Dir is the folder below which the sessions' folders are made; default the
	// system's temp folder. For a client that names roots it counts only when it
	// lies in one of them.
	Dir string
	// InRoots makes a session's folder below the client's first usable root.
	InRoots bool
	// MaxBytes is how much a session's folder may hold; default 256 MiB. A script
	// that makes it grow beyond is ended.
	MaxBytes int64
}

func (f *Folders) check() error {
	if f.MaxBytes <= 0 {
		f.MaxBytes = 256 << 20
	}
	if f.Dir == "" {
		return nil
	}
	dir, err := real(f.Dir)
	if err != nil {
		return fmt.Errorf("working directories: %w", err)
	}
	if fi, err := os.Stat(dir); err != nil || !fi.IsDir() {
		return fmt.Errorf("working directories: %s is no folder", f.Dir)
	}
	f.Dir = dir
	return nil
}

// real is a path without symbolic links.
func real(path string) (string, error) {
	path, err := filepath.Abs(path)
	if err == nil {
		path, err = filepath.EvalSymlinks(path)
	}
	return path, err
}

// folder is one session's working directory.
type folder struct {
	mu    sync.Mutex
	path  string
	stale bool     // the client's roots are not known, or have changed
	old   []string // folders of roots that are gone
	limit int64
}

// moved says that the client's roots have changed.
func (f *folder) moved() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.stale = true
}

// rootsTime is how long a client may take to name its roots.
const rootsTime = 5 * time.Second

// open is the session's folder; it is made when it is first needed, and made
// anew when the client's roots no longer hold it. note says what the person may
// want to know.
func (f *folder) open(ctx context.Context, c *session, req *mcp.CallToolRequest) (dir, note string, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.limit = c.server.o.MaxBytes
	if f.path != "" && !f.stale {
		return f.path, "", nil
	}
	o := c.server.o.Folders
	base := o.Dir
	if o.InRoots || base != "" {
		roots, named, err := rootsOf(ctx, req)
		switch {
		case err != nil:
			base, note = "", fmt.Sprintf("the client did not name its roots (%v), so scripts work in a private temp folder", err)
		case o.InRoots && len(roots) > 0:
			base = roots[0]
		case o.InRoots:
			base, note = "", "the client has no root that can be used, so scripts work in a private temp folder"
		case named && !slices.ContainsFunc(roots, func(root string) bool { return inside(root, base) }):
			base, note = "", "the configured folder lies outside the client's roots, so scripts work in a private temp folder"
		}
	}
	f.stale = false
	if f.path != "" && filepath.Dir(f.path) == base || f.path != "" && base == "" && f.private() {
		return f.path, "", nil
	}
	prefix := "tis-session-"
	if base != "" {
		prefix = ".tis-session-"
	}
	made, err := os.MkdirTemp(base, prefix)
	if err != nil {
		return "", "", fmt.Errorf("working directory: %w", err)
	}
	if f.path != "" {
		f.old = append(f.old, f.path)
	}
	f.path, err = real(made)
	return f.path, note, err
}

// private reports whether the folder lies in the system's temp folder.
func (f *folder) private() bool {
	temp, err := real(os.TempDir())
	return err == nil && filepath.Dir(f.path) == temp
}

// inside reports whether path is root or lies below it. Both are without links.
func inside(root, path string) bool {
	rel, err := filepath.Rel(root, path)
	return err == nil && (rel == "." || filepath.IsLocal(rel))
}

// rootsOf are the folders that the client names as its roots; named says that it
// names any. One that is no folder here is left out.
func rootsOf(ctx context.Context, req *mcp.CallToolRequest) (roots []string, named bool, err error) {
	caps := req.ClientCapabilities()
	if caps == nil || caps.RootsV2 == nil || req.ProtocolVersion() >= againVersion {
		return nil, false, nil
	}
	ctx, cancel := context.WithTimeout(ctx, rootsTime)
	defer cancel()
	list, err := req.Session.ListRoots(ctx, nil)
	if err != nil {
		return nil, true, err
	}
	for _, r := range list.Roots {
		u, err := url.Parse(r.URI)
		if err != nil || u.Scheme != "file" || u.Host != "" && u.Host != "localhost" {
			continue
		}
		path := filepath.FromSlash(u.Path)
		if runtime.GOOS == "windows" {
			path = strings.TrimPrefix(path, `\`)
		}
		if path, err = real(path); err != nil {
			continue
		}
		if fi, err := os.Stat(path); err == nil && fi.IsDir() {
			roots = append(roots, path)
		}
	}
	return roots, true, nil
}

// remove takes the session's folders away.
func (f *folder) remove() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	var errs []error
	for _, path := range append(f.old, f.path) {
		if path == "" {
			continue
		}
		if os.RemoveAll(path) != nil {
			unlock(path) // a script may have taken away its own right to write
			errs = append(errs, os.RemoveAll(path))
		}
	}
	f.path, f.old = "", nil
	return errors.Join(errs...)
}

// unlock gives the owner the right to change the folders below path.
func unlock(path string) {
	filepath.WalkDir(path, func(name string, d fs.DirEntry, err error) error {
		if d != nil && d.IsDir() {
			os.Chmod(name, 0o700)
		}
		return nil
	})
}

// How often a running script's folder is measured.
const measureEvery = 200 * time.Millisecond

// watch ends the run when the folder grows beyond its limit. done waits for the
// end of the watch, and writes the reason into the result.
func (f *folder) watch(ctx context.Context) (run context.Context, done func(*report.Result)) {
	run, cancel := context.WithCancelCause(ctx)
	f.mu.Lock()
	path, limit := f.path, f.limit
	f.mu.Unlock()
	before := size(path, limit)
	gone := make(chan bool, 1)
	stop := make(chan struct{})
	go func() {
		tick := time.NewTicker(measureEvery)
		defer tick.Stop()
		for {
			select {
			case <-stop:
				gone <- false
				return
			case <-tick.C:
			}
			if n := size(path, max(limit, before)); n > limit && n > before {
				cancel(errFull)
				gone <- true
				return
			}
		}
	}()
	return run, func(r *report.Result) {
		close(stop)
		full := <-gone
		cancel(nil)
		if t := r.Tools; full && t != nil && t.Stopped != nil && t.Stopped.Reason == report.Cancelled {
			t.Stopped.Reason, t.Stopped.Limit = report.ResourceLimit, "files"
			r.Stderr += fmt.Sprintf("tis: the working directory may hold %d MiB, and the script filled it; remove files first\n", limit>>20)
		}
	}
}

var errFull = errors.New("the working directory is full")

// size is how many bytes the files below path hold, counted up to a little more
// than enough.
func size(path string, enough int64) (n int64) {
	filepath.WalkDir(path, func(_ string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return nil
		}
		if fi, err := d.Info(); err == nil && fi.Mode().IsRegular() {
			n += fi.Size()
		}
		if n > 2*enough {
			return filepath.SkipAll
		}
		return nil
	})
	return n
}
