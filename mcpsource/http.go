package mcpsource

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// web is what stands between the SDK and the network: it adds the config's
// headers, takes the raw answers, bounds them, and says what went wrong.
type web struct {
	host    string
	headers map[string]string
	waiting *waiting
	tokens  *bearer // of the sign-in
	calls   *http.Transport
	streams *http.Transport // for the stream of notifications, which may stay silent
	opened  atomic.Bool     // that stream was asked for

	life  context.Context // ends every request
	abort context.CancelFunc
}

// streamPatience is how long a server may take to open the stream of
// notifications. One that never does still answers calls.
const streamPatience = 5 * time.Second

func newWeb(s *server, w *waiting) (*web, error) {
	cfg := s.cfg
	u, err := url.Parse(cfg.URL)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil, errors.New("its url is not one; want http://... or https://...")
	}
	base := http.DefaultTransport.(*http.Transport)
	t := &web{host: u.Host, headers: cfg.Headers, waiting: w, tokens: newBearer(s, u), calls: base.Clone(), streams: base.Clone()}
	t.streams.ResponseHeaderTimeout = streamPatience
	t.life, t.abort = context.WithCancel(context.Background())
	return t, nil
}

// transport is the SDK's, over this one.
func (t *web) transport(endpoint string) mcp.Transport {
	return &mcp.StreamableClientTransport{
		Endpoint:   endpoint,
		HTTPClient: &http.Client{Transport: t, CheckRedirect: t.redirect},
		// A stream that breaks now and then must not end the session.
		MaxRetries:   1000,
		MaxEventSize: maxMessage,
	}
}

// redirect refuses to carry requests, and the secrets in them, elsewhere.
func (t *web) redirect(req *http.Request, via []*http.Request) error {
	switch {
	case req.URL.Host != t.host || via[0].URL.Scheme == "https" && req.URL.Scheme != "https":
		return fmt.Errorf("it redirects to %s://%s; use that url if it is right", req.URL.Scheme, req.URL.Host)
	case len(via) > 5:
		return errors.New("it redirects again and again")
	}
	return nil
}

// close drops what is still open.
func (t *web) close() {
	t.abort()
	t.calls.CloseIdleConnections()
	t.streams.CloseIdleConnections()
}

// statusError is an answer that is no answer of the protocol.
type statusError struct {
	code    int
	session bool // the request belonged to a session
}

func (e *statusError) Error() string {
	text := fmt.Sprintf("it answered %d %s", e.code, http.StatusText(e.code))
	if e.code == http.StatusNotFound || e.code == http.StatusMethodNotAllowed {
		text += " (is this the url of a streamable HTTP server?)"
	}
	return text
}

// passing reports whether the same request may well succeed later.
func (e *statusError) passing() bool {
	return e.code >= 500 || e.code == http.StatusTooManyRequests || e.code == http.StatusRequestTimeout
}

// RoundTrip sends one of the SDK's requests.
func (t *web) RoundTrip(req *http.Request) (*http.Response, error) {
	ctx, cancel := context.WithCancel(req.Context())
	unhook := context.AfterFunc(t.life, cancel)
	done := func() { unhook(); cancel() }
	req = req.Clone(ctx)
	if req.URL.Host == t.host {
		for k, v := range t.headers {
			if strings.EqualFold(k, "Host") {
				req.Host = v
			}
			req.Header.Set(k, v)
		}
	}
	var resp *http.Response
	var err error
	switch req.Method {
	case http.MethodPost:
		resp, err = t.post(req)
	case http.MethodGet:
		resp, err = t.stream(req)
	default:
		resp, err = t.tokens.send(t.calls, req)
	}
	if err != nil {
		done()
		return nil, err
	}
	resp.Body = &tap{body: resp.Body, waiting: t.waiting, own: answerOf(ctx), events: isEvents(resp), done: done}
	return resp, nil
}

func isEvents(resp *http.Response) bool {
	return strings.HasPrefix(strings.ToLower(strings.TrimSpace(resp.Header.Get("Content-Type"))), "text/event-stream")
}

