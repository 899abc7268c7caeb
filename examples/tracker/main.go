// Command tracker is a small issue tracker as an MCP server: issues, comments
// and branches in a SQLite file. It is an example of a server with honest
// annotations, and what the README's first command talks to.
//
// usage: tracker [DATABASE]; without one, a fresh database in the temp folder.
package main

import (
	"context"
	"log"
	"os"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

func main() {
	path, temporary := "", false
	if len(os.Args) > 1 {
		path = os.Args[1]
	} else {
		f, err := os.CreateTemp("", "tracker-*.db")
		if err != nil {
			log.Fatal(err)
		}
		path, temporary = f.Name(), true
		f.Close()
	}
	err := serve(path)
	if temporary {
		os.Remove(path)
	}
	if err != nil {
		log.Fatal(err)
	}
}

func serve(path string) error {
	s, err := openStore(path)
	if err != nil {
		return err
	}
	defer s.db.Close()
	return newServer(s).Run(context.Background(), &mcp.StdioTransport{})
}
