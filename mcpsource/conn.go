package mcpsource

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/tools-in-shell/tis/catalog"
)

// conn is one live connection to a server.
type conn struct {
	session *mcp.ClientSession
	raw     *rawConn
	process *exec.Cmd
	cancel  context.CancelFunc
	once    sync.Once
	exited  chan struct{} // closed when the process has gone; nil for HTTP
}

// dial starts the server and greets it. ctx bounds only the start.
func dial(ctx context.Context, s *server) (*conn, error) {
	life, cancel := context.WithCancel(context.WithoutCancel(ctx))
	c := &conn{cancel: cancel}
	var transport mcp.Transport
	var err error
	if s.cfg.URL != "" {
		transport = &mcp.StreamableClientTransport{Endpoint: s.cfg.URL, HTTPClient: httpClient(s.cfg.Headers), MaxRetries: 2}
	} else if transport, err = c.start(s); err != nil {
		cancel()
		return nil, err
	}
	raw := &rawTransport{Transport: transport}
	client := mcp.NewClient(&mcp.Implementation{Name: "tis", Version: s.opts.Version}, &mcp.ClientOptions{
		Logger: slog.New(slog.DiscardHandler), ToolListChangedHandler: s.changed, Capabilities: &mcp.ClientCapabilities{},
	})
	type greeting struct {
		session *mcp.ClientSession
		err     error
	}
	done := make(chan greeting, 1)
	go func() {
		session, err := client.Connect(life, raw, nil)
		done <- greeting{session, err}
	}()
	select {
	case g := <-done:
		c.session, err = g.session, g.err
	case <-ctx.Done():
		err = context.Cause(ctx)
	}
	if c.raw = raw.made.Load(); err != nil {
		c.close()
		if c.raw != nil && c.raw.fault() != nil && !needsSignIn(err) && ctx.Err() == nil {
			err = c.raw.fault()
		}
		return nil, err
	}
	return c, nil
}

// start starts the program in a process group of its own.
func (c *conn) start(s *server) (mcp.Transport, error) {
	cmd := exec.Command(s.cfg.Command, s.cfg.Args...)
	cmd.Dir, cmd.Env, cmd.Stderr = s.cfg.Dir, environment(s.cfg.Env, s.opts.Getenv), &s.log
	ownGroup(cmd)
	cmd.WaitDelay = time.Second
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, pw, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	cmd.Stdout = pw
	err = cmd.Start()
	pw.Close()
	if err != nil {
		out.Close()
		var missing *exec.Error
		if errors.As(err, &missing) {
			return nil, fmt.Errorf("its command %q was not found", s.cfg.Command)
		}
		return nil, fmt.Errorf("its command %q: %w", s.cfg.Command, err)
	}
	c.process, c.exited = cmd, make(chan struct{})
	go func() {
		cmd.Wait()
		close(c.exited)
	}()
	return &mcp.IOTransport{Reader: out, Writer: in, MaxLineLength: 64 << 20}, nil
}

// environment is what a server's program gets: a few variables of ours, and
// the config's.
func environment(extra map[string]string, getenv func(string) (string, bool)) []string {
	if getenv == nil {
		getenv = os.LookupEnv
	}
	var env []string
	for _, name := range []string{"PATH", "HOME", "LANG", "LC_ALL", "TMPDIR", "TEMP", "USER", "LOGNAME", "SHELL", "TERM",
		"XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "GOCACHE", "GOMODCACHE", "GOPATH", "GOPROXY", "GOFLAGS", "GOSUMDB",
		"SYSTEMROOT", "APPDATA", "LOCALAPPDATA", "USERPROFILE", "PATHEXT"} {
		if v, ok := getenv(name); ok {
			env = append(env, name+"="+v)
		}
	}
	for k, v := range extra {
		env = append(env, k+"="+v)
	}
	return env
}

// dead reports whether the connection can no longer be used.
func (c *conn) dead() bool {
	select {
	case <-c.exited: // never ready when it is nil
		return true
	default:
	}
	return c.raw == nil || c.raw.fault() != nil
}

