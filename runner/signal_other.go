//go:build !unix

package runner

import "os/exec"

// signalStatus is the exit code of a program that ended without one.
func signalStatus(*exec.ExitError) int { return 1 }

func isBrokenPipe(error) bool { return false }
