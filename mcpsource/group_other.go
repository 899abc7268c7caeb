//go:build !unix

package mcpsource

import "os/exec"

func ownGroup(*exec.Cmd) {}

// killGroup kills the program.
func killGroup(cmd *exec.Cmd) { cmd.Process.Kill() }

func endGroup(*exec.Cmd) {}
