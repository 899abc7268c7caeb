package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/tools-in-shell/tis/approvals"
	"github.com/tools-in-shell/tis/approvals/sqlstore"
	"github.com/tools-in-shell/tis/catalog"
	"github.com/tools-in-shell/tis/config"
	"github.com/tools-in-shell/tis/mcpsource"
	"github.com/tools-in-shell/tis/signin"
)

// loadConfig reads the config file, or the default one, or none.
func (p *program) loadConfig(path string) (*config.Config, error) {
	if path == "" {
		for _, name := range []string{"tis.json", ".mcp.json"} {
			if _, err := os.Stat(name); err == nil {
				path = name
				break
			}
		}
	}
	if path == "" {
		return &config.Config{}, nil
	}
	cfg, err := config.Load(path, p.getenv)
	if err != nil {
		return nil, usageError{err}
	}
	for _, w := range cfg.Warnings {
		fmt.Fprintf(p.stderr, "tis: warning: %s\n", w)
	}
	return cfg, nil
}

// tools is what the config's servers and local commands offer.
type tools struct {
	cfg  *config.Config
	pool *mcpsource.Pool
	top  []*catalog.Tool
	// private are folders that no script may reach, and protected files.
	private, protected []string
}

// openTools starts the servers and waits for them, with a spinner on a terminal.
func (p *program) openTools(ctx context.Context, path string) (*tools, error) {
	cfg, err := p.loadConfig(path)
	if err != nil {
		return nil, err
	}
	var servers []mcpsource.ServerConfig
	for _, s := range cfg.Servers {
		servers = append(servers, serverConfig(s))
	}
	t := &tools{cfg: cfg, pool: mcpsource.NewPool(servers, p.poolOptions()), private: p.private(), protected: p.protected(path, cfg.Store)}
	for _, l := range cfg.Tools {
		l.Tool.Executor = mcpsource.CommandExecutor(l.Command, p.localEnv())
		t.top = append(t.top, l.Tool)
	}
	stop := p.spin(fmt.Sprintf("starting %d servers", len(servers)))
	t.pool.Start(ctx)
	stop()
	return t, nil
}

// protected are the files that say what a script may do: the config, the names
// that a config is looked for under, and the approvals.
func (p *program) protected(path, dsn string) []string {
	list := []string{"tis.json", ".mcp.json"}
	if path != "" {
		list = append(list, path)
	}
	if store, err := p.storePath(dsn); err == nil {
		for _, suffix := range []string{"", "-wal", "-shm", "-journal"} {
			list = append(list, store+suffix)
		}
	}
	return list
}

// localEnv is what a local tool's program gets of the environment.
func (p *program) localEnv() []string {
	var env []string
	for _, name := range []string{"PATH", "HOME", "LANG", "TMPDIR", "USER"} {
		if v, ok := p.getenv(name); ok {
			env = append(env, name+"="+v)
		}
	}
	return env
}

// catalog is the catalog of the next run.
func (t *tools) catalog(context.Context) *catalog.Catalog {
	return catalog.New(t.pool.Sources(), t.top, catalog.Options{KeepVisible: t.cfg.KeepVisible})
}

func (t *tools) Close() error { return t.pool.Close() }

// spin shows that something is under way, on a terminal and only after a moment.
func (p *program) spin(what string) (stop func()) {
	if !onTerminal(p.stderr) {
		return func() {}
	}
	quit, gone := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(gone)
		for i := 0; ; i++ {
			select {
			case <-quit:
				if i > 3 {
					io.WriteString(p.stderr, "\r\033[K")
				}
				return
			case <-time.After(100 * time.Millisecond):
				if i >= 3 {
					fmt.Fprintf(p.stderr, "\r%c %s", `|/-\`[i%4], what)
				}
			}
		}
	}()
	return func() { close(quit); <-gone }
}

// openGate opens the store that the flag, the config or the default names.
func (p *program) openGate(ctx context.Context, cfg *config.Config, dsn string) (*approvals.Gate, io.Closer, error) {
	if dsn == "" {
		dsn = cfg.Store
	}
	path, err := p.storePath(dsn)
	if err != nil {
		return nil, nil, err
	}
	store, err := sqlstore.Open(ctx, "sqlite:"+path)
	if err != nil {
		return nil, nil, fmt.Errorf("approvals store: %w", err)
	}
	rules, err := approvals.CompileRules(cfg.Rules)
	if err != nil {
		return nil, nil, errors.Join(usageError{err}, store.Close())
	}
	return approvals.NewGate(store, approvals.Config{Mode: cfg.Approval.Mode, Timeout: cfg.Approval.Timeout, Rules: rules}), store, nil
}

// storePath is the file of a store, the default one for an empty DSN.
func (p *program) storePath(dsn string) (string, error) {
	if dsn == "" {
		dir, err := p.stateDir()
		if err != nil {
			return "", err
		}
		return filepath.Join(dir, "tis", "approvals.db"), nil
	}
	path, ok := strings.CutPrefix(dsn, "sqlite:")
	if !ok {
		return "", usagef("store %q: want sqlite:PATH", dsn)
	}
	return path, nil
}

// stateDir is where the default store lives.
func (p *program) stateDir() (string, error) {
	if dir, ok := p.getenv("XDG_STATE_HOME"); ok && dir != "" {
		return dir, nil
	}
	if home, ok := p.getenv("HOME"); ok && home != "" {
		return filepath.Join(home, ".local", "state"), nil
	}
	return "", usagef("no place for the approvals store: set HOME or XDG_STATE_HOME, or give --store sqlite:PATH")
}

// maxScript is the size of the largest script, in bytes.
const maxScript = 4 << 20

// readScript reads a script file, or stdin for - and for nothing.
func (p *program) readScript(name string) (text, shown string, err error) {
	in := p.stdin
	if shown = name; name == "" || name == "-" {
		shown = "stdin"
	} else {
		f, err := os.Open(name)
		if err != nil {
			return "", name, usagef("script %s: %w", name, reason(err))
		}
		defer f.Close()
		if fi, err := f.Stat(); err == nil && fi.IsDir() {
			return "", name, usagef("script %s: is a directory, want a shell script", name)
		}
		in = f
	}
	b, err := io.ReadAll(io.LimitReader(in, maxScript+1))
	switch {
	case err != nil:
		return "", shown, usagef("script %s: %w", shown, reason(err))
	case len(b) > maxScript:
		return "", shown, usagef("script %s: larger than 4 MiB", shown)
	case strings.ContainsRune(string(b), 0):
		return "", shown, usagef("script %s: is a binary file, want a shell script", shown)
	}
	return string(b), shown, nil
}

// reason is a file error without its operation and path.
func reason(err error) error {
	var pe *os.PathError
	if errors.As(err, &pe) {
		return pe.Err
	}
	return err
}

// serverConfig hands a server of the config to the pool.
func serverConfig(s config.Server) mcpsource.ServerConfig {
	return mcpsource.ServerConfig{
		Name: s.Name, Command: s.Command, Args: s.Args, Env: s.Env, Dir: s.Dir, URL: s.URL, Headers: s.Headers, Roots: s.Roots, OnDemand: s.OnDemand,
		OAuth:       signin.Client{ID: s.OAuth.ClientID, Secret: s.OAuth.ClientSecret, Scopes: s.OAuth.Scopes, CallbackPort: s.OAuth.CallbackPort},
		Description: s.Description, StartTimeout: s.StartTimeout, CallTimeout: s.CallTimeout, Err: s.Err,
	}
}
