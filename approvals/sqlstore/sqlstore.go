// Package sqlstore keeps approvals in a SQLite file that several processes may
// share. Every method is one transaction, and using up an answer is one
// statement, so of all that race for it exactly one gets it.
//
// Start reading at Open; Store has the statements.
package sqlstore

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"github.com/tools-in-shell/tis/approvals"
)

// Store is an approvals.Store over SQLite. It is safe for concurrent use.
type Store struct{ db *sql.DB }

var _ approvals.Store = (*Store)(nil)

// Close closes the file.
func (s *Store) Close() error { return s.db.Close() }

// tx runs f in a transaction that takes the write lock at once.
func (s *Store) tx(ctx context.Context, f func(*sql.Tx) error) error {
	tx, err := s.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	if err := f(tx); err != nil {
		if undo := tx.Rollback(); undo != nil && !errors.Is(undo, sql.ErrTxDone) {
			return errors.Join(err, undo)
		}
		return err
	}
	return tx.Commit()
}

const columns = "id, session, tool, command, arguments, fingerprint, risk, mode, asked_at, expires_at, identity, run, definition"

type row interface{ Scan(...any) error }

func scan(r row, more ...any) (approvals.Request, error) {
	var q approvals.Request
	var args, definition string
	var asked, expires int64
	err := r.Scan(append([]any{&q.ID, &q.Session, &q.Tool, &q.Command, &args, &q.Fingerprint, &q.Risk, &q.Mode, &asked, &expires, &q.Identity, &q.Run, &definition}, more...)...)
	if definition != "" {
		q.Definition = []byte(definition)
	}
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
		_, err = tx.ExecContext(ctx, "INSERT INTO requests ("+columns+") VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)",
			r.ID, r.Session, r.Tool, r.Command, string(r.Arguments), r.Fingerprint, r.Risk, r.Mode, r.AskedAt.UnixMilli(), r.ExpiresAt.UnixMilli(), r.Identity, r.Run, string(r.Definition))
		return err
	})
	if err != nil {
		return approvals.Request{}, err
	}
	return out, nil
}

// Answer records the answer to an open request.
func (s *Store) Answer(ctx context.Context, id string, d approvals.Decision, who string, now time.Time) (out approvals.Request, err error) {
	err = s.tx(ctx, func(tx *sql.Tx) error {
		out, err = scan(tx.QueryRowContext(ctx, `UPDATE requests SET decision = $1, answered_by = $2
			WHERE id = $3 AND decision = '' AND expires_at > $4 RETURNING `+columns, d, who, id, now.UnixMilli()))
		if errors.Is(err, sql.ErrNoRows) {
			return whyNot(ctx, tx, id)
		}
		if err != nil {
			return err
		}
		if d == approvals.AllowAlways || d == approvals.RejectAlways {
			if _, err := tx.ExecContext(ctx, `INSERT INTO standing (session, identity, decision, request, answered_by) VALUES ($1, $2, $3, $4, $5)
				ON CONFLICT (session, identity) DO UPDATE SET decision = excluded.decision, request = excluded.request, answered_by = excluded.answered_by`,
				out.Session, out.Identity, d, id, who); err != nil {
				return err
			}
		}
		return record(ctx, tx, approvals.Event{At: now, What: string(d), Request: id, Session: out.Session, Command: out.Command, Who: who})
	})
	if err != nil {
		return approvals.Request{}, err
	}
	return out, nil
}

// whyNot says why a request could not be answered.
func whyNot(ctx context.Context, tx *sql.Tx, id string) error {
	var had string
	err := tx.QueryRowContext(ctx, "SELECT decision FROM requests WHERE id = $1", id).Scan(&had)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return approvals.ErrUnknownRequest
	case err != nil:
		return err
	case had != "":
		return approvals.ErrAnswered
	}
	return approvals.ErrExpired
}

// Answers is what bears on a call, in one statement: the "always" answer, then
// the unused one-off answers in the order asked.
func (s *Store) Answers(ctx context.Context, session, identity, fingerprint string) (out approvals.Answers, err error) {
	err = s.each(ctx, func(r row) error {
		var kind, place int64
		var a approvals.Always
		if err := r.Scan(&kind, &place, &a.Decision, &a.Request, &a.Who); err != nil {
			return err
		}
		if kind == 0 {
			out.Always = a
		} else {
			out.OneOff = append(out.OneOff, a.Decision)
		}
		return nil
	}, `SELECT 0 AS kind, 0 AS place, decision, request, answered_by FROM standing WHERE session = $1 AND identity = $2
		UNION ALL SELECT 1, seq, decision, '', '' FROM requests
			WHERE session = $1 AND fingerprint = $3 AND used_at IS NULL AND decision IN ('allow', 'reject')
		ORDER BY kind, place`, session, identity, fingerprint)
	if err != nil {
		return approvals.Answers{}, err
	}
	return out, nil
}

// Consume uses up the first unused one-off answer of an exact call.
func (s *Store) Consume(ctx context.Context, u approvals.Use) (d approvals.Decision, ok bool, err error) {
	other := approvals.Allow
	if u.RejectOnly {
		other = approvals.Reject
	}
	err = s.tx(ctx, func(tx *sql.Tx) error {
		e := approvals.Event{At: u.At, Session: u.Session, Run: u.Run}
		err := tx.QueryRowContext(ctx, `UPDATE requests SET used_at = $1, used_by = $2 WHERE used_at IS NULL AND seq = (
				SELECT seq FROM requests WHERE session = $3 AND fingerprint = $4 AND used_at IS NULL AND decision IN ('reject', $5) ORDER BY seq LIMIT 1)
			RETURNING id, command, decision, answered_by`,
			u.At.UnixMilli(), u.Run, u.Session, u.Fingerprint, other).Scan(&e.Request, &e.Command, &d, &e.Who)
		if errors.Is(err, sql.ErrNoRows) {
			return nil
		}
		if err != nil {
			return err
		}
		ok, e.What = true, approvals.UseOf(d)
		return record(ctx, tx, e)
	})
	if err != nil {
		return "", false, err
	}
	return d, ok, nil
}

// Record adds the use of an "always" answer to the audit trail.
func (s *Store) Record(ctx context.Context, e approvals.Event) error {
	return s.tx(ctx, func(tx *sql.Tx) error { return record(ctx, tx, e) })
}

func record(ctx context.Context, tx *sql.Tx, e approvals.Event) error {
	_, err := tx.ExecContext(ctx, "INSERT INTO events (at, what, request, session, command, who, run) VALUES ($1, $2, $3, $4, $5, $6, $7)",
		e.At.UnixMilli(), e.What, e.Request, e.Session, e.Command, e.Who, e.Run)
	return err
}

// Allowed is the latest request for a tool that was allowed.
func (s *Store) Allowed(ctx context.Context, session, tool string) (r approvals.Request, ok bool, err error) {
	r, err = scan(s.db.QueryRowContext(ctx, "SELECT "+columns+` FROM requests
		WHERE session = $1 AND tool = $2 AND decision IN ('allow', 'allow_always') ORDER BY seq DESC LIMIT 1`, session, tool))
	if errors.Is(err, sql.ErrNoRows) {
		return approvals.Request{}, false, nil
	}
	return r, err == nil, err
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
