package sqlstore_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tools-in-shell/tis/approvals"
	"github.com/tools-in-shell/tis/approvals/sqlstore"
	"github.com/tools-in-shell/tis/approvals/storetest"
)

// TestMain lets the test binary be one of the processes that race.
func TestMain(m *testing.M) {
	if dsn := os.Getenv("TIS_TEST_RACE"); dsn != "" {
		s, err := sqlstore.Open(context.Background(), dsn)
		if err == nil {
			var ok bool
			if _, ok, err = s.Consume(context.Background(), "s", "f", "run", time.Now()); err == nil {
				fmt.Println(ok)
				os.Exit(0)
			}
		}
		fmt.Println(err)
		os.Exit(1)
	}
	os.Exit(m.Run())
}

func open(t *testing.T, path string) approvals.Store {
	t.Helper()
	s, err := sqlstore.Open(context.Background(), "sqlite:"+path)
	require.NoError(t, err)
	return s
}

func TestConformance(t *testing.T) {
	storetest.Run(t, func(t *testing.T) approvals.Store { return open(t, filepath.Join(t.TempDir(), "sub dir?", "a#b.db")) })
}

func TestFilesAreTheOwnersAlone(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x", "a.db")
	s := open(t, path)
	defer s.Close()
	_, err := s.Raise(context.Background(), storetest.Request("a", "s", "f"), 0, time.Now())
	require.NoError(t, err)
	for _, name := range []string{path, path + "-wal", path + "-shm"} {
		fi, err := os.Stat(name)
		require.NoError(t, err)
		require.EqualValues(t, 0o600, fi.Mode().Perm(), name)
	}
}

func TestOfRacingProcessesOneGetsTheAnswer(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.db")
	s := open(t, path)
	defer s.Close()
	r := storetest.Request("a", "s", "f")
	r.ExpiresAt = time.Now().Add(time.Hour)
	_, err := s.Raise(context.Background(), r, 0, time.Now())
	require.NoError(t, err)
	_, err = s.Answer(context.Background(), "a", approvals.Allow, "ana", time.Now())
	require.NoError(t, err)
	results := make(chan string)
	const n = 8
	for range n {
		go func() {
			cmd := exec.Command(os.Args[0])
			cmd.Env = append(os.Environ(), "TIS_TEST_RACE=sqlite:"+path)
			out, _ := cmd.CombinedOutput()
			results <- strings.TrimSpace(string(out))
		}()
	}
	got := map[string]int{}
	for range n {
		got[<-results]++
	}
	require.Equal(t, map[string]int{"true": 1, "false": n - 1}, got)
}

func TestBadDSNs(t *testing.T) {
	for _, dsn := range []string{"", "sqlite:", "postgres://x", "/tmp/x.db"} {
		_, err := sqlstore.Open(context.Background(), dsn)
		require.ErrorContains(t, err, "sqlite:PATH")
	}
}
