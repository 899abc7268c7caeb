package main

import (
	"context"
	"database/sql"
	"fmt"

	_ "modernc.org/sqlite" // the driver
)

// store is the tracker's database.
type store struct{ db *sql.DB }

const schema = `
CREATE TABLE IF NOT EXISTS issues (number INTEGER PRIMARY KEY, title TEXT NOT NULL, state TEXT NOT NULL DEFAULT 'open', label TEXT NOT NULL DEFAULT '', age_days INTEGER NOT NULL DEFAULT 0);
CREATE TABLE IF NOT EXISTS comments (id INTEGER PRIMARY KEY, issue INTEGER NOT NULL REFERENCES issues(number), author TEXT NOT NULL, body TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS branches (name TEXT PRIMARY KEY, issue INTEGER NOT NULL, merged INTEGER NOT NULL DEFAULT 0);`

const seed = `
INSERT INTO issues (number, title, age_days) VALUES
	(1, 'Login page answers 500 after a deploy', 1), (2, 'Typo on the pricing page', 40), (3, 'Export crashes on an empty project', 12),
	(4, 'Dark mode for the settings page', 95), (5, 'Flaky test: TestRetryBackoff', 7);
INSERT INTO comments (issue, author, body) VALUES
	(1, 'ana', 'Started right after the last release.'), (1, 'bo', 'The stack trace names the session store.'), (3, 'cy', 'Happens every time.');
INSERT INTO branches (name, issue, merged) VALUES ('fix-login', 1, 0), ('fix-typo', 2, 1), ('dark-mode', 4, 0);`

func openStore(path string) (*store, error) {
	db, err := sql.Open("sqlite", path)
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1)
	if _, err := db.Exec(schema); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	var n int
	if err := db.QueryRow("SELECT count(*) FROM issues").Scan(&n); err != nil {
		return nil, err
	}
	if n == 0 {
		if _, err := db.Exec(seed); err != nil {
			return nil, err
		}
	}
	return &store{db}, nil
}

type issue struct {
	Number  int    `json:"number"`
	Title   string `json:"title"`
	State   string `json:"state"`
	Label   string `json:"label"`
	AgeDays int    `json:"age_days"`
}

type comment struct {
	Issue  int    `json:"issue"`
	Author string `json:"author"`
	Body   string `json:"body"`
}

type branch struct {
	Name   string `json:"name"`
	Issue  int    `json:"issue"`
	Merged bool   `json:"merged"`
}

// query reads rows with scan, which gets pointers to a value's fields.
func query[T any](ctx context.Context, s *store, fields func(*T) []any, q string, args ...any) ([]T, error) {
	rows, err := s.db.QueryContext(ctx, q, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	out := []T{}
	for rows.Next() {
		var v T
		if err := rows.Scan(fields(&v)...); err != nil {
			return nil, err
		}
		out = append(out, v)
	}
	return out, rows.Err()
}

func (s *store) issues(ctx context.Context, state string) ([]issue, error) {
	return query(ctx, s, func(i *issue) []any { return []any{&i.Number, &i.Title, &i.State, &i.Label, &i.AgeDays} },
		"SELECT number, title, state, label, age_days FROM issues WHERE ? IN ('', 'all', state) ORDER BY number", state)
}

func (s *store) comments(ctx context.Context, number int) ([]comment, error) {
	return query(ctx, s, func(c *comment) []any { return []any{&c.Issue, &c.Author, &c.Body} },
		"SELECT issue, author, body FROM comments WHERE issue = ? ORDER BY id", number)
}

func (s *store) branches(ctx context.Context) ([]branch, error) {
	return query(ctx, s, func(b *branch) []any { return []any{&b.Name, &b.Issue, &b.Merged} }, "SELECT name, issue, merged FROM branches ORDER BY name")
}

// change runs a statement that must touch exactly what it names.
func (s *store) change(ctx context.Context, what, q string, args ...any) error {
	res, err := s.db.ExecContext(ctx, q, args...)
	if err != nil {
		return err
	}
	if n, err := res.RowsAffected(); err != nil || n == 0 {
		return fmt.Errorf("no such %s", what)
	}
	return nil
}
