package main

import (
	"context"
	"io"
	"os"

	"github.com/alecthomas/kong"

	"github.com/tools-in-shell/tis/intercept"
	"github.com/tools-in-shell/tis/report"
	"github.com/tools-in-shell/tis/runner"
)

// toolsCommand is `tis tools`. Its words after our own flags belong to the
// tools command and are not read as flags of ours.
type toolsCommand struct {
	Words []string `arg:"" optional:"" placeholder:"[-c FILE] [--session NAME] [--store DSN] ARGS" help:"What follows tools in a script."`
}

// flags takes our flags off the front.
func (c *toolsCommand) flags() (config string, store storeFlags, words []string, err error) {
	words, store.Session = c.Words, "default"
	for len(words) > 0 {
		var into *string
		switch words[0] {
		case "-c", "--config":
			into = &config
		case "--session":
			into = &store.Session
		case "--store":
			into = &store.Store
		default:
			return config, store, words, nil
		}
		if len(words) < 2 {
			return "", store, nil, usagef("%s: a value is missing", words[0])
		}
		*into, words = words[1], words[2:]
	}
	return config, store, words, nil
}

func (c *toolsCommand) Run(ctx context.Context, p *program, _ *kong.Context) error {
	path, store, words, err := c.flags()
	if err != nil {
		return err
	}
	t, err := p.openTools(ctx, path)
	if err != nil {
		return err
	}
	defer t.Close()
	gate, closer, err := p.openGate(ctx, t.cfg, store.Store)
	if err != nil {
		return err
	}
	defer closer.Close()
	dir, err := os.OpenRoot(".")
	if err != nil {
		return err
	}
	defer dir.Close()
	rep := report.New(report.Limits{})
	i := intercept.New(intercept.Config{Catalog: t.catalog(ctx), Gate: gate, Session: store.Session, RunID: "command line", Report: rep, MaxResult: t.cfg.Limits.ResultBytes})
	io := intercept.Stdio{Inherited: p.stdin, Stdout: p.stdout, Stderr: p.stderr, Dir: runner.Folder{Root: dir}}
	if piped(p.stdin) {
		io.Attached = p.stdin
	}
	exit := i.Command(ctx, words, io)
	if result := rep.Result(report.Output{}, report.Output{}, exit); len(result.ApprovalRequests) > 0 {
		printReport(p.stderr, result)
	}
	if exit != 0 {
		return exitError(exit)
	}
	return nil
}

// piped reports whether stdin is a pipe or a file, and so was given to this
// very command.
func piped(stdin io.Reader) bool {
	f, ok := stdin.(*os.File)
	if !ok {
		return stdin != nil
	}
	fi, err := f.Stat()
	return err == nil && (fi.Mode()&os.ModeNamedPipe != 0 || fi.Mode().IsRegular())
}
