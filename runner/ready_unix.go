//go:build unix

package runner

import (
	"io"
	"os"

	"golang.org/x/sys/unix"
)

// ready is nil when a read of in would not wait.
func ready(in io.Reader) error {
	f, ok := in.(*os.File)
	if !ok {
		return nil
	}
	raw, err := f.SyscallConn()
	if err != nil {
		return err
	}
	n := 0
	if err := raw.Control(func(fd uintptr) {
		n, err = unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, 0)
	}); err != nil {
		return err
	}
	if n == 0 {
		return io.EOF
	}
	return err
}
