package endtoend_test

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tools-in-shell/tis/approvals"
	"github.com/tools-in-shell/tis/approvals/sqlstore"
)

const (
	kills       = 200
	killedCalls = 3 // allowed calls of each script that is killed
)

// However a program dies, no answer is used up without its use being recorded,
// none lets two calls through, and the store stays readable.
func TestKilledAtAnyMoment(t *testing.T) {
	tis := build(t.TempDir(), "../cmd/tis")
	seed := rand.Uint64()
	random := rand.New(rand.NewPCG(seed, 1))
	dir := t.TempDir()
	path := filepath.Join(dir, "approvals.db")
	w := newWorld(t)
	store, err := sqlstore.Open(t.Context(), "sqlite:"+path)
	require.NoError(t, err)
	defer store.Close()
	w.store = store
	w.options.Gate = approvals.NewGate(store, approvals.Config{})
	db, err := sql.Open("sqlite", path)
	require.NoError(t, err)
	defer db.Close()

	config := filepath.Join(dir, "tis.json")
	text, err := json.Marshal(map[string]any{"mcpServers": map[string]any{"s": map[string]any{"command": serverProgram, "args": []string{w.log}}}})
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(config, text, 0o600))
	command := func(script string) *exec.Cmd {
		cmd := exec.Command(tis, "run", "-c", config, "--session", "s", "--store", "sqlite:"+path, "--dir", dir, "-")
		cmd.Stdin = strings.NewReader(script)
		cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "TMPDIR=" + t.TempDir()}
		return cmd
	}

	// What a whole run takes says which moments are worth killing at.
	start := time.Now()
	out, err := command("tools s get").CombinedOutput()
	require.NoError(t, err, string(out))
	whole := time.Since(start)

	uses := func() (n int) {
		require.NoError(t, db.QueryRow("SELECT count(*) FROM requests WHERE used_at IS NOT NULL").Scan(&n))
		return n
	}
	used, arrived, cut, late := 0, 0, 0, 0
	perCall := map[string]int{} // a killed program's server may write down a call a moment later
	for kill := range kills {
		var calls []string
		for n := range killedCalls {
			calls = append(calls, fmt.Sprintf("tools s del call=k%d-%d", kill, n))
		}
		script := strings.Join(calls, "\n")
		allow := make([]approvals.Decision, killedCalls)
		for i := range allow {
			allow[i] = approvals.Allow
		}
		w.answer(t, w.run(t, script), allow...)
		if kill%2 == 1 { // half of them as calls that only the run sees
			script = "c=call\n" + strings.ReplaceAll(script, "call=", "$c=")
		}

		victims := []*exec.Cmd{command(script)}
		if kill%4 == 3 { // and some race
			victims = append(victims, command(script))
		}
		for _, v := range victims {
			require.NoError(t, v.Start())
		}
		time.Sleep(time.Duration(random.Int64N(int64(whole) * 3 / 2)))
		for _, v := range victims {
			v.Process.Kill() // it may have ended
			if v.Wait() == nil {
				late++
			} else {
				cut++
			}
		}

		// The store can be read, and says the same everywhere.
		events, err := store.History(t.Context(), "s")
		require.NoError(t, err, "seed %d", seed)
		recorded := map[string]int{}
		total := 0
		for _, e := range events {
			if e.What == "used" {
				recorded[e.Request]++
				total++
			}
		}
		require.Equal(t, uses(), total, "seed %d, kill %d: a use that is not recorded", seed, kill)
		for id, n := range recorded {
			require.Equal(t, 1, n, "seed %d, kill %d: %s was used twice", seed, kill, id)
		}

		// What is left is still good for one call each, and what was used for none.
		left := killedCalls - (total - used)
		require.GreaterOrEqual(t, left, 0)
		used = total
		again := w.run(t, strings.Join(calls, "\n"))
		if left == killedCalls {
			require.Nil(t, again.Tools, "seed %d, kill %d: %+v", seed, kill, again)
		} else {
			require.Len(t, again.ApprovalRequests, killedCalls-left, "seed %d, kill %d", seed, kill)
		}
		used = uses()

		for _, a := range w.gated(t) {
			perCall[a.key()]++
			arrived++
		}
		for call, n := range perCall {
			require.Equal(t, 1, n, "seed %d, kill %d: %s arrived %d times on one answer", seed, kill, call, n)
		}
		require.LessOrEqual(t, arrived, used, "seed %d, kill %d", seed, kill)
	}
	var ok string
	require.NoError(t, db.QueryRowContext(context.Background(), "PRAGMA integrity_check").Scan(&ok))
	require.Equal(t, "ok", ok)
	t.Logf("a run takes %v; %d killed, %d had ended; %d answers used, %d calls arrived", whole, cut, late, used, arrived)
	require.Greater(t, cut, kills/4, "seed %d: hardly any was killed at work", seed)
	require.Positive(t, arrived)
}
