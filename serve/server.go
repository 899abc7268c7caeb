package serve

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/tools-in-shell/tis/approvals"
	"github.com/tools-in-shell/tis/capability"
	"github.com/tools-in-shell/tis/catalog"
	"github.com/tools-in-shell/tis/runner"
)

// Tools is what there is to call at one moment.
type Tools struct {
	Sources []catalog.Source
	// OnDemand names the servers that each session loads for itself.
	OnDemand    []string
	Top         []*catalog.Tool
	KeepVisible []string
}

// Options of a Server. Tools and Gate are required.
type Options struct {
	// Version is told to clients.
	Version string
	// Tools gives what is there now. It is asked before every script and every
	// Refresh, so an unchanged answer should cost little.
	Tools func(ctx context.Context) Tools
	// Definition is a tool as its server listed it; may be nil, and may return nil.
	Definition func(ctx context.Context, t *catalog.Tool) json.RawMessage
	Gate       *approvals.Gate
	// Session is whose answers count. Empty: each client's session has a name of
	// its own, so that no answer outlives it. Clients over HTTP always have names
	// of their own, which begin with this one.
	Session string
	// Runner is what the runner of every script begins with: its limits and how
	// it is confined. Catalog, Gate, Dir and the hooks are filled in.
	Runner runner.Options
	Folders
	// Refresh is how often the tools are looked at while clients are connected;
	// default one second.
	Refresh time.Duration
	// Observer is told of scripts and calls; may be nil.
	Observer Observer
	// Logger gets what happens, without scripts, inputs and results; default none.
	Logger *slog.Logger
}

// Server serves MCP clients. It is safe for concurrent use.
type Server struct {
	o    Options
	life context.Context
	end  context.CancelFunc
	work sync.WaitGroup

	mu       sync.Mutex
	sessions map[*session]bool
}

// New makes a Server. Nothing is served yet; Close it in any case.
func New(o Options) (*Server, error) {
	if o.Tools == nil || o.Gate == nil {
		return nil, errors.New("serve: Options.Tools and Options.Gate are required")
	}
	if o.Refresh <= 0 {
		o.Refresh = time.Second
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Observer == nil {
		o.Observer = nobody{}
	}
	if err := o.Folders.check(); err != nil {
		return nil, err
	}
	s := &Server{o: o, sessions: map[*session]bool{}}
	s.life, s.end = context.WithCancel(context.Background())
	s.work.Go(s.watch)
	return s, nil
}

// Close ends all sessions with what runs in them, and waits until nothing of
// them is left.
func (s *Server) Close() error {
	s.end()
	for _, c := range s.open() {
		c.hangUp()
	}
	s.work.Wait()
	return nil
}

// Definitions are the tools as a client that begins now lists them, and the
// instructions that it gets.
func (s *Server) Definitions(ctx context.Context) (tools []json.RawMessage, instructions string) {
	c := s.newSession(ctx, newName("look"))
	defer c.unlessBegun()
	for _, name := range slices.Sorted(maps.Keys(c.told)) {
		tools = append(tools, json.RawMessage(c.told[name]))
	}
	return tools, capability.Prompt
}

// open are the sessions that clients have begun.
func (s *Server) open() []*session {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []*session
	for c := range s.sessions {
		out = append(out, c)
	}
	return out
}

// add takes a session in; it is false when the server is closing.
func (s *Server) add(c *session) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.life.Err() != nil {
		return false
	}
	s.sessions[c] = true
	s.work.Go(c.stay)
	return true
}

func (s *Server) remove(c *session) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.sessions, c)
}

// watch keeps what clients are told of the tools up to date.
func (s *Server) watch() {
	tick := time.NewTicker(s.o.Refresh)
	defer tick.Stop()
	var before string
	for {
		select {
		case <-s.life.Done():
			return
		case <-tick.C:
		}
		open := s.open()
		if len(open) == 0 {
			continue
		}
		now := s.o.Tools(s.life)
		seen := fingerprint(now)
		if seen == before {
			continue // what a session alone changes, it lists itself
		}
		before = seen
		for _, c := range open {
			c.list(s.life, c.catalogOf(now))
		}
	}
}

// fingerprint changes when the tools do that clients are told of.
func fingerprint(now Tools) string {
	cat := catalog.New(now.Sources, now.Top, catalog.Options{KeepVisible: now.KeepVisible})
	var b strings.Builder
	b.WriteString(capability.Behind(cat))
	for _, t := range cat.Direct() { // a tool that is listed anew unchanged is the same one
		fmt.Fprintf(&b, "\x00%p", t)
	}
	return b.String()
}

// Stdio serves the one client at the other end of in and out, until it hangs up
// or ctx is done. When it hangs up, its script is ended.
func (s *Server) Stdio(ctx context.Context, in io.Reader, out io.Writer) error {
	name := s.o.Session
	if name == "" {
		name = newName("stdio")
	}
	c := s.newSession(ctx, name)
	ss, err := c.mcp.Connect(ctx, &mcp.IOTransport{Reader: newHangUp(in, c.end), Writer: unclosed{out}, MaxLineLength: maxMessage}, nil)
	if err != nil {
		return err
	}
	c.greet(ss)
	gone := make(chan error, 1)
	s.work.Go(func() { gone <- ss.Wait() })
	select {
	case err = <-gone:
		if errors.Is(err, io.EOF) {
			err = nil
		}
	case <-ctx.Done():
		c.hangUp()
	}
	return err
}

// maxMessage is the largest message of a client, in bytes: the largest script
// with every character escaped.
const maxMessage = 24 << 20

// hangUp is a client's input; its end is the client's.
type hangUp struct {
	in  io.Reader
	end func()
}

func newHangUp(in io.Reader, end func()) *hangUp { return &hangUp{in, end} }

func (h *hangUp) Read(p []byte) (int, error) {
	n, err := h.in.Read(p)
	if err != nil {
		h.end()
	}
	return n, err
}

func (h *hangUp) Close() error {
	if c, ok := h.in.(io.Closer); ok {
		return c.Close()
	}
	return nil
}

// unclosed is an output that belongs to the caller.
type unclosed struct{ io.Writer }

func (unclosed) Close() error { return nil }

// newName is the name of a session that nothing else has.
func newName(prefix string) string {
	return prefix + "-" + strings.ToLower(rand.Text()[:12])
}
