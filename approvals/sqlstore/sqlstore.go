// Package sqlstore keeps approvals in a SQLite file that several processes may
// share. Every method is one transaction, and using up an answer is one
// statement, so of all that race for it exactly one gets it.
package sqlstore

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	_ "modernc.org/sqlite" // the driver

	"github.com/tools-in-shell/tis/approvals"
)

//go:embed migrations/*.sql
var migrations embed.FS

// Store is an approvals.Store over SQLite. It is safe for concurrent use.
type Store struct{ db *sql.DB }

var _ approvals.Store = (*Store)(nil)

// Open opens the store that dsn names, sqlite:PATH, and creates it (readable by
// its owner only) when it is not there.
func Open(ctx context.Context, dsn string) (*Store, error) {
	path, ok := strings.CutPrefix(dsn, "sqlite:")
	if !ok || path == "" {
		return nil, fmt.Errorf("store %q: want sqlite:PATH", dsn)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, err
	}
	// SQLite gives its side files the mode of the database.
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	if err := errors.Join(f.Chmod(0o600), f.Close()); err != nil {
		return nil, err
	}
	q := url.Values{"_pragma": {"busy_timeout(10000)", "journal_mode(WAL)", "synchronous(FULL)", "foreign_keys(1)"}, "_txlock": {"immediate"}}
	db, err := sql.Open("sqlite", (&url.URL{Scheme: "file", Opaque: (&url.URL{Path: path}).EscapedPath(), RawQuery: q.Encode()}).String())
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(4)
	s := &Store{db: db}
	if err := s.migrate(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("store %s: %w", path, err), db.Close())
	}
	return s, nil
}

