//go:build !linux

package sandbox

import (
	"context"
	"os/exec"
	"runtime"
	"time"
)

// Main does nothing on this system: there is no confinement to prepare.
func Main() {}

// Probe says that nothing is confined on this system.
func Probe() Protections {
	return Protections{Missing: "utilities are not confined on " + runtime.GOOS}
}

func (u *Utilities) command(ctx context.Context, path, dir string, args, env []string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, path)
	cmd.Args, cmd.Dir, cmd.Env = args, dir, env
	cmd.WaitDelay = 500 * time.Millisecond
	return cmd
}