// post sends a message.
func (t *web) post(req *http.Request) (*http.Response, error) {
	if a := answerOf(req.Context()); a != nil {
		if err := t.note(req, a); err != nil {
			return nil, err
		}
	}
	resp, err := t.tokens.send(t.calls, req)
	if err != nil {
		return nil, err
	}
	switch code := resp.StatusCode; {
	case code == http.StatusUnauthorized, code == http.StatusForbidden && resp.Header.Get("WWW-Authenticate") != "":
		drop(resp)
		return nil, errSignIn
	case code >= 400:
		// Some say what is wrong in an error of the protocol: the SDK reads it.
		body, _ := io.ReadAll(io.LimitReader(resp.Body, 1<<20))
		resp.Body.Close()
		var e envelope
		if json.Unmarshal(body, &e) != nil || e.Error == nil {
			return nil, &statusError{code, req.Header.Get("Mcp-Session-Id") != ""}
		}
		if a := answerOf(req.Context()); a != nil {
			if code == http.StatusNotFound && req.Header.Get("Mcp-Session-Id") != "" {
				return nil, &statusError{code, true}
			}
			a.settle(nil, e.Error)
		}
		resp.Body = io.NopCloser(bytes.NewReader(body))
	}
	return resp, nil
}

func drop(resp *http.Response) {
	io.Copy(io.Discard, io.LimitReader(resp.Body, 1<<16))
	resp.Body.Close()
}

// note makes the request's answer waited for, and gives it its empty cursor.
func (t *web) note(req *http.Request, a *answer) error {
	body, err := io.ReadAll(req.Body)
	if err != nil {
		return err
	}
	req.Body.Close()
	var msg struct {
		Version string          `json:"jsonrpc"`
		ID      any             `json:"id,omitempty"`
		Method  string          `json:"method"`
		Params  json.RawMessage `json:"params,omitempty"`
	}
	if err := json.Unmarshal(body, &msg); err != nil {
		return err
	}
	if a.emptyCursor && msg.Method == "tools/list" {
		msg.Params = withEmptyCursor(msg.Params)
		if body, err = json.Marshal(msg); err != nil {
			return err
		}
	}
	if id, err := jsonrpc.MakeID(msg.ID); err == nil && id.IsValid() {
		t.waiting.add(id, a)
	}
	req.Body, req.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	req.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(body)), nil }
	return nil
}

// stream opens the stream of notifications, or goes on with a broken one. A
// server that cannot open it at first is taken at its word that it has none; a
// later failure passes.
func (t *web) stream(req *http.Request) (*http.Response, error) {
	resume := req.Header.Get("Last-Event-ID") != ""
	first := !resume && !t.opened.Swap(true)
	resp, err := t.tokens.send(t.streams, req)
	if err == nil && !resume && resp.StatusCode != http.StatusOK && !(resp.StatusCode == http.StatusNotFound && !first) {
		code := resp.StatusCode
		drop(resp)
		err = &statusError{code: code}
	}
	if err != nil && first && req.Context().Err() == nil {
		return &http.Response{
			StatusCode: http.StatusMethodNotAllowed, Status: "405 Method Not Allowed",
			Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Header: http.Header{}, Body: http.NoBody, Request: req,
		}, nil
	}
	return resp, err
}

// plain says what went wrong with a request, without the SDK's and the HTTP
// client's words around it.
func plain(err error) error {
	var status *statusError
	var more *scopeError
	var token *tokenError
	var u *url.Error
	switch {
	case errors.As(err, &more):
		return more
	case errors.Is(err, errSignIn):
		return errSignIn
	case errors.As(err, &token):
		return token
	case errors.As(err, &status):
		return status
	case errors.As(err, &u):
		return fmt.Errorf("it cannot be reached: %w", u.Err)
	}
	if text := sdkPrefix.ReplaceAllString(err.Error(), ""); text != err.Error() {
		return &plainError{text, err}
	}
	return err
}

// sdkPrefix is what the SDK puts before the errors of a request.
var sdkPrefix = regexp.MustCompile(`^(calling "[^"]*": |sending "[^"]*": |rejected by transport: )+`)

// plainError is an error in fewer words.
type plainError struct {
	text string
	err  error
}

func (e *plainError) Error() string { return e.text }
func (e *plainError) Unwrap() error { return e.err }
