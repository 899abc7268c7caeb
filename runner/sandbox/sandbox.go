// Package sandbox starts the host's text and file utilities (grep, sed, sort,
// ...) for a script so that they reach nothing but the run's own folders.
//
// On Linux each utility starts as a second copy of the program, which gives up
// its rights for good (Landlock: read and execute on the system's program
// folders, read and write on the run's folders; a network namespace with no
// interface; no new privileges; resource limits) and then becomes the utility.
// For that, a program that embeds the runner calls Main at the top of its main
// function. On other systems, and where the kernel has no Landlock, utilities
// start with a scrubbed environment but unconfined; Protections says which.
//
// The package knows nothing of tools, scripts or approvals.
package sandbox

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// Dirs are the folders in which utilities are looked up, in this order.
var programDirs = []string{"/usr/local/bin", "/usr/bin", "/bin"}

// Path is the PATH that scripts and utilities see.
func Path() string { return strings.Join(programDirs, string(filepath.ListSeparator)) }

// utilities are the host programs that a script may start. None of them opens
// the network or starts an unlisted program outside the confinement.
var utilities = strings.Fields(`
	awk base32 base64 basename bc bunzip2 bzip2 cat chmod cksum cmp column comm cp csplit cut
	date dc dd df diff diff3 dirname du echo egrep env expand expr factor false fgrep file find fmt fold
	gawk getconf grep gunzip gzip head hexdump iconv id join ln ls mawk md5sum mkdir mktemp mv
	nl nproc numfmt od paste patch pathchk perl printenv printf pwd python3 readlink realpath rev rm
	rmdir sed seq sha1sum sha224sum sha256sum sha384sum sha512sum shuf sleep sort split stat
	strings sum tac tail tar tee test touch tr true truncate tsort uname unexpand uniq unlink
	unxz unzip uuidgen wc which whoami xargs xmllint xxd xz xzcat yes zcat zip zstd`)

// Protections says how utilities are confined on this machine.
type Protections struct {
	// Files: the kernel confines them to the run's folders.
	Files bool
	// Network: they start in a network namespace without interfaces.
	Network bool
	// Missing explains, in a sentence, what is not confined; empty when all is.
	Missing string
}

// Utilities starts host programs for one run.
type Utilities struct {
	// Write are the folders that a utility may read and write.
	Write []string
	// Hide are files below these that are empty and read-only for a utility, where
	// Protections.Network holds: that takes a mount namespace.
	Hide []string
	// Protections are what Probe found.
	Protections Protections
}

// Look finds the program for a name that a script typed. It reports false for
// a program that is not in the list of utilities or is not installed.
func Look(name string) (path string, ok bool) {
	if !slices.Contains(utilities, name) {
		return "", false
	}
	for _, dir := range programDirs {
		path := filepath.Join(dir, name)
		if fi, err := os.Stat(path); err == nil && fi.Mode().IsRegular() && fi.Mode()&0o111 != 0 {
			return path, true
		}
	}
	return "", false
}

// Command prepares the utility at path, which came from Look. args[0] is the
// name as typed. The command runs in a process group of its own, and the whole
// group is killed when ctx is done. The caller sets the streams.
func (u *Utilities) Command(ctx context.Context, path, dir string, args, env []string) *exec.Cmd {
	return u.command(ctx, path, dir, args, env)
}
