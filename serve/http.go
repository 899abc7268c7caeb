package serve

import (
	"bytes"
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// HTTPOptions of the streamable HTTP transport.
type HTTPOptions struct {
	// Token is the bearer token that every request must carry. Without one only a
	// loopback address is served.
	Token string
	// Hosts are names, besides IP addresses and localhost, under which the server
	// may be reached. A page in a browser that makes a name of its own point here
	// is refused.
	Hosts []string
	// Origins are the web origins whose pages may connect, as in
	// "https://app.example.com", besides the server's own.
	Origins []string
	// Idle ends a session that sends nothing for so long; default 30 minutes.
	Idle time.Duration
	// MaxSessions is how many sessions there may be; default 1000.
	MaxSessions int
}

// HTTP serves clients on a listener until ctx is done, and closes the listener.
func (s *Server) HTTP(ctx context.Context, ln net.Listener, o HTTPOptions) error {
	handler, err := s.Handler(ln.Addr(), o)
	if err != nil {
		return errors.Join(err, ln.Close())
	}
	web := &http.Server{
		Handler: handler, ReadHeaderTimeout: 10 * time.Second, IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 64 << 10,
		ErrorLog: slog.NewLogLogger(s.o.Logger.Handler(), slog.LevelDebug),
	}
	failed := make(chan error, 1)
	go func() { failed <- web.Serve(ln) }()
	select {
	case err := <-failed:
		return err
	case <-ctx.Done():
	}
	s.Close() // what clients wait for ends, so that they can be let go
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*time.Second)
	defer cancel()
	if web.Shutdown(last) != nil {
		web.Close()
	}
	<-failed
	return nil
}

// Handler is the endpoint for a server that listens on addr. An address that
// others can reach needs a token.
func (s *Server) Handler(addr net.Addr, o HTTPOptions) (http.Handler, error) {
	if !loopback(addr) && o.Token == "" {
		return nil, fmt.Errorf("%s can be reached from elsewhere, and there is no token; set one, or listen on 127.0.0.1", addr)
	}
	if o.Token != "" && len(o.Token) < minToken {
		return nil, fmt.Errorf("the token is shorter than %d characters", minToken)
	}
	if o.Idle <= 0 {
		o.Idle = 30 * time.Minute
	}
	if o.MaxSessions <= 0 {
		o.MaxSessions = 1000
	}
	e := &endpoint{server: s, o: o, token: sha256.Sum256([]byte(o.Token)), blank: mcp.NewServer(&mcp.Implementation{Name: "tis"}, nil)}
	e.sdk = mcp.NewStreamableHTTPHandler(e.serverOf, &mcp.StreamableHTTPOptions{
		EventStore: mcp.NewMemoryEventStore(nil), SessionTimeout: o.Idle, MaxRequestBodyBytes: maxMessage,
	})
	return e, nil
}

// minToken is the shortest token, in characters.
const minToken = 16

func loopback(addr net.Addr) bool {
	host, _, err := net.SplitHostPort(addr.String())
	ip := net.ParseIP(host)
	return err == nil && ip != nil && ip.IsLoopback()
}

// endpoint lets requests through to the SDK's handler.
type endpoint struct {
	server *Server
	o      HTTPOptions
	token  [sha256.Size]byte
	sdk    http.Handler
	blank  *mcp.Server // for requests of sessions that there are
}

// bodyTime is how long a client may take to send a message.
const bodyTime = time.Minute

