//lint:file-ignore SA1019 Roots and log messages end with a later protocol version; the clients of today have them.

package serve

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"slices"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/tools-in-shell/tis/capability"
	"github.com/tools-in-shell/tis/catalog"
)

// session is one client: an MCP server of its own over what all clients share.
type session struct {
	server *Server
	mcp    *mcp.Server
	name   string // under which its approvals count
	log    *slog.Logger
	turn   chan struct{} // taken by the script that runs

	life context.Context // ends when the client hangs up
	end  context.CancelFunc

	once sync.Once
	peer *mcp.ServerSession // set once, by greet

	folder folder

	listing sync.Mutex        // one at a time changes what the client is told
	told    map[string]string // the tools that the client is told of, as they are

	mu     sync.Mutex
	loaded map[string]bool // on-demand servers
	asked  map[string]bool // requests that an answer may come back for
	lost   []earlier       // reports that the client did not get
}

// newSession makes the session of a client that is about to begin. It costs
// nothing to let it go before greet.
func (s *Server) newSession(ctx context.Context, name string) *session {
	c := &session{server: s, name: name, turn: make(chan struct{}, 1), log: s.o.Logger.With("session", name),
		told: map[string]string{}, loaded: map[string]bool{}, asked: map[string]bool{}}
	c.life, c.end = context.WithCancel(s.life)
	cat := c.catalog(ctx)
	c.mcp = mcp.NewServer(&mcp.Implementation{Name: "tis", Title: "Tools in Shell", Version: s.o.Version}, &mcp.ServerOptions{
		Instructions:            capability.Prompt,
		GetSessionID:            func() string { return newName("tis") },
		RootsListChangedHandler: func(context.Context, *mcp.RootsListChangedRequest) { c.folder.moved() },
		Capabilities:            &mcp.ServerCapabilities{Logging: &mcp.LoggingCapabilities{}, Tools: &mcp.ToolCapabilities{ListChanged: true}},
	})
	c.mcp.AddReceivingMiddleware(c.receive)
	c.list(ctx, cat)
	return c
}

// receive sees every message of the client. The first one begins the session.
// What fails inside ends its call, and neither the session nor the program.
func (c *session) receive(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (res mcp.Result, err error) {
		defer func() {
			if p := recover(); p != nil {
				c.log.Error("failed inside", "method", method, "panic", p, "stack", string(debug.Stack()))
				res, err = nil, fmt.Errorf("tis failed inside: %v", p)
			}
		}()
		ss, ok := req.GetSession().(*mcp.ServerSession)
		if !ok || !c.greet(ss) {
			return nil, errEnding
		}
		return next(ctx, method, req)
	}
}

var errEnding = errors.New("tis is ending")

// greet begins the session; it is false when the server is closing.
func (c *session) greet(ss *mcp.ServerSession) bool {
	c.once.Do(func() {
		c.peer = ss
		if !c.server.add(c) {
			c.end()
		}
	})
	return c.life.Err() == nil
}

// stay waits for the end of the session and clears up after it.
func (c *session) stay() {
	c.log.Info("session begins")
	c.peer.Wait()
	c.end()
	c.turn <- struct{}{} // the last script has ended
	if err := c.folder.remove(); err != nil {
		c.log.Warn("the working directory could not be removed", "error", err)
	}
	c.server.remove(c)
	c.log.Info("session ends")
}

// hangUp ends the session with what runs in it.
func (c *session) hangUp() {
	c.end()
	if c.peer != nil {
		c.peer.Close()
	}
}

// during is a context that ends with the request and with the session.
func (c *session) during(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	forget := context.AfterFunc(c.life, func() { cancel(errEnding) })
	return ctx, func() { forget(); cancel(nil) }
}

// catalog is the session's tools now.
func (c *session) catalog(ctx context.Context) *catalog.Catalog {
	return c.catalogOf(c.server.o.Tools(ctx))
}

// catalogOf is the session's view of the tools: a server that loads on demand is
// loaded for the sessions that have asked for it.
func (c *session) catalogOf(now Tools) *catalog.Catalog {
	sources := slices.Clone(now.Sources)
	for i, src := range sources {
		if !slices.Contains(now.OnDemand, src.Name) || c.has(src.Name) {
			continue
		}
		load := src.Load
		if src.Loaded {
			load = func(context.Context) ([]*catalog.Tool, error) { return src.Tools, nil }
			sources[i].Loaded, sources[i].Tools = false, nil
		}
		if load == nil {
			continue
		}
		sources[i].Load = func(ctx context.Context) ([]*catalog.Tool, error) {
			tools, err := load(ctx)
			if err == nil {
				c.keep(src.Name)
			}
			return tools, err
		}
	}
	return catalog.New(sources, now.Top, catalog.Options{KeepVisible: now.KeepVisible})
}

func (c *session) has(server string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.loaded[server]
}

func (c *session) keep(server string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.loaded[server] = true
}
