package runner

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// keepsPrivate refuses a working directory from which a script would reach one
// of the folders. One that is not there, or is empty, keeps nothing.
func keepsPrivate(dir string, folders []string) error {
	for _, folder := range folders {
		real, err := filepath.EvalSymlinks(folder)
		if err != nil {
			continue
		}
		if held, err := os.ReadDir(real); err == nil && len(held) == 0 {
			continue
		}
		if holds(dir, real) || holds(real, dir) {
			return fmt.Errorf("working directory %s: a script there could read %s; run it in another folder", dir, folder)
		}
	}
	return nil
}

// holds reports whether a path is a folder or lies below it.
func holds(folder, path string) bool {
	rel, err := filepath.Rel(folder, path)
	return err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
}
