//lint:file-ignore SA1019 Roots and log messages end with a later protocol version; the clients of today have them.

package serve

import (
	"context"
	"fmt"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/tools-in-shell/tis/catalog"
)

// progress tells the client how far a script is: how many calls it has begun,
// and the current one. A client that is slow to read slows no script; it misses
// calls in between.
type progress struct {
	tell chan string
	gone chan struct{}
	stop context.CancelFunc
}

// progress begins to tell, when the client asked for it.
func (c *session) progress(ctx context.Context, req *mcp.CallToolRequest) *progress {
	token := req.Params.GetProgressToken()
	if token == nil {
		return nil
	}
	ctx, cancel := context.WithCancel(ctx)
	p := &progress{tell: make(chan string, 64), gone: make(chan struct{}), stop: cancel}
	go func() {
		defer close(p.gone)
		n := 0
		for command := range p.tell {
			n++
			params := &mcp.ProgressNotificationParams{ProgressToken: token, Progress: float64(n), Message: fmt.Sprintf("call %d: %s", n, command)}
			if ctx.Err() != nil || req.Session.NotifyProgress(ctx, params) != nil {
				continue // the calls go on
			}
		}
	}()
	return p
}

// before is a hook that refuses nothing.
func (p *progress) before(_ context.Context, call catalog.Call) (catalog.Call, error) {
	if p != nil {
		select {
		case p.tell <- call.Tool.Command():
		default:
		}
	}
	return call, nil
}

// close waits a moment for the client to be told.
func (p *progress) close() {
	if p == nil {
		return
	}
	close(p.tell)
	t := time.AfterFunc(time.Second, p.stop)
	<-p.gone
	t.Stop()
	p.stop()
}

// say sends the client a log message.
func (c *session) say(ctx context.Context, level mcp.LoggingLevel, text string) {
	// A client that has set no level wants none.
	if err := c.peer.Log(ctx, &mcp.LoggingMessageParams{Level: level, Logger: "tis", Data: text}); err != nil {
		c.log.Debug("a message did not reach the client", "error", err)
	}
}
