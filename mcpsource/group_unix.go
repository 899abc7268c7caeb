//go:build unix

package mcpsource

import (
	"errors"
	"os/exec"
	"syscall"
)

// ownGroup starts a program in a process group of its own.
func ownGroup(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// killGroup kills a program and all that it started.
func killGroup(cmd *exec.Cmd) { syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }

func isEPIPE(err error) bool { return errors.Is(err, syscall.EPIPE) }
