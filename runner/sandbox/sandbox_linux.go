package sandbox

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/landlock-lsm/go-landlock/landlock"
	"golang.org/x/sys/unix"
)

// confineArg0 is the argv[0] under which the program re-executes itself to
// confine and then become a utility.
const confineArg0 = "tis-utility"

// readable are the system's folders that a utility may read and execute.
var readable = []string{"/usr", "/bin", "/lib", "/lib64", "/lib32", "/etc/alternatives", "/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/ld.so.conf.d", "/etc/localtime", "/etc/magic", "/etc/mime.types"}

// devices are the device files that every program expects.
var devices = []string{"/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"}

// Limits of one utility.
const (
	maxFileSize  = 1 << 30 // bytes
	maxOpenFiles = 256
	maxMemory    = 4 << 30 // bytes of address space
	maxCPU       = 600     // seconds
)

// spec is what the second copy of the program is told, as its argv[1].
type spec struct {
	Path    string   `json:"path"`
	Write   []string `json:"write"`
	Dir     string   `json:"dir"`
	Confine bool     `json:"confine"`
	// Mounts: the process has a mount namespace of its own in which everything
	// but the Write folders becomes read-only. Landlock alone would still let a
	// utility change the mode, owner and times of files that it cannot open.
	Mounts bool `json:"mounts"`
	// Hide are files below the Write folders that are empty and read-only for the
	// utility. It takes Mounts.
	Hide []string `json:"hide,omitempty"`
}

var mainCalled bool

// Main makes confinement available. Call it first in main: in a copy of the
// program that was started to become a utility it does not return; otherwise
// it only notes that it was called.
func Main() {
	if len(os.Args) < 3 || os.Args[0] != confineArg0 {
		mainCalled = true
		return
	}
	err := become(os.Args[1], os.Args[2:])
	fmt.Fprintf(os.Stderr, "tis: cannot start %s confined: %v\n", os.Args[2], err)
	os.Exit(126)
}

// become confines this process and replaces it by the utility.
func become(text string, args []string) error {
	runtime.LockOSThread()
	var s spec
	if err := json.Unmarshal([]byte(text), &s); err != nil {
		return err
	}
	for resource, n := range map[int]uint64{
		unix.RLIMIT_FSIZE: maxFileSize, unix.RLIMIT_NOFILE: maxOpenFiles, unix.RLIMIT_AS: maxMemory,
		unix.RLIMIT_CPU: maxCPU, unix.RLIMIT_CORE: 0,
	} {
		if err := lower(resource, n); err != nil {
			return err
		}
	}
	if s.Mounts {
		if err := readOnlyMounts(s.Write); err != nil {
			return fmt.Errorf("making the file system read-only: %w", err)
		}
		if err := hide(s.Write, s.Hide); err != nil {
			return fmt.Errorf("hiding what is not the script's: %w", err)
		}
		if err := os.Chdir(s.Dir); err != nil { // the old folder is on the read-only mount
			return err
		}
	}
	if s.Confine {
		rules := []landlock.Rule{
			landlock.RODirs(existing(readable, true)...).IgnoreIfMissing(),
			landlock.ROFiles(existing(readable, false)...).IgnoreIfMissing(),
			landlock.RWFiles(devices...).IgnoreIfMissing(),
			landlock.RWDirs(s.Write...).WithRefer(),
		}
		if err := landlock.V7.BestEffort().Restrict(rules...); err != nil {
			return err
		}
	}
	return syscall.Exec(s.Path, args, os.Environ())
}

// readOnlyMounts makes every mount of this mount namespace read-only, except
// the given folders.
func readOnlyMounts(write []string) error {
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return err
	}
	for _, dir := range write {
		if err := unix.Mount(dir, dir, "", unix.MS_BIND, ""); err != nil {
			return err
		}
	}
	if err := unix.MountSetattr(-1, "/", unix.AT_RECURSIVE, &unix.MountAttr{Attr_set: unix.MOUNT_ATTR_RDONLY}); err != nil {
		return err
	}
	for _, dir := range write {
		if err := unix.MountSetattr(-1, dir, 0, &unix.MountAttr{Attr_clr: unix.MOUNT_ATTR_RDONLY}); err != nil {
			return err
		}
	}
	return nil
}

