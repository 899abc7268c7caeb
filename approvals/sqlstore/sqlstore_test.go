package sqlstore_test

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/tools-in-shell/tis/approvals"
	"github.com/tools-in-shell/tis/approvals/sqlstore"
	"github.com/tools-in-shell/tis/approvals/storetest"
)

// TestMain lets the test binary be one of the processes that race.
func TestMain(m *testing.M) {
	if dsn := os.Getenv("TIS_TEST_RACE"); dsn != "" {
		if err := raceAlone(dsn); err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	goleak.VerifyTestMain(m)
}

// raceAlone waits until the starting gun, its stdin, closes, opens the store and
// tries to use the one answer in it.
func raceAlone(dsn string) error {
	if _, err := os.Stdin.Read(make([]byte, 1)); err == nil {
		return fmt.Errorf("stdin: want its end")
	}
	ctx := context.Background()
	s, err := sqlstore.Open(ctx, dsn)
	if err != nil {
		return err
	}
	defer s.Close()
	_, ok, err := s.Consume(ctx, approvals.Use{Session: "s", Fingerprint: "f", Run: fmt.Sprint(os.Getpid()), At: time.Now()})
	if err != nil {
		return err
	}
	fmt.Println(ok)
	return nil
}

// processes starts n racing processes at once and counts what they print.
func processes(t *testing.T, n int, path string) map[string]int {
	t.Helper()
	gun, fire, err := os.Pipe()
	require.NoError(t, err)
	defer gun.Close()
	results := make(chan string)
	for range n {
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), "TIS_TEST_RACE=sqlite:"+path)
		cmd.Stdin = gun
		var out strings.Builder
		cmd.Stdout, cmd.Stderr = &out, &out
		require.NoError(t, cmd.Start())
		go func() {
			if err := cmd.Wait(); err != nil {
				fmt.Fprintln(&out, err)
			}
			results <- strings.TrimSpace(out.String())
		}()
	}
	require.NoError(t, fire.Close())
	got := map[string]int{}
	for range n {
		got[<-results]++
	}
	return got
}

func open(t *testing.T, path string) *sqlstore.Store {
	t.Helper()
	s, err := sqlstore.Open(context.Background(), "sqlite:"+path)
	require.NoError(t, err)
	t.Cleanup(func() { s.Close() })
	return s
}

// allowed puts one request with the answer "allow" into a store.
func allowed(t *testing.T, s *sqlstore.Store) {
	t.Helper()
	r := storetest.Request("a", "s", "f")
	r.ExpiresAt = time.Now().Add(time.Hour)
	_, err := s.Raise(context.Background(), r, 0, time.Now())
	require.NoError(t, err)
	_, err = s.Answer(context.Background(), "a", approvals.Allow, "ana", time.Now())
	require.NoError(t, err)
}

func TestConformance(t *testing.T) {
	storetest.Run(t, func(t *testing.T) approvals.Store {
		return open(t, filepath.Join(t.TempDir(), "sub dir?", "a#b%20.db"))
	})
}

func TestOfRacingProcessesOneGetsTheAnswer(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.db")
	s := open(t, path)
	allowed(t, s)
	require.Equal(t, map[string]int{"true": 1, "false": 7}, processes(t, 8, path))
	events, err := s.History(context.Background(), "s")
	require.NoError(t, err)
	require.Len(t, events, 2)
	require.Equal(t, "used", events[1].What)
}

func TestRacingProcessesCreateTheFileTogether(t *testing.T) {
	for range 3 {
		require.Equal(t, map[string]int{"false": 8}, processes(t, 8, filepath.Join(t.TempDir(), "new", "a.db")))
	}
}

func TestAnswersOutliveTheProgram(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.db")
	s := open(t, path)
	allowed(t, s)
	require.NoError(t, s.Close())
	require.Equal(t, map[string]int{"true": 1}, processes(t, 1, path))
	require.Equal(t, map[string]int{"false": 1}, processes(t, 1, path))
}

