package mcpsource

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"
)

// process is a running program and what it started, in a process group of
// their own.
type process struct {
	cmd    *exec.Cmd
	stdin  io.WriteCloser
	stdout io.ReadCloser
	exited chan struct{} // closed when the program has gone and its stderr is read
	err    error         // of its exit; set before exited is closed

	mu   sync.Mutex
	gone bool // its id may be somebody else's
}

// How long a program has to end after its stdin was closed, and after SIGTERM.
const (
	politeTime = time.Second
	termTime   = time.Second
)

// startProcess starts a server's program.
func startProcess(cfg ServerConfig, getenv func(string) (string, bool), stderr io.Writer) (*process, error) {
	path, err := lookPath(cfg)
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(path, cfg.Args...)
	cmd.Args[0] = cfg.Command
	cmd.Dir, cmd.Env, cmd.Stderr = cfg.Dir, environment(cfg.Env, getenv), stderr
	ownGroup(cmd)
	cmd.WaitDelay = time.Second
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	// Not StdoutPipe: its reader would be closed by Wait, before the last lines are read.
	stdout, theirs, err := os.Pipe()
	if err != nil {
		return nil, errors.Join(err, stdin.Close())
	}
	cmd.Stdout = theirs
	err = cmd.Start()
	theirs.Close()
	if err != nil {
		stdin.Close()
		stdout.Close()
		return nil, startFault(cfg, err)
	}
	p := &process{cmd: cmd, stdin: stdin, stdout: stdout, exited: make(chan struct{})}
	go p.watch()
	return p, nil
}

// startFault says why a program did not start.
func startFault(cfg ServerConfig, err error) error {
	if cfg.Dir != "" {
		if fi, bad := os.Stat(cfg.Dir); bad != nil || !fi.IsDir() {
			return fmt.Errorf("its folder %s does not exist", cfg.Dir)
		}
	}
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("its command %q was not found", cfg.Command)
	}
	var pe *fs.PathError
	if errors.As(err, &pe) {
		err = pe.Err
	}
	return fmt.Errorf("its command %q: %w", cfg.Command, err)
}

// watch waits for the program's end. Nothing that it started outlives it.
func (p *process) watch() {
	if sawExit(p.cmd.Process.Pid) {
		p.leave()
		p.err = p.cmd.Wait()
	} else {
		p.err = p.cmd.Wait()
		p.leave()
	}
	close(p.exited)
}

func (p *process) leave() {
	p.mu.Lock()
	defer p.mu.Unlock()
	killGroup(p.cmd)
	p.gone = true
}

// signal sends to the group, unless it has gone.
func (p *process) signal(send func(*exec.Cmd)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.gone {
		send(p.cmd)
	}
}

// end ends the program, whose stdin is closed already: it gets a while to go by
// itself, then another to heed SIGTERM. It returns when it has gone.
func (p *process) end() {
	if p.exitsIn(politeTime) {
		return
	}
	p.signal(endGroup)
	if p.exitsIn(termTime) {
		return
	}
	p.signal(killGroup)
	<-p.exited
}

func (p *process) exitsIn(d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-p.exited:
		return true
	case <-t.C:
		return false
	}
}

// fate says how the program ended, "" while it runs.
func (p *process) fate() string {
	select {
	case <-p.exited:
	default:
		return ""
	}
	var exit *exec.ExitError
	switch {
	case errors.As(p.err, &exit) && exit.ExitCode() >= 0:
		return fmt.Sprintf("it exited with status %d", exit.ExitCode())
	case errors.As(p.err, &exit):
		return "it was ended by a " + exit.String()
	}
	return "it exited with status 0"
}

// inherited are the variables of our environment that programs get.
var inherited = []string{
	"PATH", "HOME", "LANG", "LC_ALL", "TMPDIR", "TEMP", "USER", "LOGNAME", "SHELL", "TERM",
	"XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "GOCACHE", "GOMODCACHE", "GOPATH", "GOPROXY", "GOFLAGS", "GOSUMDB",
	"SYSTEMROOT", "APPDATA", "LOCALAPPDATA", "USERPROFILE", "PATHEXT",
}

// environment is what a server's program gets: a few variables of ours, and
// the config's over them.
func environment(extra map[string]string, getenv func(string) (string, bool)) []string {
	var env []string
	for _, name := range inherited {
		if _, ok := extra[name]; ok {
			continue
		}
		if v, ok := getenv(name); ok {
			env = append(env, name+"="+v)
		}
	}
	for k, v := range extra {
		env = append(env, k+"="+v)
	}
	slices.Sort(env)
	return env
}

// lookPath finds a server's command, on the PATH of its own environment when
// the config sets one.
func lookPath(cfg ServerConfig) (string, error) {
	missing := fmt.Errorf("its command %q was not found", cfg.Command)
	if strings.ContainsAny(cfg.Command, `/\`) {
		return cfg.Command, nil
	}
	path, ok := cfg.Env["PATH"]
	if !ok || runtime.GOOS == "windows" {
		found, err := exec.LookPath(cfg.Command)
		if errors.Is(err, exec.ErrNotFound) {
			return "", missing
		}
		return found, err
	}
	for _, dir := range filepath.SplitList(path) {
		if !filepath.IsAbs(dir) {
			continue
		}
		file := filepath.Join(dir, cfg.Command)
		if fi, err := os.Stat(file); err == nil && fi.Mode().IsRegular() && fi.Mode()&0o111 != 0 {
			return file, nil
		}
	}
	return "", missing
}
