package signin

import (
	"errors"
	"io/fs"
	"os"

	"golang.org/x/sys/windows"
)

// exposed cannot tell here: the folder's own rights decide.
func exposed(fs.FileInfo) bool { return false }

// tryLock takes a file's lock unless somebody has it. It ends with the file.
func tryLock(f *os.File) (bool, error) {
	err := windows.LockFileEx(windows.Handle(f.Fd()), windows.LOCKFILE_EXCLUSIVE_LOCK|windows.LOCKFILE_FAIL_IMMEDIATELY, 0, 1, 0, &windows.Overlapped{})
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) {
		return false, nil
	}
	return err == nil, err
}