func (c *conn) close() {
	c.once.Do(func() {
		if c.session != nil {
			closed := make(chan struct{})
			go func() { c.session.Close(); close(closed) }()
			select {
			case <-closed:
			case <-time.After(2 * time.Second):
			}
		}
		c.cancel()
		if c.process != nil {
			select {
			case <-c.exited:
			case <-time.After(300 * time.Millisecond):
			}
			killGroup(c.process)
			<-c.exited
		}
	})
}

// list asks for one page of tools/list.
func (c *conn) list(ctx context.Context, cursor string, more bool) (json.RawMessage, error) {
	ctx, answer := withAnswer(ctx)
	params := &mcp.ListToolsParams{Cursor: cursor}
	_, err := c.session.ListTools(ctx, params)
	if raw := answer.get(); raw != nil {
		return raw, nil
	}
	if err == nil {
		err = errors.New("its tools/list answer could not be read")
	}
	return nil, err
}

// call calls a tool with its input as it was written.
func (c *conn) call(ctx context.Context, tool string, input json.RawMessage) (json.RawMessage, error) {
	ctx, answer := withAnswer(ctx)
	_, err := c.session.CallTool(ctx, &mcp.CallToolParams{Name: tool, Arguments: input})
	if raw := answer.get(); raw != nil {
		return raw, nil
	}
	if err == nil {
		err = errors.New("its answer could not be read")
	}
	return nil, err
}

// errSignIn is a server that wants a sign-in.
type errSignIn struct{ status string }

func (e *errSignIn) Error() string { return "the server answered " + e.status }

func needsSignIn(err error) bool {
	var e *errSignIn
	return errors.As(err, &e) || err != nil && (strings.Contains(err.Error(), "401") || strings.Contains(err.Error(), "Unauthorized"))
}

// headerTransport adds the config's headers and notices a wanted sign-in.
type headerTransport struct{ headers map[string]string }

func httpClient(headers map[string]string) *http.Client {
	return &http.Client{Transport: headerTransport{headers}}
}

func (t headerTransport) RoundTrip(req *http.Request) (*http.Response, error) {
	req = req.Clone(req.Context())
	for k, v := range t.headers {
		req.Header.Set(k, v)
	}
	resp, err := http.DefaultTransport.RoundTrip(req)
	if err == nil && resp.StatusCode == http.StatusUnauthorized {
		io.Copy(io.Discard, io.LimitReader(resp.Body, 1<<16))
		resp.Body.Close()
		return nil, &errSignIn{resp.Status}
	}
	return resp, err
}

// executor is one tool of a server.
type executor struct {
	server *server
	tool   string
}

// Execute calls the tool, and starts the server again when it has died.
func (e *executor) Execute(ctx context.Context, input json.RawMessage) (catalog.Output, error) {
	s := e.server
	ctx, cancel := context.WithTimeout(ctx, s.cfg.CallTimeout)
	defer cancel()
	c, err := s.connect(ctx)
	if err != nil {
		if f := s.startFault(err); f != nil {
			return catalog.Output{}, f
		}
	}
	raw, err := c.call(ctx, e.tool, input)
	if err != nil {
		return catalog.Output{}, s.callFault(ctx, c, err)
	}
	return output(raw)
}

// callFault says how a call failed.
func (s *server) callFault(ctx context.Context, c *conn, err error) error {
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case c.dead() || brokenPipe(err):
		return &catalog.Error{Code: catalog.ToolError, Retryable: true, Message: "outcome unknown: the server " + catalog.Shown(s.cfg.Name) + " died during the call"}
	case needsSignIn(err):
		return s.startFault(err)
	}

	return catalog.Errorf(catalog.ToolError, "%s", s.redact(err.Error()))
}

func brokenPipe(err error) bool {
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrClosedPipe) || errors.Is(err, os.ErrClosed) || errors.Is(err, mcp.ErrConnectionClosed) || isEPIPE(err)
}
