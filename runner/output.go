package runner

import (
	"context"
	"io"
	"os"
	"os/exec"
	"reflect"
	"time"
)

// outputGrace is how long the output of a utility is read on after the run has
// been ended.
const outputGrace = 500 * time.Millisecond

// output carries what a utility prints to where its command prints.
//
// os/exec would do so, too, and with a WaitDelay it would give up what has not
// been carried when the delay is over: on a busy machine, or for a reader that is
// slow, output would be missing and nobody would be told. Here it is read to its
// end, as a shell does, unless the run is over.
type output struct {
	ends []*os.File // of the utility, to be closed once it has them
	from []*os.File
	done []chan struct{}
}

// attach gives the utility ways out. What is a file already is handed over as it
// is. After an error nothing is attached.
func (o *output) attach(cmd *exec.Cmd, out, err io.Writer) error {
	var fault error
	if cmd.Stdout, fault = o.way(out); fault != nil {
		return fault
	}
	if same(out, err) { // 2>&1: one way, so that the order stays
		cmd.Stderr = cmd.Stdout
		return nil
	}
	if cmd.Stderr, fault = o.way(err); fault != nil {
		o.started()
		o.end(context.Background())
		return fault
	}
	return nil
}

func same(a, b io.Writer) bool {
	return a != nil && b != nil && reflect.TypeOf(a).Comparable() && reflect.TypeOf(b).Comparable() && a == b
}

func (o *output) way(to io.Writer) (io.Writer, error) {
	if to == nil {
		return nil, nil
	}
	if f, ok := to.(*os.File); ok {
		return f, nil
	}
	r, w, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	done := make(chan struct{})
	o.ends, o.from, o.done = append(o.ends, w), append(o.from, r), append(o.done, done)
	go func() {
		defer close(done)
		defer r.Close()
		io.Copy(to, r) // a reader that has gone gives the utility a broken pipe
	}()
	return w, nil
}

// started closes our copies of the utility's ends; it has its own, or failed to
// start.
func (o *output) started() {
	for _, w := range o.ends {
		w.Close()
	}
}

// end waits until all has been carried. When the run is over it waits for a
// moment only.
func (o *output) end(ctx context.Context) {
	for i, done := range o.done {
		select {
		case <-done:
			continue
		case <-ctx.Done():
		}
		select {
		case <-done:
		case <-time.After(outputGrace):
			o.from[i].Close() // what still holds the other end gets a broken pipe
		}
	}
}
