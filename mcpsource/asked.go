package mcpsource

import (
	"context"
	"net/url"
	"path/filepath"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// refused are the requests of servers that are not answered, and why. A person
// or a model that could answer is not there while a script runs.
var refused = map[string]string{
	"sampling/createMessage": "tis does not support sampling: there is no model to ask while a script runs",
	"elicitation/create":     "tis does not support elicitation: nobody is asked on behalf of a server while a script runs",
	"roots/list":             "tis does not support roots for this server: its config names none",
}

// capabilities are what servers may ask of us: roots, if the config has some.
func capabilities(cfg ServerConfig) *mcp.ClientCapabilities {
	c := &mcp.ClientCapabilities{}
	if cfg.Roots != nil {
		c.RootsV2 = &mcp.RootCapabilities{} //lint:ignore SA1019 servers of older versions ask for them
	}
	return c
}

// answerServers answers or refuses what a server asks. What it only tells, such
// as progress and log messages, is passed over.
func answerServers(client *mcp.Client, cfg ServerConfig) {
	for _, dir := range cfg.Roots {
		client.AddRoots(&mcp.Root{URI: fileURL(dir), Name: filepath.Base(dir)}) //lint:ignore SA1019 servers of older versions ask for them
	}
	client.AddReceivingMiddleware(func(next mcp.MethodHandler) mcp.MethodHandler {
		return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
			if why, ok := refused[method]; ok && (method != "roots/list" || cfg.Roots == nil) {
				return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidRequest, Message: why}
			}
			return next(ctx, method, req)
		}
	})
}

// fileURL is a folder as a URL.
func fileURL(dir string) string {
	path := filepath.ToSlash(dir)
	if len(path) > 0 && path[0] != '/' { // C:/...
		path = "/" + path
	}
	return (&url.URL{Scheme: "file", Path: path}).String()
}