func TestFilesAreTheOwnersAlone(t *testing.T) {
	mode := func(name string) os.FileMode {
		t.Helper()
		fi, err := os.Stat(name)
		require.NoError(t, err)
		return fi.Mode().Perm()
	}
	for _, before := range []os.FileMode{0, 0o644, 0o666} {
		path := filepath.Join(t.TempDir(), "x", "y", "a.db")
		if before != 0 {
			require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
			require.NoError(t, os.WriteFile(path, nil, before))
			require.NoError(t, os.Chmod(path, before))
		}
		s := open(t, path)
		_, err := s.Raise(context.Background(), storetest.Request("a", "s", "f"), 0, time.Now())
		require.NoError(t, err)
		for _, name := range []string{path, path + "-wal", path + "-shm"} {
			require.Equal(t, os.FileMode(0o600), mode(name), "%s, %o before", name, before)
		}
		require.Equal(t, os.FileMode(0o700), mode(filepath.Dir(path)))
		require.Equal(t, os.FileMode(0o700), mode(filepath.Dir(filepath.Dir(path))))
	}
}

func TestARelativePathIsAFileInTheWorkingDirectory(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, name := range []string{"a.db", ":memory:", "file:b.db"} {
		allowed(t, open(t, name))
		_, err := os.Stat(name)
		require.NoError(t, err)
		a, err := open(t, name).Answers(context.Background(), "s", "delete@1", "f")
		require.NoError(t, err)
		require.Len(t, a.OneOff, 1, name)
	}
}

func TestWhatCannotBeOpened(t *testing.T) {
	dir := t.TempDir()
	text := filepath.Join(dir, "text")
	require.NoError(t, os.WriteFile(text, []byte(strings.Repeat("no database ", 100)), 0o600))
	newer := filepath.Join(dir, "newer.db")
	db, err := sql.Open("sqlite", newer)
	require.NoError(t, err)
	_, err = db.Exec("PRAGMA user_version = 99")
	require.NoError(t, err)
	require.NoError(t, db.Close())
	for dsn, want := range map[string]string{
		"":                      "want sqlite:PATH",
		"sqlite:":               "want sqlite:PATH",
		"postgres://x":          "want sqlite:PATH",
		"/tmp/x.db":             "want sqlite:PATH",
		"sqlite:" + dir:         "is not a file",
		"sqlite:" + text + "/x": "not a directory",
		"sqlite:" + text:        "not a database",
		"sqlite:" + newer:       "newer than this program's",
	} {
		_, err := sqlstore.Open(context.Background(), dsn)
		require.ErrorContains(t, err, want, dsn)
	}
}

// A file of the first version keeps its requests and answers.
func TestAnOlderFileIsBroughtUpToDate(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.db")
	db, err := sql.Open("sqlite", path)
	require.NoError(t, err)
	first, err := os.ReadFile("migrations/0001_start.sql")
	require.NoError(t, err)
	for _, statement := range []string{string(first), "PRAGMA user_version = 1",
		`INSERT INTO requests (id, session, tool, command, arguments, fingerprint, risk, mode, asked_at, expires_at, identity, run, decision, answered_by)
			VALUES ('old', 's', 'drop', 'tools drop', '{}', 'f', 'needs_approval', 'normal', 1, 2, 'drop@1', 'r', 'allow', 'ana')`} {
		_, err := db.Exec(statement)
		require.NoError(t, err)
	}
	require.NoError(t, db.Close())
	s := open(t, path)
	r, ok, err := s.Allowed(context.Background(), "s", "drop")
	require.NoError(t, err)
	require.True(t, ok)
	require.Equal(t, "old", r.ID)
	require.Nil(t, r.Definition)
	allowed(t, s)
	a, err := s.Answers(context.Background(), "s", "drop@1", "f")
	require.NoError(t, err)
	require.Len(t, a.OneOff, 2)
}
