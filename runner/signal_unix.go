//go:build unix

package runner

import (
	"errors"
	"os/exec"
	"syscall"
)

// signalStatus is the exit code of a program that a signal ended.
func signalStatus(exit *exec.ExitError) int {
	if ws, ok := exit.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
		return 128 + int(ws.Signal())
	}
	return 1
}

func isBrokenPipe(err error) bool { return errors.Is(err, syscall.EPIPE) }
