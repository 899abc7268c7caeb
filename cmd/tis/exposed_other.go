//go:build !unix

package main

import "io/fs"

// exposed reports whether others than the owner may read a file. The system
// keeps that elsewhere than in the mode.
func exposed(fs.FileInfo) bool { return false }
