//go:build unix

package main

import "io/fs"

// exposed reports whether others than the owner may read a file.
func exposed(fi fs.FileInfo) bool { return fi.Mode().IsRegular() && fi.Mode().Perm()&0o077 != 0 }
