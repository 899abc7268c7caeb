package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"

	_ "modernc.org/sqlite" // the driver
)

// store is the tracker's database.
type store struct{ db *sql.DB }

type issue struct {
	Number   int      `json:"number"`
	Title    string   `json:"title"`
	Body     string   `json:"body"`
	Author   string   `json:"author"`
	State    string   `json:"state" jsonschema:"open or closed"`
	Labels   []string `json:"labels"`
	AgeDays  int      `json:"age_days" jsonschema:"days since it was opened"`
	Comments int      `json:"comments" jsonschema:"how many comments it has"`
}

type comment struct {
	ID      int    `json:"id"`
	Issue   int    `json:"issue"`
	Author  string `json:"author"`
	Body    string `json:"body"`
	AgeDays int    `json:"age_days"`
}

type branch struct {
	Name   string `json:"name"`
	Issue  int    `json:"issue,omitempty" jsonschema:"the issue that it is for"`
	Author string `json:"author"`
	Merged bool   `json:"merged"`
}

// openStore opens or makes the database and fills an empty one.
func openStore(ctx context.Context, path string) (*store, error) {
	db, err := sql.Open("sqlite", path)
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1) // SQLite has one writer; calls wait for each other here
	s := &store{db}
	if err := s.fill(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("open %s: %w", path, err), db.Close())
	}
	return s, nil
}

func (s *store) fill(ctx context.Context) error {
	for _, q := range []string{"PRAGMA busy_timeout = 5000", "PRAGMA foreign_keys = ON"} {
		if _, err := s.db.ExecContext(ctx, q); err != nil {
			return err
		}
	}
	tx, err := s.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	if _, err := tx.ExecContext(ctx, schema); err != nil {
		return err
	}
	var filled bool
	if err := tx.QueryRowContext(ctx, "SELECT EXISTS (SELECT 1 FROM branches) OR EXISTS (SELECT 1 FROM issues)").Scan(&filled); err != nil {
		return err
	}
	if !filled {
		if _, err := tx.ExecContext(ctx, seed); err != nil {
			return err
		}
	}
	return tx.Commit()
}

const issueColumns = `SELECT number, title, body, author, iif(closed IS NULL, 'open', 'closed'),
	coalesce((SELECT group_concat(name, ',' ORDER BY name) FROM labels WHERE issue = number), ''),
	CAST(julianday(date('now')) - julianday(created) AS INTEGER),
	(SELECT count(*) FROM comments WHERE issue = number)
	FROM issues `

// issues lists the issues in a state, "all" for every one, by number.
func (s *store) issues(ctx context.Context, state string) ([]issue, error) {
	return query(ctx, s.db, scanIssue, issueColumns+"WHERE ? IN ('all', iif(closed IS NULL, 'open', 'closed')) ORDER BY number", state)
}

func (s *store) issue(ctx context.Context, number int) (issue, error) {
	list, err := query(ctx, s.db, scanIssue, issueColumns+"WHERE number = ?", number)
	if err == nil && len(list) == 0 {
		err = fmt.Errorf("there is no issue %d", number)
	}
	if err != nil {
		return issue{}, err
	}
	return list[0], nil
}

func scanIssue(rows *sql.Rows) (i issue, err error) {
	var labels string
	err = rows.Scan(&i.Number, &i.Title, &i.Body, &i.Author, &i.State, &labels, &i.AgeDays, &i.Comments)
	i.Labels = strings.FieldsFunc(labels, func(r rune) bool { return r == ',' })
	if i.Labels == nil {
		i.Labels = []string{}
	}
	return i, err
}

func (s *store) createIssue(ctx context.Context, title, body string) (issue, error) {
	res, err := s.db.ExecContext(ctx, "INSERT INTO issues (title, body) VALUES (?, ?)", title, body)
	if err != nil {
		return issue{}, err
	}
	number, err := res.LastInsertId()
	if err != nil {
		return issue{}, err
	}
	return s.issue(ctx, int(number))
}

func (s *store) closeIssue(ctx context.Context, number int) (issue, error) {
	if _, err := s.db.ExecContext(ctx, "UPDATE issues SET closed = date('now') WHERE number = ? AND closed IS NULL", number); err != nil {
		return issue{}, err
	}
	return s.issue(ctx, number)
}

func (s *store) addLabel(ctx context.Context, number int, label string) (issue, error) {
	if _, err := s.db.ExecContext(ctx, "INSERT OR IGNORE INTO labels (issue, name) SELECT number, ? FROM issues WHERE number = ?", label, number); err != nil {
		return issue{}, err
	}
	return s.issue(ctx, number)
}

// comments lists an issue's comments, oldest first.
func (s *store) comments(ctx context.Context, number int) ([]comment, error) {
	if _, err := s.issue(ctx, number); err != nil {
		return nil, err
	}
	return query(ctx, s.db, scanComment, commentColumns+"WHERE issue = ? ORDER BY id", number)
}

const commentColumns = `SELECT id, issue, author, body, CAST(julianday(date('now')) - julianday(created) AS INTEGER) FROM comments `

func scanComment(rows *sql.Rows) (c comment, err error) {
	return c, rows.Scan(&c.ID, &c.Issue, &c.Author, &c.Body, &c.AgeDays)
}

func (s *store) createComment(ctx context.Context, number int, body string) (comment, error) {
	if _, err := s.issue(ctx, number); err != nil {
		return comment{}, err
	}
	res, err := s.db.ExecContext(ctx, "INSERT INTO comments (issue, body) VALUES (?, ?)", number, body)
	if err != nil {
		return comment{}, err
	}
	id, err := res.LastInsertId()
	return comment{ID: int(id), Issue: number, Author: "agent", Body: body}, err
}

func (s *store) branches(ctx context.Context) ([]branch, error) {
	scan := func(rows *sql.Rows) (b branch, err error) {
		return b, rows.Scan(&b.Name, &b.Issue, &b.Author, &b.Merged)
	}
	return query(ctx, s.db, scan, "SELECT name, coalesce(issue, 0), author, merged FROM branches ORDER BY name")
}

func (s *store) deleteBranch(ctx context.Context, name string) error {
	if name == "main" {
		return errors.New("main is the default branch and cannot be deleted")
	}
	res, err := s.db.ExecContext(ctx, "DELETE FROM branches WHERE name = ?", name)
	if err != nil {
		return err
	}
	n, err := res.RowsAffected()
	if err == nil && n == 0 {
		err = fmt.Errorf("there is no branch %q", name)
	}
	return err
}

// openPerDay counts the issues that were open at the end of each of the last
// days, the oldest first.
func (s *store) openPerDay(ctx context.Context, days int) ([]int, error) {
	scan := func(rows *sql.Rows) (n int, err error) { return n, rows.Scan(&n) }
	return query(ctx, s.db, scan, `
		WITH RECURSIVE day(ago) AS (SELECT ? - 1 UNION ALL SELECT ago - 1 FROM day WHERE ago > 0)
		SELECT (SELECT count(*) FROM issues WHERE created <= d.date AND (closed IS NULL OR closed > d.date))
		FROM (SELECT ago, date('now', '-' || ago || ' days') AS date FROM day) AS d ORDER BY d.ago DESC`, days)
}

// query reads every row with scan. No rows is an empty list, not nil.
func query[T any](ctx context.Context, db *sql.DB, scan func(*sql.Rows) (T, error), q string, args ...any) ([]T, error) {
	rows, err := db.QueryContext(ctx, q, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	out := []T{}
	for rows.Next() {
		v, err := scan(rows)
		if err != nil {
			return nil, err
		}
		out = append(out, v)
	}
	return out, rows.Err()
}
