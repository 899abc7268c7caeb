package signin

import (
	"context"
	"crypto/subtle"
	"errors"
	"fmt"
	"html"
	"io"
	"net"
	"net/http"
	"net/url"
	"sync"
	"time"
)

// callback is where the browser comes back to: a page on this machine, for one
// sign-in.
type callback struct {
	redirect string // its address
	name     string // of the MCP server
	server   *http.Server
	serving  sync.WaitGroup
	answers  chan url.Values // the first one that holds the state

	mu     sync.Mutex
	state  string
	strays int // visits with another state
}

// listen opens the page.
func listen(s Server) (*callback, error) {
	var all []net.Listener
	port := s.Client.CallbackPort
	l, err := net.Listen("tcp4", fmt.Sprintf("127.0.0.1:%d", port))
	if err != nil {
		return nil, fmt.Errorf("opening the page that the browser comes back to: %w", err)
	}
	all = append(all, l)
	host := l.Addr().String()
	if port != 0 {
		host = fmt.Sprintf("localhost:%d", port)
		if l, err := net.Listen("tcp6", fmt.Sprintf("[::1]:%d", port)); err == nil { // a browser may go there first
			all = append(all, l)
		}
	}
	c := &callback{redirect: "http://" + host + "/callback", name: s.Name, answers: make(chan url.Values, 1)}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /callback", c.visit)
	c.server = &http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second, MaxHeaderBytes: 64 << 10}
	for _, l := range all {
		c.serving.Go(func() { c.server.Serve(l) })
	}
	return c, nil
}

// close closes the page, after what it is just answering.
func (c *callback) close() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	if c.server.Shutdown(ctx) != nil {
		c.server.Close()
	}
	c.serving.Wait()
}

// expect says which visit is the right one.
func (c *callback) expect(state string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.state = state
}

// visit is the browser coming back. A visit with another state is not ours: it
// changes nothing.
func (c *callback) visit(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	c.mu.Lock()
	ours := c.state != "" && subtle.ConstantTimeCompare([]byte(q.Get("state")), []byte(c.state)) == 1
	if !ours {
		c.strays++
	}
	c.mu.Unlock()
	if !ours {
		page(w, http.StatusBadRequest, "This is not the sign-in that tis waits for. Start again with tis login "+c.name+".")
		return
	}
	select {
	case c.answers <- q:
	default:
		page(w, http.StatusConflict, "This sign-in has been answered already.")
		return
	}
	if q.Get("code") == "" {
		page(w, http.StatusOK, "The sign-in was refused. The terminal says why.")
		return
	}
	page(w, http.StatusOK, "tis goes on in the terminal. You can close this window.")
}

// page is a page of one sentence.
func page(w http.ResponseWriter, status int, text string) {
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Content-Security-Policy", "default-src 'none'")
	h.Set("Cache-Control", "no-store")
	h.Set("Referrer-Policy", "no-referrer")
	w.WriteHeader(status)
	io.WriteString(w, "<!doctype html><title>tis</title><p>"+html.EscapeString(text)+"</p>\n")
}

// wait waits for the right visit and takes its code.
func (c *callback) wait(ctx context.Context, p *place) (string, error) {
	var q url.Values
	select {
	case q = <-c.answers:
	case <-ctx.Done():
		c.mu.Lock()
		defer c.mu.Unlock()
		err := context.Cause(ctx)
		if errors.Is(err, context.DeadlineExceeded) {
			err = errors.New("nobody signed in before the time was over")
		}
		if c.strays > 0 {
			err = fmt.Errorf("%w (%d visits came back with a state that is not this sign-in's and were refused)", err, c.strays)
		}
		return "", err
	}
	// An answer of another authorization server must not be taken to this one.
	switch iss := q.Get("iss"); {
	case iss == "" && p.meta.AuthorizationResponseIssParameterSupported:
		return "", errors.New("its answer does not say who it is from, though its metadata promises so")
	case iss != "" && iss != p.meta.Issuer:
		return "", fmt.Errorf("the answer is from another one, %s", shown(iss))
	}
	if code := q.Get("error"); code != "" {
		return "", &refusal{code: clip(code, 60), description: clip(q.Get("error_description"), 300)}
	}
	if q.Get("code") == "" {
		return "", errors.New("its answer has no code")
	}
	return q.Get("code"), nil
}