// migrate brings the schema up to date, one numbered file after the other.
func (s *Store) migrate(ctx context.Context) error {
	files, err := migrations.ReadDir("migrations")
	if err != nil {
		return err
	}
	var version int
	if err := s.db.QueryRowContext(ctx, "PRAGMA user_version").Scan(&version); err != nil {
		return err
	}
	if version == len(files) {
		return nil
	}
	return s.tx(ctx, func(tx *sql.Tx) error {
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

// tx runs f in a transaction that takes the write lock at once.
func (s *Store) tx(ctx context.Context, f func(*sql.Tx) error) error {
	tx, err := s.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	if err := f(tx); err != nil {
		return errors.Join(err, ignoreDone(tx.Rollback()))
	}
	return tx.Commit()
}

func ignoreDone(err error) error {
	if errors.Is(err, sql.ErrTxDone) {
		return nil
	}
	return err
}

// Close closes the file.
func (s *Store) Close() error { return s.db.Close() }

const columns = "id, session, tool, command, arguments, fingerprint, risk, mode, asked_at, expires_at, identity, run"

type row interface{ Scan(...any) error }

func scan(r row, more ...any) (approvals.Request, error) {
	var q approvals.Request
	var args string
	var asked, expires int64
	err := r.Scan(append([]any{&q.ID, &q.Session, &q.Tool, &q.Command, &args, &q.Fingerprint, &q.Risk, &q.Mode, &asked, &expires, &q.Identity, &q.Run}, more...)...)
	q.Arguments, q.AskedAt, q.ExpiresAt = []byte(args), at(asked), at(expires)
	return q, err
}

func at(ms int64) time.Time { return time.UnixMilli(ms).UTC() }

// Raise returns the n-th open request for an exact call, or adds r.
func (s *Store) Raise(ctx context.Context, r approvals.Request, n int, now time.Time) (out approvals.Request, err error) {
	err = s.tx(ctx, func(tx *sql.Tx) error {
		out, err = scan(tx.QueryRowContext(ctx, "SELECT "+columns+` FROM requests
			WHERE session = $1 AND fingerprint = $2 AND decision = '' AND expires_at > $3 ORDER BY seq LIMIT 1 OFFSET $4`,
			r.Session, r.Fingerprint, now.UnixMilli(), n))
		if !errors.Is(err, sql.ErrNoRows) {
			return err
		}
		out = r
		_, err = tx.ExecContext(ctx, "INSERT INTO requests ("+columns+") VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)",
			r.ID, r.Session, r.Tool, r.Command, string(r.Arguments), r.Fingerprint, r.Risk, r.Mode, r.AskedAt.UnixMilli(), r.ExpiresAt.UnixMilli(), r.Identity, r.Run)
		return err
	})
	return out, err
}

// Answer records the answer to an open request.
func (s *Store) Answer(ctx context.Context, id string, d approvals.Decision, who string, now time.Time) (out approvals.Request, err error) {
	err = s.tx(ctx, func(tx *sql.Tx) error {
		var had string
		out, err = scan(tx.QueryRowContext(ctx, "SELECT "+columns+", decision FROM requests WHERE id = $1", id), &had)
		switch {
		case errors.Is(err, sql.ErrNoRows):
			return approvals.ErrUnknownRequest
		case err != nil:
			return err
		case had != "":
			return approvals.ErrAnswered
		case !now.Before(out.ExpiresAt):
			return approvals.ErrExpired
		}
		if _, err := tx.ExecContext(ctx, "UPDATE requests SET decision = $1 WHERE id = $2", d, id); err != nil {
			return err
		}
		if d == approvals.AllowAlways || d == approvals.RejectAlways {
			if _, err := tx.ExecContext(ctx, `INSERT INTO standing (session, identity, decision) VALUES ($1, $2, $3)
				ON CONFLICT (session, identity) DO UPDATE SET decision = excluded.decision`, out.Session, out.Identity, d); err != nil {
				return err
			}
		}
		_, err := tx.ExecContext(ctx, "INSERT INTO events (at, what, request, session, command, who, run) VALUES ($1, $2, $3, $4, $5, $6, '')",
			now.UnixMilli(), d, id, out.Session, out.Command, who)
		return err
	})
	return out, err
}

// Standing is the "always" answer for a tool in a session.
func (s *Store) Standing(ctx context.Context, session, identity string) (d approvals.Decision, err error) {
	err = s.db.QueryRowContext(ctx, "SELECT decision FROM standing WHERE session = $1 AND identity = $2", session, identity).Scan(&d)
	if errors.Is(err, sql.ErrNoRows) {
		return "", nil
	}
	return d, err
}

// Unused lists the unused one-off answers of an exact call.
func (s *Store) Unused(ctx context.Context, session, fingerprint string) (out []approvals.Decision, err error) {
	err = s.each(ctx, func(r row) error {
		var d approvals.Decision
		err := r.Scan(&d)
		out = append(out, d)
		return err
	}, `SELECT decision FROM requests WHERE session = $1 AND fingerprint = $2 AND used_at IS NULL AND decision IN ('allow', 'reject') ORDER BY seq`, session, fingerprint)
	return out, err
}

// Consume uses up the first unused one-off answer of an exact call.
func (s *Store) Consume(ctx context.Context, session, fingerprint, run string, now time.Time) (d approvals.Decision, ok bool, err error) {
	err = s.tx(ctx, func(tx *sql.Tx) error {
		var id, command string
		err := tx.QueryRowContext(ctx, `UPDATE requests SET used_at = $1, used_by = $2 WHERE used_at IS NULL AND seq = (
				SELECT seq FROM requests WHERE session = $3 AND fingerprint = $4 AND used_at IS NULL AND decision IN ('allow', 'reject') ORDER BY seq LIMIT 1)
			RETURNING id, command, decision`, now.UnixMilli(), run, session, fingerprint).Scan(&id, &command, &d)
		if errors.Is(err, sql.ErrNoRows) {
			return nil
		}
		if err != nil {
			return err
		}
		ok = true
		what := "used"
		if d == approvals.Reject {
			what = "denied"
		}
		_, err = tx.ExecContext(ctx, "INSERT INTO events (at, what, request, session, command, who, run) VALUES ($1, $2, $3, $4, $5, '', $6)",
			now.UnixMilli(), what, id, session, command, run)
		return err
	})
	if err != nil {
		return "", false, err
	}
	return d, ok, nil
}

// Open lists the requests that wait for an answer.
func (s *Store) Open(ctx context.Context, session string, now time.Time) (out []approvals.Request, err error) {
	err = s.each(ctx, func(r row) error {
		q, err := scan(r)
		out = append(out, q)
		return err
	}, "SELECT "+columns+" FROM requests WHERE decision = '' AND expires_at > $1 AND ($2 = '' OR session = $2) ORDER BY seq", now.UnixMilli(), session)
	return out, err
}

// History is the audit trail.
func (s *Store) History(ctx context.Context, session string) (out []approvals.Event, err error) {
	err = s.each(ctx, func(r row) error {
		var e approvals.Event
		var ms int64
		err := r.Scan(&ms, &e.What, &e.Request, &e.Session, &e.Command, &e.Who, &e.Run)
		e.At = at(ms)
		out = append(out, e)
		return err
	}, "SELECT at, what, request, session, command, who, run FROM events WHERE $1 = '' OR session = $1 ORDER BY seq", session)
	return out, err
}

// each reads every row of a query.
func (s *Store) each(ctx context.Context, f func(row) error, query string, args ...any) error {
	rows, err := s.db.QueryContext(ctx, query, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		if err := f(rows); err != nil {
			return err
		}
	}
	return rows.Err()
}
