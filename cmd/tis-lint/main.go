// Command tis-lint checks scripts that call tools, without running anything.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/tools-in-shell/tis/runner/sandbox"
)

func main() {
	sandbox.Main() // the corpus runs its scripts with confined utilities
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	p := program{stdin: os.Stdin, stdout: os.Stdout, stderr: os.Stderr, getenv: os.LookupEnv}
	exit := p.main(ctx, os.Args[1:])
	stop()
	os.Exit(exit)
}
