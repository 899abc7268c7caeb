package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tools-in-shell/tis/config"
	"github.com/tools-in-shell/tis/hosts"
)

// initCommand is `tis init`.
type initCommand struct {
	Config  string   `short:"c" name:"config" placeholder:"FILE" help:"Config that gets the servers; default tis/tis.json in the configuration folder, with --project tis.json."`
	Yes     bool     `help:"Make the changes. Without it they are shown, and asked about on a terminal."`
	Undo    bool     `help:"Take the last changes back."`
	Project bool     `help:"Move the servers of this folder's project instead of the person's."`
	Host    []string `placeholder:"NAME" help:"Only this host; may be given again. One of claude-code, claude-desktop, cursor, vscode, codex, gemini."`
	Command string   `placeholder:"PROGRAM" help:"What hosts start as tis; default this program, with --project tis."`
}

func (c *initCommand) Run(p *program) error {
	state, err := p.stateDir()
	if err != nil {
		return usagef("no place for the backup: set HOME or XDG_STATE_HOME")
	}
	backups := filepath.Join(state, "tis", "init") // see private
	if c.Undo {
		return c.undo(p, backups)
	}
	o, err := c.options(p)
	if err != nil {
		return err
	}
	plan, err := hosts.Prepare(o)
	if err != nil {
		return err
	}
	showPlan(p.stdout, plan, c.Project)
	broken := slices.ContainsFunc(plan.Hosts, func(h hosts.Change) bool { return h.Err != nil })
	switch {
	case plan.Moves() == 0:
	case c.Yes, c.asked(p):
		if err := plan.Apply(backups, func(path string) error { return p.readable(path, o.Config) }); err != nil {
			return err
		}
		fmt.Fprintf(p.stdout, "done; restart the hosts. To take it back: tis init --undo\n")
	default:
		fmt.Fprintf(p.stdout, "nothing was changed; to do it: tis init --yes\n")
	}
	if broken {
		return exitError(exitFault)
	}
	return nil
}

func (c *initCommand) options(p *program) (hosts.Options, error) {
	o := hosts.Options{Machine: hosts.Machine{Getenv: p.getenv}, Hosts: c.Host, Config: c.Config, Command: c.Command}
	for _, name := range c.Host {
		if !slices.ContainsFunc(hosts.All, func(h hosts.Host) bool { return h.Name == name }) {
			return o, usagef("--host %s: want claude-code, claude-desktop, cursor, vscode, codex or gemini", name)
		}
	}
	if c.Project {
		dir, err := os.Getwd()
		if err != nil {
			return o, err
		}
		o.Machine.Project = dir
	} else if o.Machine.Home() == "" {
		return o, usagef("the home folder is not known: set HOME")
	}
	switch {
	case o.Config != "":
	case c.Project:
		o.Config = "tis.json"
	default:
		dir, ok := p.getenv("XDG_CONFIG_HOME")
		if !ok || dir == "" {
			dir = filepath.Join(o.Machine.Home(), ".config")
		}
		o.Config = filepath.Join(dir, "tis", "tis.json")
	}
	var err error
	if o.Config, err = filepath.Abs(o.Config); err != nil {
		return o, err
	}
	switch {
	case o.Command != "":
	case c.Project:
		o.Command = "tis" // others use the project's files, too
	default:
		if o.Command, err = os.Executable(); err != nil {
			return o, err
		}
		if strings.Contains(o.Command, "go-build") {
			return o, usagef("this program is a temporary one, built by go run; install tis first, or say what hosts should start: --command PROGRAM")
		}
	}
	return o, nil
}

// readable checks that tis can read the config that is about to be written.
func (p *program) readable(path, as string) error {
	if _, err := config.Load(path, p.getenv); err != nil {
		return errors.New(strings.ReplaceAll(err.Error(), path, as))
	}
	return nil
}

// asked asks the person at the terminal.
func (c *initCommand) asked(p *program) bool {
	if !onTerminal(p.stdin) || !onTerminal(p.stdout) {
		return false
	}
	fmt.Fprint(p.stdout, "Make these changes? y/N: ")
	line, err := bufio.NewReader(p.stdin).ReadString('\n')
	return err == nil && slices.Contains([]string{"y", "yes"}, strings.ToLower(strings.TrimSpace(line)))
}

// showPlan tells what would change. Values of the entries are no part of a plan.
func showPlan(w io.Writer, plan *hosts.Plan, project bool) {
	if len(plan.Hosts) == 0 {
		what := "host configuration was found on this machine"
		if project {
			what = "host configuration was found in this folder"
		}
		fmt.Fprintf(w, "no %s\n", what)
		return
	}
	for _, h := range plan.Hosts {
		fmt.Fprintf(w, "%s  %s\n", h.Host, visible(h.Path))
		if h.Err != nil {
			fmt.Fprintf(w, "  left alone: %s\n", visible(h.Err.Error()))
			continue
		}
		for _, m := range h.Moved {
			as := ""
			if m.From != m.To {
				as = " as " + visible(m.To)
			}
			fmt.Fprintf(w, "  moves  %s%s\n", visible(m.From), as)
		}
		for _, s := range h.Stay {
			fmt.Fprintf(w, "  stays  %s: %s\n", visible(s.Name), visible(s.Why))
		}
		if h.Note != "" {
			fmt.Fprintf(w, "  note   %s\n", visible(h.Note))
		}
		if len(h.Moved) > 0 {
			fmt.Fprintf(w, "  gets   tis\n")
		} else if len(h.Stay) == 0 && h.Note == "" {
			fmt.Fprintf(w, "  has no servers\n")
		}
	}
	if len(plan.Added) > 0 {
		verb := "adds to"
		if plan.Created {
			verb = "writes"
		}
		fmt.Fprintf(w, "%s %s: %s (for you alone to read)\n", verb, visible(plan.Config), visible(strings.Join(plan.Added, ", ")))
		if n := slices.DeleteFunc(slices.Clone(plan.Hosts), func(h hosts.Change) bool { return len(h.Moved) == 0 }); len(n) > 1 {
			fmt.Fprintf(w, "each of these hosts then reaches every server of that file; to keep them apart, run tis init once for each with --host and -c\n")
		}
	}
}

func (c *initCommand) undo(p *program, backups string) error {
	done, err := hosts.Undo(backups)
	switch {
	case errors.Is(err, hosts.ErrNothing):
		fmt.Fprintln(p.stdout, "nothing to undo")
		return nil
	case err != nil:
		return err
	}
	for _, f := range done {
		fmt.Fprintf(p.stdout, "%s: %s\n", visible(f.Path), f.What)
	}
	return nil
}
