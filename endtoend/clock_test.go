package endtoend_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tools-in-shell/tis/approvals"
)

// A clock that jumps, forth and back, lets no call through that was not
// allowed, and no answer count twice.
func TestAClockThatJumps(t *testing.T) {
	w := newWorld(t)
	var ms atomic.Int64
	ms.Store(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC).UnixMilli())
	w.options.Gate = approvals.NewGate(w.store, approvals.Config{Timeout: 15 * time.Minute, Now: func() time.Time { return time.UnixMilli(ms.Load()) }})
	seed := rand.Uint64()
	random := rand.New(rand.NewPCG(seed, 1))
	jumps := []time.Duration{0, time.Millisecond, 15*time.Minute - time.Millisecond, 15 * time.Minute, time.Hour, 400 * 24 * time.Hour, 1 << 60, 0, -time.Millisecond, -15 * time.Minute, -time.Hour, -400 * 24 * time.Hour, -1 << 60}
	decisions := []approvals.Decision{approvals.Allow, approvals.Reject}
	var pending []approvals.Request
	allowed, arrived := 0, 0
	for step := range 400 {
		ms.Add(jumps[random.IntN(len(jumps))].Milliseconds())
		if random.IntN(2) == 0 && len(pending) > 0 {
			r := pending[random.IntN(len(pending))]
			d := decisions[random.IntN(2)]
			_, err := w.options.Gate.Answer(context.Background(), r.ID, d, "ana")
			expired := ms.Load() >= r.ExpiresAt.UnixMilli()
			switch {
			case err == nil:
				require.False(t, expired, "seed %d, step %d: answered after its time", seed, step)
				if d == approvals.Allow {
					allowed++
				}
			default:
				require.True(t, errors.Is(err, approvals.ErrExpired) && expired || errors.Is(err, approvals.ErrAnswered), "seed %d, step %d: %v", seed, step, err)
			}
			continue
		}
		script := "tools s del a=" + strconv.Itoa(random.IntN(2))
		if random.IntN(2) == 0 {
			script = "x=1; " + script + "$x"
		}
		result := w.run(t, script)
		pending = append(pending, result.ApprovalRequests...)
		arrived += len(w.gated(t))
		require.Equal(t, w.used(t), arrived, "seed %d, step %d", seed, step)
		require.LessOrEqual(t, arrived, allowed, "seed %d, step %d", seed, step)
	}
	require.Positive(t, arrived, "seed %d", seed)
}
