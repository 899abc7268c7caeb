package mcpsource

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/oauthex"

	"github.com/tools-in-shell/tis/catalog"
	"github.com/tools-in-shell/tis/signin"
)

// bearer puts the token of a sign-in into the requests to one server. A server
// with an Authorization header of its own in the config has no other token.
type bearer struct {
	server *server
	url    *url.URL
	tokens *signin.Source // nil: there is no sign-in
}

func newBearer(s *server, u *url.URL) *bearer {
	b := &bearer{server: s, url: u}
	if s.opts.SignIns != nil && !s.cfg.Authorized() {
		b.tokens = s.opts.SignIns.Source(s.cfg.SignIn())
	}
	return b
}

// SignIn is the server as a sign-in knows it.
func (c ServerConfig) SignIn() signin.Server {
	return signin.Server{Name: c.Name, URL: c.URL, Headers: c.Headers, Client: c.OAuth}
}

// Authorized reports whether the config itself says who we are.
func (c ServerConfig) Authorized() bool {
	for k := range c.Headers {
		if strings.EqualFold(k, "Authorization") {
			return true
		}
	}
	return false
}

// errSignIn is a server that wants a sign-in.
var errSignIn = errors.New("it asks for a sign-in")

// scopeError is a server that wants a sign-in with more rights.
type scopeError struct{ scopes []string }

func (e *scopeError) Error() string { return "it asks for a sign-in with more rights" }
func (e *scopeError) Unwrap() error { return errSignIn }

// tokenError is a token that could not be refreshed; the request was not sent.
type tokenError struct{ err error }

func (e *tokenError) Error() string { return e.err.Error() }
func (e *tokenError) Unwrap() error { return e.err }

// send sends a request with the token. One that the server refuses is refreshed
// and the request is sent again, once.
func (b *bearer) send(via http.RoundTripper, req *http.Request) (*http.Response, error) {
	if b.tokens == nil || req.URL.Scheme != b.url.Scheme || req.URL.Host != b.url.Host {
		return via.RoundTrip(req)
	}
	token, err := b.token(req.Context(), "")
	if err != nil {
		return nil, err
	}
	resp, err := b.sendWith(via, req, token)
	if err != nil || token == "" {
		return resp, err
	}
	switch {
	case resp.StatusCode == http.StatusForbidden:
		return resp, b.missing(resp)
	case resp.StatusCode != http.StatusUnauthorized || req.Body != nil && req.GetBody == nil:
		return resp, nil
	}
	fresh, err := b.token(req.Context(), token)
	if err != nil {
		drop(resp)
		return nil, err
	}
	again := req.Clone(req.Context())
	if req.GetBody != nil {
		if again.Body, err = req.GetBody(); err != nil {
			return resp, nil
		}
	}
	drop(resp)
	return b.sendWith(via, again, fresh)
}

func (b *bearer) sendWith(via http.RoundTripper, req *http.Request, token string) (*http.Response, error) {
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	return via.RoundTrip(req)
}

// token is the token to send, or the one in place of a refused one. From now on
// no message shows it.
func (b *bearer) token(ctx context.Context, refused string) (token string, err error) {
	if refused == "" {
		token, err = b.tokens.Token(ctx)
	} else {
		token, err = b.tokens.Renew(ctx, refused)
	}
	switch {
	case errors.Is(err, signin.ErrSignIn):
		return "", errSignIn
	case err != nil:
		return "", &tokenError{err}
	}
	b.server.secrets.add(token)
	return token, nil
}

// missing is the error of an answer that wants more rights, nil when it wants
// something else.
func (b *bearer) missing(resp *http.Response) error {
	challenges, err := oauthex.ParseWWWAuthenticate(resp.Header.Values("WWW-Authenticate"))
	if err != nil {
		return nil
	}
	for _, c := range challenges {
		if c.Scheme == "bearer" && c.Params["error"] == "insufficient_scope" {
			drop(resp)
			scopes := strings.Fields(c.Params["scope"])
			if err := b.tokens.Miss(resp.Request.Context(), scopes); err != nil {
				return &tokenError{err}
			}
			return &scopeError{scopes}
		}
	}
	return nil
}

// signInFault says what a person has to do.
func (s *server) signInFault(err error) *catalog.Error {
	text := s.called() + " asks for a sign-in; "
	var more *scopeError
	if errors.As(err, &more) {
		text = fmt.Sprintf("%s asks for more rights (%s); ", s.called(), clip(catalog.OneLine(strings.Join(more.scopes, " ")), 200))
	}
	switch {
	case s.cfg.Authorized():
		text += "put a valid token into its Authorization header in the config"
	default:
		text += "run: tis login " + s.cfg.Name
	}
	return &catalog.Error{Code: catalog.ConnectionRequired, Message: text}
}
