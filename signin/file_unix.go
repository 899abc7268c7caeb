//go:build unix

package signin

import (
	"errors"
	"io/fs"
	"os"

	"golang.org/x/sys/unix"
)

// exposed reports whether others than the owner may use a file.
func exposed(fi fs.FileInfo) bool { return fi.Mode().Perm()&0o077 != 0 }

// tryLock takes a file's lock unless somebody has it. It ends with the file.
func tryLock(f *os.File) (bool, error) {
	err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	if errors.Is(err, unix.EWOULDBLOCK) || errors.Is(err, unix.EINTR) {
		return false, nil
	}
	return err == nil, err
}
