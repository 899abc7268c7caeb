package mcpsource

import (
	"errors"

	"golang.org/x/sys/unix"
)

// sawExit waits until a child has exited, and leaves it to be waited for: till
// then its id, which is its group's too, is nobody else's. False: cannot tell.
func sawExit(pid int) bool {
	for {
		var info unix.Siginfo
		err := unix.Waitid(unix.P_PID, pid, &info, unix.WEXITED|unix.WNOWAIT, nil)
		if !errors.Is(err, unix.EINTR) {
			return err == nil
		}
	}
}
