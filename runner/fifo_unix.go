//go:build unix

package runner

import (
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"
)

// release frees the process substitutions of a run that has ended. The
// interpreter opens a named pipe for each, which blocks, and with it a thread,
// until another command opens the other end; a command that was not reached
// never does. Here both ends are opened for a moment. The run's context is done,
// so nothing of what stands in them starts.
func (r *run) release() {
	deadline := time.Now().Add(time.Second)
	for held := map[string]*os.File{}; ; time.Sleep(time.Millisecond) {
		pipes := pipesIn(r.tmp)
		for _, name := range pipes {
			if held[name] == nil {
				// Neither end blocks when it is opened for both.
				if f, err := os.OpenFile(name, os.O_RDWR|syscall.O_NONBLOCK|syscall.O_NOFOLLOW, 0); err == nil {
					held[name] = f
				}
			}
		}
		// The interpreter removes a pipe when it is through with it.
		if len(pipes) == 0 || time.Now().After(deadline) {
			for _, f := range held {
				f.Close()
			}
			return
		}
	}
}

// pipesIn are the interpreter's named pipes in a folder.
func pipesIn(dir string) (pipes []string) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil
	}
	for _, e := range entries {
		if ours, _ := filepath.Match("sh-interp-*", e.Name()); ours && e.Type()&fs.ModeNamedPipe != 0 {
			pipes = append(pipes, filepath.Join(dir, e.Name()))
		}
	}
	return pipes
}
