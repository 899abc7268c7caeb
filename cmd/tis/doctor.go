package main

import (
	"context"
	"fmt"
	"runtime"
	"strings"

	"github.com/tools-in-shell/tis/config"
	"github.com/tools-in-shell/tis/runner/sandbox"
)

// doctorCommand is `tis doctor`.
type doctorCommand struct {
	configFlag
	storeFlags
}

func (c *doctorCommand) Run(ctx context.Context, p *program) error {
	sick := false
	line := func(ok bool, what, format string, args ...any) {
		mark := "ok  "
		if !ok {
			mark, sick = "FAIL", true
		}
		fmt.Fprintf(p.stdout, "%s  %-12s %s\n", mark, what, fmt.Sprintf(format, args...))
	}
	fmt.Fprintf(p.stdout, "tis %s, %s, %s/%s\n", version(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
	t, err := p.openTools(ctx, c.Config)
	if err != nil {
		line(false, "config", "%v", err)
		return exitError(exitUsage)
	}
	defer t.Close()
	line(true, "config", "%d servers, %d local tools", len(t.cfg.Servers), len(t.top))
	for _, s := range t.pool.Status() {
		if s.Err != nil {
			line(false, "server", "%s: %v", visible(s.Name), s.Err)
		} else {
			line(true, "server", "%s: %s, %d tools", visible(s.Name), s.State, s.Tools)
		}
		p.signInLine(t.cfg, s.Name, line)
		for l := range strings.SplitSeq(strings.TrimSpace(s.Stderr), "\n") {
			if l != "" {
				fmt.Fprintf(p.stdout, "      stderr: %s\n", clip(visible(l), 200))
			}
		}
	}
	for _, w := range t.catalog(ctx).Warnings() {
		fmt.Fprintf(p.stdout, "note  %-12s %s\n", "catalog", visible(w))
	}
	if _, store, err := p.openGate(ctx, t.cfg, c.Store); err != nil {
		line(false, "approvals", "%v", err)
	} else {
		line(store.Close() == nil, "approvals", "mode %s; the store opens", t.cfg.Approval.Mode)
	}
	confined := sandbox.Probe()
	line(confined.Files, "files", "%s", word(confined.Files, "utilities reach only the run's folders (Landlock)", confined.Missing))
	line(confined.Network, "network", "%s", word(confined.Network, "utilities have no network (namespace) and a read-only system", confined.Missing))
	fmt.Fprintf(p.stdout, "note  %-12s the interpreter itself runs in this process; its files are confined by os.Root, its memory is watched\n", "shell")
	if sick {
		return exitError(exitFault)
	}
	return nil
}

func word(ok bool, yes, no string) string {
	if ok {
		return yes
	}
	return no
}

// signInLine tells how it stands with a server's sign-in, when it has one or
// wants one.
func (p *program) signInLine(cfg *config.Config, name string, line func(ok bool, what, format string, args ...any)) {
	s, err := findServer(cfg, name)
	store, noStore := p.signIns()
	if err != nil || noStore != nil || s.URL == "" {
		return
	}
	state, err := store.State(serverConfig(s).SignIn())
	switch {
	case err != nil:
		line(false, "sign-in", "%s: %v", visible(name), err)
	case state.In:
		until := "the end of its token is not known"
		if !state.Expires.IsZero() {
			until = "the token is good until " + state.Expires.Local().Format("2006-01-02 15:04")
		}
		if state.Renewable {
			until += " and refreshes itself"
		}
		line(true, "sign-in", "%s: signed in at %s; %s", visible(name), visible(state.Issuer), until)
	case state.Ended != "":
		line(false, "sign-in", "%s: the sign-in is over (%s); run: tis login %s", visible(name), visible(state.Ended), visible(name))
	}
}
