package jq

import (
	"context"
	"errors"
	"runtime/metrics"
	"time"

	"github.com/itchyny/gojq"
)

// A program may grow without end ([range(1e12)], def f: 1 + f; f), and the
// process that it runs in is not its own. So it is stopped when the memory in
// use has grown this much since it began: what the last collection found
// alive, and what is in use at all, in bytes. Whatever else runs in the process
// counts too.
const (
	maxLive = 1 << 30
	maxUsed = 2 << 30
)

var errMemory = errors.New("the program takes too much memory")

// What doubles grows faster than anybody can watch, so what + makes is bounded
// by itself: the bytes of a string, the elements of an array.
const (
	maxText     = 256 << 20
	maxElements = 1 << 24

	errTextTooLong = fault("the string is too long")
	errListTooLong = fault("the array is too long")
)

// guard watches over the memory until stop is called. The context that it
// gives is cancelled with errMemory.
func guard(parent context.Context) (ctx context.Context, stop func()) {
	ctx, cancel := context.WithCancelCause(parent)
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
	return ctx, func() {
		cancel(nil)
		<-done
	}
}

const errTooDeep = fault("value nested too deeply")

// shallow reports whether values are nested no deeper than what can be read.
// Comparing is recursive in gojq, and a program can build a value of any depth.
func shallow(values ...any) bool {
	type level struct {
		v     any
		depth int
	}
	var todo []level
	visit := func(v any, depth int) {
		switch c := v.(type) {
		case []any:
			if len(c) > 0 {
				todo = append(todo, level{v, depth})
			}
		case map[string]any:
			if len(c) > 0 {
				todo = append(todo, level{v, depth})
			}
		}
	}
	for _, v := range values {
		visit(v, 1)
	}
	for len(todo) > 0 {
		l := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if l.depth > maxDepth+1 {
			return false
		}
		switch c := l.v.(type) {
		case []any:
			for _, x := range c {
				visit(x, l.depth+1)
			}
		case map[string]any:
			for _, x := range c {
				visit(x, l.depth+1)
			}
		}
	}
	return true
}

// compare stands for an operator that compares.
func compare(test func(order int) bool) func(v, l, r any) any {
	return func(_, l, r any) any {
		if !shallow(l) || !shallow(r) {
			return errTooDeep
		}
		return test(gojq.Compare(l, r))
	}
}
