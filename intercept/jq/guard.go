package jq

import (
	"context"
	"errors"
	"reflect"
	"runtime/metrics"
	"time"

	"github.com/itchyny/gojq"
)

// A program may grow without end ([range(1e12)], def f: 1 + f; f), and the
// process that it runs in is not its own. So it is stopped when the memory in
// use has grown this much since it began: what the last collection found
// alive, and what is in use at all, in bytes. Whatever else runs in the process
// counts too: Go does not say who uses what. Between two looks a program can
// take no more than its steps are bounded to (bounds).
const (
	maxLive = 1 << 30
	maxUsed = 2 << 30
)

// maxStack bounds what a program has on its stacks: values, calls and the
// places to go back to, those of one run alone.
const maxStack = 1 << 21

// What a program is stopped with.
var (
	errMemory = errors.New("the program takes too much memory")
	errStack  = errors.New("the program calls itself too deeply")
)

// guard watches over the memory until stop is called. The context that it
// gives is cancelled with errMemory.
func guard(parent context.Context) (ctx context.Context, cancel context.CancelCauseFunc, stop func()) {
	ctx, cancel = context.WithCancelCause(parent)
	done := make(chan struct{})
	samples := []metrics.Sample{{Name: "/gc/heap/live:bytes"}, {Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(samples)
	live, used := samples[0].Value.Uint64(), samples[1].Value.Uint64()
	go func() {
		defer close(done)
		tick := time.NewTicker(20 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}
			metrics.Read(samples)
			if samples[0].Value.Uint64() > live+maxLive || samples[1].Value.Uint64() > used+maxUsed {
				cancel(errMemory)
			}
		}
	}()
	return ctx, cancel, func() {
		cancel(nil)
		<-done
	}
}

// meter is the context that a program runs in. gojq asks it before every step
// whether it is done, and now and then it looks at the program's stacks.
type meter struct {
	context.Context
	cancel  context.CancelCauseFunc
	program gojq.Iter
	steps   int
}

// Done is that of the context.
func (m *meter) Done() <-chan struct{} {
	if m.steps++; m.steps%4096 == 0 && stacked(m.program) > maxStack {
		m.cancel(errStack)
	}
	return m.Context.Done()
}

// stacked is how much a running program has on the largest of its stacks. They
// are gojq's own, so that they have to be looked for by name.
func stacked(program gojq.Iter) int {
	env := reflect.Indirect(reflect.ValueOf(program))
	if env.Kind() != reflect.Struct {
		return 0
	}
	most := 0
	for _, name := range [...]string{"stack", "paths", "scopes", "forks"} {
		s := reflect.Indirect(env.FieldByName(name))
		if s.Kind() == reflect.Struct {
			s = s.FieldByName("data")
		}
		if s.Kind() == reflect.Slice {
			most = max(most, s.Len())
		}
	}
	return most
}