func (e *endpoint) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	switch {
	case !e.knownHost(req.Host):
		e.refuse(w, req, http.StatusForbidden, "the Host header names neither an IP address, nor localhost, nor an allowed host")
		return
	case !e.knownOrigin(req):
		e.refuse(w, req, http.StatusForbidden, "the Origin header names a web page that is not allowed")
		return
	case !e.authorized(req):
		w.Header().Set("WWW-Authenticate", `Bearer realm="tis"`)
		e.refuse(w, req, http.StatusUnauthorized, "a valid bearer token is needed")
		return
	}
	if req.Method == http.MethodPost && !e.read(w, req) {
		return
	}
	id := req.Header.Get("Mcp-Session-Id")
	switch {
	case id != "" && req.Method == http.MethodDelete:
		for _, c := range e.server.open() {
			if c.peer.ID() == id {
				c.end() // the SDK waits for what runs
			}
		}
	case id == "" && req.Method == http.MethodPost:
		if len(e.server.open()) >= e.o.MaxSessions {
			e.refuse(w, req, http.StatusServiceUnavailable, "there are too many sessions; try again later")
			return
		}
		prefix := "http"
		if e.server.o.Session != "" {
			prefix = e.server.o.Session
		}
		c := e.server.newSession(req.Context(), newName(prefix))
		defer c.unlessBegun()
		req = req.WithContext(context.WithValue(req.Context(), newcomer{}, c))
	}
	e.sdk.ServeHTTP(w, req)
}

// newcomer is the context's key of a session that is about to begin.
type newcomer struct{}

func (e *endpoint) serverOf(req *http.Request) *mcp.Server {
	if c, ok := req.Context().Value(newcomer{}).(*session); ok {
		return c.mcp
	}
	return e.blank
}

// unlessBegun lets a session go that never began.
func (c *session) unlessBegun() {
	c.once.Do(c.end)
}

func (e *endpoint) refuse(w http.ResponseWriter, req *http.Request, status int, why string) {
	e.server.o.Logger.Warn("request refused", "from", req.RemoteAddr, "status", status, "why", why)
	http.Error(w, why, status)
}

func (e *endpoint) knownHost(hostport string) bool {
	host := hostport
	if h, _, err := net.SplitHostPort(hostport); err == nil {
		host = h
	}
	host = strings.TrimSuffix(strings.TrimPrefix(host, "["), "]")
	if net.ParseIP(host) != nil || strings.EqualFold(host, "localhost") {
		return true // no name server stands in between
	}
	return slices.ContainsFunc(e.o.Hosts, func(h string) bool { return strings.EqualFold(h, host) || strings.EqualFold(h, hostport) })
}

// knownOrigin reports whether a request comes from no web page, from one of the
// server's own, or from one that is allowed.
func (e *endpoint) knownOrigin(req *http.Request) bool {
	origins := req.Header.Values("Origin")
	if len(origins) == 0 {
		return true
	}
	if len(origins) > 1 {
		return false
	}
	u, err := url.Parse(origins[0])
	if err != nil || u.Host == "" {
		return false
	}
	return strings.EqualFold(u.Host, req.Host) && (u.Scheme == "http" || u.Scheme == "https") ||
		slices.ContainsFunc(e.o.Origins, func(o string) bool { return strings.EqualFold(strings.TrimSuffix(o, "/"), origins[0]) })
}

// authorized takes the same time for every token.
func (e *endpoint) authorized(req *http.Request) bool {
	if e.o.Token == "" {
		return true
	}
	scheme, token, _ := strings.Cut(req.Header.Get("Authorization"), " ")
	got := sha256.Sum256([]byte(strings.TrimSpace(token)))
	same := subtle.ConstantTimeCompare(got[:], e.token[:]) == 1
	return strings.EqualFold(scheme, "Bearer") && same
}

// read takes in the whole message, so that a client that sends slowly, or too
// much, holds nothing up.
func (e *endpoint) read(w http.ResponseWriter, req *http.Request) bool {
	ctl := http.NewResponseController(w)
	ctl.SetReadDeadline(time.Now().Add(bodyTime))
	body, err := io.ReadAll(http.MaxBytesReader(w, req.Body, maxMessage))
	ctl.SetReadDeadline(time.Time{})
	var large *http.MaxBytesError
	switch {
	case errors.As(err, &large):
		e.refuse(w, req, http.StatusRequestEntityTooLarge, fmt.Sprintf("the message is larger than %d bytes", large.Limit))
		return false
	case err != nil:
		e.refuse(w, req, http.StatusBadRequest, "the message could not be read")
		return false
	}
	req.Body = io.NopCloser(bytes.NewReader(body))
	return true
}
