// Command tracker is a small issue tracker as an MCP server over stdio: issues,
// comments and branches in a SQLite file. It is an example of a server with
// honest annotations, and what the README's first command talks to.
//
// usage: tracker [DATABASE]
//
// Without an argument the database is what TRACKER_DB names, and without that
// a fresh file in the temp folder, which is removed at the end. An empty
// database is filled with a project's worth of sample data.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:], os.Getenv("TRACKER_DB"))
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "tracker:", err)
		os.Exit(1)
	}
}

// run serves on stdin and stdout until the client hangs up or ctx is done.
func run(ctx context.Context, args []string, path string) (err error) {
	switch {
	case len(args) > 1:
		return errors.New("usage: tracker [DATABASE]")
	case len(args) == 1:
		path = args[0]
	case path == "":
		f, err := os.CreateTemp("", "tracker-*.db")
		if err != nil {
			return err
		}
		path = f.Name()
		defer os.Remove(path)
		if err := f.Close(); err != nil {
			return err
		}
	}
	s, err := openStore(ctx, path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.db.Close()) }()
	if err := newServer(s).Run(ctx, &mcp.StdioTransport{}); ctx.Err() == nil {
		return err
	}
	return nil
}
