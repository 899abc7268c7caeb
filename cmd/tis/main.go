// Command tis runs shell scripts in which every tool of the configured MCP
// servers is a command.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/tools-in-shell/tis/runner/sandbox"
)

func main() {
	sandbox.Main()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	p := program{stdin: os.Stdin, stdout: os.Stdout, stderr: os.Stderr, getenv: os.LookupEnv}
	exit := p.main(ctx, os.Args[1:])
	stop()
	os.Exit(exit)
}
