package sqlstore

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"modernc.org/sqlite" // also the driver
	sqlite3 "modernc.org/sqlite/lib"
)

//go:embed migrations/*.sql
var migrations embed.FS

// busyTime is how long one statement waits for other processes.
const busyTime = 10 * time.Second

// Open opens the store that dsn names, sqlite:PATH, and creates it, readable by
// its owner only, when it is not there. Folders that are missing are created for
// the owner alone.
func Open(ctx context.Context, dsn string) (*Store, error) {
	path, ok := strings.CutPrefix(dsn, "sqlite:")
	if !ok || path == "" {
		return nil, fmt.Errorf("store %q: want sqlite:PATH", dsn)
	}
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, fmt.Errorf("store %q: %w", dsn, err)
	}
	if err := makePrivate(path); err != nil {
		return nil, fmt.Errorf("store: %w", err)
	}
	db, err := sql.Open("sqlite", source(path))
	if err != nil {
		return nil, fmt.Errorf("store %s: %w", path, err)
	}
	db.SetMaxOpenConns(4)
	s := &Store{db: db}
	if err := s.migrate(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("store %s: %w", path, err), db.Close())
	}
	return s, nil
}

// makePrivate sees to a file that its owner alone can read. SQLite gives its side
// files, -wal and -shm, the mode of the database. A file that is there is not
// opened: closing it would drop the locks that this process holds on it.
func makePrivate(path string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err == nil {
		return f.Close()
	}
	if !errors.Is(err, fs.ErrExist) {
		return err
	}
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return err
	case !info.Mode().IsRegular():
		return fmt.Errorf("%s is not a file", path)
	case info.Mode().Perm()&0o077 != 0:
		return os.Chmod(path, 0o600)
	}
	return nil
}

// source is the driver's name for a file. Every connection waits for others,
// keeps a log that readers can read beside, and has its commits on disk when
// they return; every transaction takes the write lock when it begins.
func source(path string) string {
	path = filepath.ToSlash(path)
	if !strings.HasPrefix(path, "/") {
		path = "/" + path // C:/...
	}
	q := url.Values{"_txlock": {"immediate"}, "_pragma": {
		fmt.Sprintf("busy_timeout(%d)", busyTime.Milliseconds()), "journal_mode(WAL)", "synchronous(FULL)",
	}}
	return (&url.URL{Scheme: "file", Opaque: (&url.URL{Path: path}).EscapedPath(), RawQuery: q.Encode()}).String()
}

// migrate brings the schema up to date, one numbered file after the other.
func (s *Store) migrate(ctx context.Context) error {
	files, err := migrations.ReadDir("migrations")
	if err != nil {
		return err
	}
	version, err := s.version(ctx)
	if err != nil || version == len(files) {
		return err
	}
	return s.tx(ctx, func(tx *sql.Tx) error {
		// Another process may have been here since.
		if err := tx.QueryRowContext(ctx, "PRAGMA user_version").Scan(&version); err != nil {
			return err
		}
		if version > len(files) {
			return fmt.Errorf("its version %d is newer than this program's %d; upgrade tis", version, len(files))
		}
		for i, f := range files[version:] {
			text, err := migrations.ReadFile("migrations/" + f.Name())
			if err != nil {
				return err
			}
			if _, err := tx.ExecContext(ctx, string(text)); err != nil {
				return fmt.Errorf("%s: %w", f.Name(), err)
			}
			if _, err := tx.ExecContext(ctx, fmt.Sprintf("PRAGMA user_version = %d", version+i+1)); err != nil {
				return err
			}
		}
		return nil
	})
}

// version reads the schema's version over the first connection. Of processes
// that open a new file at once all but one can find it busy in a way that SQLite
// does not wait for, while the log is set up.
func (s *Store) version(ctx context.Context) (version int, err error) {
	for deadline := time.Now().Add(busyTime); ; {
		err = s.db.QueryRowContext(ctx, "PRAGMA user_version").Scan(&version)
		var fault *sqlite.Error
		if !errors.As(err, &fault) || fault.Code()&0xff != sqlite3.SQLITE_BUSY || time.Now().After(deadline) {
			return version, err
		}
		select {
		case <-ctx.Done():
			return 0, ctx.Err()
		case <-time.After(5 * time.Millisecond):
		}
	}
}
