package main

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/tools-in-shell/tis/catalog"
	"github.com/tools-in-shell/tis/config"
	"github.com/tools-in-shell/tis/mcpsource"
	"github.com/tools-in-shell/tis/signin"
)

// loginCommand is `tis login`.
type loginCommand struct {
	configFlag
	NoBrowser bool          `help:"Only print the address; open no browser."`
	Timeout   time.Duration `placeholder:"DUR" default:"5m" help:"How long to wait for the person, as 90s or 5m."`
	Server    string        `arg:"" help:"Server of the config, one with a url."`
}

func (c *loginCommand) Run(ctx context.Context, p *program) error {
	if c.Timeout <= 0 {
		return usagef("--timeout %v: want a positive duration", c.Timeout)
	}
	store, cfg, err := p.signInOf(c.Config, c.Server)
	if err != nil {
		return err
	}
	waiting, cancel := context.WithTimeout(ctx, c.Timeout)
	defer cancel()
	state, err := store.Login(waiting, cfg.SignIn(), func(address string) {
		fmt.Fprintf(p.stderr, "Sign in to %s in a browser, at\n", cfg.Name)
		fmt.Fprintln(p.stdout, address)
		if c.NoBrowser || !onTerminal(p.stderr) {
			return
		}
		if err := openBrowser(address); err != nil {
			fmt.Fprintf(p.stderr, "tis: no browser could be opened (%v); open the address yourself\n", err)
		}
	})
	if err != nil {
		return fmt.Errorf("signing in to %s: %w", cfg.Name, err)
	}
	fmt.Fprintf(p.stderr, "signed in to %s at %s\n", cfg.Name, visible(state.Issuer))
	return p.tryServer(ctx, cfg, store)
}

// tryServer shows that the server takes the token.
func (p *program) tryServer(ctx context.Context, cfg mcpsource.ServerConfig, store *signin.Store) error {
	pool := mcpsource.NewPool([]mcpsource.ServerConfig{cfg}, mcpsource.Options{Version: version(), SignIns: store})
	defer pool.Close()
	tools, err := pool.Raw(ctx, cfg.Name)
	if err != nil {
		return fmt.Errorf("signed in, but %w", err)
	}
	fmt.Fprintf(p.stderr, "%s has %d tools\n", cfg.Name, len(tools))
	return nil
}

// logoutCommand is `tis logout`.
type logoutCommand struct {
	configFlag
	Server string `arg:"" help:"Server of the config."`
}

func (c *logoutCommand) Run(ctx context.Context, p *program) error {
	store, cfg, err := p.signInOf(c.Config, c.Server)
	if err != nil {
		return err
	}
	found, err := store.Logout(ctx, cfg.SignIn())
	switch {
	case err != nil && found:
		fmt.Fprintf(p.stderr, "signed out of %s here, but %v\n", cfg.Name, err)
	case err != nil:
		return fmt.Errorf("signing out of %s: %w", cfg.Name, err)
	case found:
		fmt.Fprintf(p.stderr, "signed out of %s\n", cfg.Name)
	default:
		fmt.Fprintf(p.stderr, "not signed in to %s\n", cfg.Name)
	}
	return nil
}

// signInOf finds a server of the config, one that can be signed in to.
func (p *program) signInOf(path, name string) (*signin.Store, mcpsource.ServerConfig, error) {
	var none mcpsource.ServerConfig
	cfg, err := p.loadConfig(path)
	if err != nil {
		return nil, none, err
	}
	s, err := findServer(cfg, name)
	if err != nil {
		return nil, none, err
	}
	server := serverConfig(s)
	switch {
	case s.Err != "":
		return nil, none, usagef("server %s: %s", s.Name, s.Err)
	case s.URL == "":
		return nil, none, usagef("server %s is a program of this machine, which needs no sign-in", s.Name)
	case server.Authorized():
		return nil, none, usagef("server %s has an Authorization header in the config, which is used instead of a sign-in; remove it to sign in", s.Name)
	}
	store, err := p.signIns()
	return store, server, err
}

// findServer finds a server however it is spelled.
func findServer(cfg *config.Config, name string) (config.Server, error) {
	var remote []string
	for _, s := range cfg.Servers {
		if s.Name == name || strings.EqualFold(catalog.Shown(s.Name), catalog.Shown(name)) {
			return s, nil
		}
		if s.URL != "" {
			remote = append(remote, s.Name)
		}
	}
	if len(remote) == 0 {
		return config.Server{}, usagef("the config has no server %q, and none with a url", name)
	}
	return config.Server{}, usagef("the config has no server %q; those with a url are %s", name, strings.Join(remote, ", "))
}

// signIns is where the sign-ins are kept.
func (p *program) signIns() (*signin.Store, error) {
	dir, err := p.stateDir()
	if err != nil {
		return nil, errors.New("no place for the sign-ins: set HOME or XDG_STATE_HOME")
	}
	return signin.NewStore(signInFolder(dir)), nil
}

func signInFolder(state string) string { return filepath.Join(state, "tis", "signins") }

// private are the folders that hold secrets and that no script may reach.
func (p *program) private() []string {
	state, err := p.stateDir()
	if err != nil {
		return nil
	}
	return []string{signInFolder(state), filepath.Join(state, "tis", "init")}
}

// poolOptions are the options of every pool of servers.
func (p *program) poolOptions() mcpsource.Options {
	store, err := p.signIns()
	if err != nil { // then nobody has signed in to anything
		return mcpsource.Options{Version: version()}
	}
	return mcpsource.Options{Version: version(), SignIns: store}
}

// openBrowser opens a page in the person's browser.
func openBrowser(address string) error {
	words := []string{"xdg-open"}
	switch runtime.GOOS {
	case "darwin":
		words = []string{"open"}
	case "windows":
		words = []string{"rundll32", "url.dll,FileProtocolHandler"}
	}
	cmd := exec.Command(words[0], append(words[1:], address)...)
	if err := cmd.Start(); err != nil {
		return err
	}
	go cmd.Wait() // it may stay as long as the browser does
	return nil
}