// hide mounts an empty file over each of the files, and every folder on the way
// to it onto itself, so that none of them can be moved away either.
func hide(write, files []string) error {
	if len(files) == 0 {
		return nil
	}
	empty, err := os.CreateTemp(write[len(write)-1], ".tis-hidden-*")
	if err != nil {
		return err
	}
	defer os.Remove(empty.Name())
	if err := errors.Join(empty.Chmod(0), empty.Close()); err != nil {
		return err
	}
	done := map[string]bool{}
	for _, file := range files {
		for _, dir := range write {
			rel, ok := strings.CutPrefix(file, strings.TrimSuffix(dir, "/")+"/")
			if !ok {
				continue
			}
			parts := strings.Split(rel, "/")
			for i := 1; i < len(parts); i++ {
				folder := filepath.Join(dir, filepath.Join(parts[:i]...))
				if done[folder] {
					continue
				}
				done[folder] = true
				if err := unix.Mount(folder, folder, "", unix.MS_BIND, ""); err != nil {
					return err
				}
			}
			if err := unix.Mount(empty.Name(), file, "", unix.MS_BIND, ""); err != nil {
				return err
			}
			if err := unix.MountSetattr(-1, file, 0, &unix.MountAttr{Attr_set: unix.MOUNT_ATTR_RDONLY}); err != nil {
				return err
			}
		}
	}
	return nil
}

// lower sets a resource's soft and hard limit to n, or leaves a lower one.
func lower(resource int, n uint64) error {
	var have unix.Rlimit
	if err := unix.Getrlimit(resource, &have); err != nil {
		return err
	}
	n = min(n, have.Max)
	return unix.Setrlimit(resource, &unix.Rlimit{Cur: n, Max: n})
}

// existing keeps the paths that are folders (or, with dirs false, files).
func existing(paths []string, dirs bool) []string {
	var out []string
	for _, p := range paths {
		if fi, err := os.Stat(p); err == nil && fi.IsDir() == dirs {
			out = append(out, p)
		}
	}
	return out
}

func (u *Utilities) command(ctx context.Context, path, dir string, args, env []string) *exec.Cmd {
	var cmd *exec.Cmd
	if mainCalled {
		text, err := json.Marshal(spec{Path: path, Dir: dir, Write: u.Write, Hide: u.Hide, Confine: u.Protections.Files, Mounts: u.Protections.Network})
		if err != nil { // strings always encode
			panic(err)
		}
		cmd = exec.CommandContext(ctx, "/proc/self/exe")
		cmd.Args = append([]string{confineArg0, string(text)}, args...)
	} else {
		cmd = exec.CommandContext(ctx, path)
		cmd.Args = args
	}
	cmd.Dir, cmd.Env = dir, env
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if u.Protections.Network {
		isolate(cmd.SysProcAttr)
	}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = 500 * time.Millisecond
	return cmd
}

// isolate starts the process in new user, mount, network and IPC namespaces, as
// the same user, able to change its own mounts until Landlock forbids that.
func isolate(a *syscall.SysProcAttr) {
	uid, gid := os.Getuid(), os.Getgid()
	a.Cloneflags = syscall.CLONE_NEWUSER | syscall.CLONE_NEWNS | syscall.CLONE_NEWNET | syscall.CLONE_NEWIPC
	a.AmbientCaps = []uintptr{unix.CAP_SYS_ADMIN}
	a.UidMappings = []syscall.SysProcIDMap{{ContainerID: uid, HostID: uid, Size: 1}}
	a.GidMappings = []syscall.SysProcIDMap{{ContainerID: gid, HostID: gid, Size: 1}}
}

// Probe finds out, once, what this machine can confine.
var Probe = sync.OnceValue(func() Protections {
	var p Protections
	abi, _, errno := syscall.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, 1) // LANDLOCK_CREATE_RULESET_VERSION
	p.Files = errno == 0 && int(abi) >= 1 && mainCalled
	test := exec.Command("/proc/self/exe")
	test.Args = []string{confineArg0, `{"path":"/bin/true","dir":"/","mounts":true}`, "true"}
	if !mainCalled {
		test = exec.Command("/bin/true")
	}
	test.SysProcAttr = &syscall.SysProcAttr{}
	isolate(test.SysProcAttr)
	p.Network = test.Run() == nil
	switch {
	case !mainCalled:
		p.Missing = "the program did not call sandbox.Main, so utilities cannot be confined"
	case !p.Files:
		p.Missing = "this kernel has no Landlock, so utilities reach every file that this user can"
	case !p.Network:
		p.Missing = "user namespaces are not allowed here, so utilities reach the network"
	}
	return p
})
