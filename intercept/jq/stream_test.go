package jq_test

import (
	"context"
	"fmt"
	"io"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tools-in-shell/tis/intercept/jq"
)

// endless gives begin, then unit until size bytes have been read, then end. It
// notes how much the heap holds meanwhile.
type endless struct {
	begin, unit, end string
	size             int

	given int
	rest  string
	most  uint64 // bytes alive after a collection
}

func (e *endless) Read(p []byte) (int, error) {
	if e.rest == "" {
		switch {
		case e.given == 0:
			e.rest = e.begin + e.unit
		case e.given < e.size:
			e.rest = strings.Repeat(e.unit, 1+(32<<10)/len(e.unit))
			if e.given/(128<<10) != (e.given+len(e.rest))/(128<<10) {
				runtime.GC()
				var m runtime.MemStats
				runtime.ReadMemStats(&m)
				e.most = max(e.most, m.HeapAlloc)
			}
		case e.end != "":
			e.rest, e.end = e.end, ""
		default:
			return 0, io.EOF
		}
		e.given += len(e.rest)
	}
	n := copy(p, e.rest)
	e.rest = e.rest[n:]
	return n, nil
}

// streams are programs whose memory does not depend on how long the input is.
var streams = []struct {
	name             string
	args             []string
	begin, unit, end string
}{
	{"one value after the other", []string{"-c", `select(.id == 1) | {name, tags}`}, "", `{"id":7,"name":"a name","tags":["x","y"],"z":{"b":1,"a":2.50}}` + "\n", ""},
	{"keys in another order each time", []string{"-c", `select(.a == 0)`}, "", `{"b":1,"a":2}{"a":1,"b":2}` + "\n", ""},
	{"inputs", []string{"-n", `reduce inputs as $x (0; . + $x.n)`}, "", `{"n":1}` + "\n", ""},
	{"lines", []string{"-R", `select(startswith("x"))`}, "", "a line of text\n", ""},
	{"one array, as events", []string{"-nc", "--stream", `reduce (inputs | select(length == 2)) as [$p, $v] (0; . + 1)`}, "[0", `,{"a":[1,2]}`, "]"},
}

func TestALongInputTakesNoMoreMemory(t *testing.T) {
	for _, c := range streams {
		t.Run(c.name, func(t *testing.T) {
			var before runtime.MemStats
			runtime.GC()
			runtime.ReadMemStats(&before)
			in := &endless{begin: c.begin, unit: c.unit, end: c.end, size: 1 << 19}
			var errOut strings.Builder
			require.Zero(t, jq.Main(context.Background(), c.args, in, io.Discard, &errOut, nil, nil), errOut.String())
			require.NotZero(t, in.most)
			assert.Less(t, int64(in.most)-int64(before.HeapAlloc), int64(4<<20))
		})
	}
}

func BenchmarkStream50MB(b *testing.B) {
	for _, c := range streams {
		b.Run(c.name, func(b *testing.B) {
			b.SetBytes(50 << 20)
			for b.Loop() {
				in := &endless{begin: c.begin, unit: c.unit, end: c.end, size: 50 << 20}
				require.Zero(b, jq.Main(context.Background(), c.args, in, io.Discard, io.Discard, nil, nil))
				b.ReportMetric(float64(in.most)/(1<<20), "MB-alive")
			}
		})
	}
}

// What a script pays that runs echo '{"a":1}' | jq .a a hundred times.
func Benchmark100Pipelines(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		for i := range 100 {
			r, w := io.Pipe()
			go func() {
				fmt.Fprintf(w, "{\"a\":%d}\n", i)
				w.Close()
			}()
			var out strings.Builder
			if jq.Main(b.Context(), []string{".a"}, r, &out, io.Discard, nil, nil) != 0 || out.String() != fmt.Sprintln(i) {
				b.Fatal(out.String())
			}
		}
	}
}
