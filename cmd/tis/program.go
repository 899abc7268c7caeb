package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/alecthomas/kong"
	"github.com/mattn/go-isatty"
)

// Exit codes of the program itself. `tis run` exits with the script's code.
const (
	exitOK    = 0
	exitFault = 1 // a fault of the host's: a store, a folder
	exitUsage = 2 // the command line, the config or an input file is wrong
)

// program is one invocation: its streams and environment are arguments, so
// that the whole of it runs in a test.
type program struct {
	stdin          io.Reader
	stdout, stderr io.Writer
	getenv         func(string) (string, bool)
}

// commands is the command line.
type commands struct {
	Run        runCommand        `cmd:"" help:"Run a script with the configured tools."`
	Plan       planCommand       `cmd:"" help:"Print what a script would call, as JSON. Nothing runs."`
	Tools      toolsCommand      `cmd:"" help:"One tools command line outside any script: help, search, a call." passthrough:""`
	Login      loginCommand      `cmd:"" help:"Sign in to a remote server, in a browser."`
	Logout     logoutCommand     `cmd:"" help:"Forget the sign-in to a remote server."`
	Init       initCommand       `cmd:"" help:"Move the servers of other MCP hosts behind tis, and back."`
	Approvals  approvalsCommand  `cmd:"" help:"List and answer approval requests."`
	Serve      serveCommand      `cmd:"" help:"Serve the configured tools to an MCP host as one bash tool."`
	Weigh      weighCommand      `cmd:"" help:"Weigh the tool definitions that a host sends: directly, and behind tis serve."`
	Snapshot   snapshotCommand   `cmd:"" help:"Print every server's tools as a catalog file."`
	Doctor     doctorCommand     `cmd:"" help:"Check what works here: servers, store, confinement, limits."`
	Completion completionCommand `cmd:"" help:"Print a completion script for a shell."`
	Version    versionCommand    `cmd:"" help:"Print the version."`
}

// configFlag is shared by the commands that read a config file.
type configFlag struct {
	Config string `short:"c" name:"config" placeholder:"FILE" help:"Config file; default tis.json, then .mcp.json."`
}

// storeFlags say whose approvals count and where they are kept.
type storeFlags struct {
	Session string `placeholder:"NAME" default:"default" help:"Session whose answers count."`
	Store   string `placeholder:"DSN" help:"Approvals store, sqlite:PATH."`
}

// usageError is a fault in what the user gave: exit code 2.
type usageError struct{ error }

func usagef(format string, args ...any) error { return usageError{fmt.Errorf(format, args...)} }

// exitError ends the program with a code and no message.
type exitError int

func (e exitError) Error() string { return fmt.Sprintf("exit code %d", int(e)) }

// main runs the command line and returns the exit code.
func (p *program) main(ctx context.Context, args []string) int {
	var cmds commands
	exited := -1
	parser, err := kong.New(&cmds, kong.Name("tis"),
		kong.Description("Tools in Shell: one script, every tool a command, approvals before and while it runs."),
		kong.Writers(p.stdout, p.stderr), kong.Exit(func(code int) { exited = code }),
		kong.BindTo(ctx, (*context.Context)(nil)), kong.Bind(p),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true}),
	)
	if err != nil { // the struct tags are wrong
		panic(err)
	}
	if len(args) == 0 {
		args = []string{"--help"}
	}
	kctx, err := parser.Parse(args)
	switch {
	case exited >= 0: // --help
		return exited
	case err != nil:
		fmt.Fprintf(p.stderr, "tis: %v; see tis --help\n", err)
		return exitUsage
	}
	return p.exit(kctx.Run())
}

// exit prints an error in one line and names its exit code.
func (p *program) exit(err error) int {
	var code exitError
	var usage usageError
	switch {
	case err == nil:
		return exitOK
	case errors.As(err, &code):
		return int(code)
	case errors.As(err, &usage):
		fmt.Fprintf(p.stderr, "tis: %v\n", err)
		return exitUsage
	default:
		fmt.Fprintf(p.stderr, "tis: %v\n", err)
		return exitFault
	}
}

// onTerminal reports whether a stream is a terminal.
func onTerminal(stream any) bool {
	f, ok := stream.(*os.File)
	return ok && isatty.IsTerminal(f.Fd())
}
