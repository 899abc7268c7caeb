package signin

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/oauthex"
)

// place is where a server's tokens come from.
type place struct {
	resource string   // the server as its tokens name it
	scopes   []string // that the server asks for; nil: it does not say
	meta     *oauthex.AuthServerMeta
}

// discover finds out where a server's tokens come from.
func (w *web) discover(ctx context.Context, s Server) (*place, error) {
	challenges, refused, err := w.knock(ctx, s)
	if err != nil {
		return nil, err
	}
	p := &place{scopes: scopes(challenges)}
	doc, err := w.resource(ctx, challenges)
	var issuer string
	switch {
	case err != nil:
		return nil, err
	case doc == nil && !refused:
		return nil, errors.New("it asks for no sign-in")
	case doc == nil:
		// Servers of the first version of the protocol's chapter have no document:
		// their own host is the authorization server.
		issuer, p.resource = (&url.URL{Scheme: w.server.Scheme, Host: w.server.Host}).String(), canonical(w.server)
	case len(doc.AuthorizationServers) == 0:
		return nil, errors.New("its metadata names no authorization server")
	default:
		issuer, p.resource = doc.AuthorizationServers[0], doc.Resource
		if p.scopes == nil {
			p.scopes = doc.ScopesSupported
		}
	}
	p.meta, err = w.issuer(ctx, issuer)
	if errors.Is(err, errNoMetadata) && doc == nil {
		p.meta, err = fixed(issuer), nil
	}
	if err != nil {
		return nil, fmt.Errorf("its authorization server %s: %w", shown(issuer), err)
	}
	if p.scopes != nil && slices.Contains(p.meta.ScopesSupported, "offline_access") && !slices.Contains(p.scopes, "offline_access") {
		p.scopes = append(p.scopes, "offline_access")
	}
	return p, nil
}

// greetings are messages that every MCP server understands, up to the first
// that one which guards its tools only must refuse.
var greetings = []string{
	`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"tis","version":"1"}}}`,
	`{"jsonrpc":"2.0","method":"notifications/initialized"}`,
	`{"jsonrpc":"2.0","id":2,"method":"tools/list","params":{}}`,
}

// knock greets the server without a token. refused: it answered 401.
func (w *web) knock(ctx context.Context, s Server) (challenges []oauthex.Challenge, refused bool, err error) {
	session := ""
	for _, greeting := range greetings {
		resp, err := w.greet(ctx, s, greeting, session)
		if err != nil {
			return nil, false, err
		}
		resp.Body.Close()
		if id := resp.Header.Get("Mcp-Session-Id"); id != "" && session == "" {
			session = id
			defer w.leave(ctx, s, id)
		}
		switch {
		case resp.StatusCode == http.StatusUnauthorized:
			challenges, err = oauthex.ParseWWWAuthenticate(resp.Header.Values("WWW-Authenticate"))
			if err != nil {
				challenges = nil // what it says cannot be read; the well-known places are left
			}
			return challenges, true, nil
		case resp.StatusCode >= 300:
			return nil, false, nil
		}
	}
	return nil, false, nil
}

// greet sends one message.
func (w *web) greet(ctx context.Context, s Server, greeting, session string) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, s.URL, strings.NewReader(greeting))
	if err != nil {
		return nil, errors.New("its url is not one")
	}
	for k, v := range s.Headers {
		req.Header.Set(k, v)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	if greeting != greetings[0] {
		req.Header.Set("Mcp-Protocol-Version", "2025-06-18")
	}
	if session != "" {
		req.Header.Set("Mcp-Session-Id", session)
	}
	resp, err := w.reader().Do(req)
	if err != nil {
		return nil, fmt.Errorf("it cannot be reached: %w", bare(err))
	}
	return resp, nil
}

// leave ends a session that the greeting began.
func (w *web) leave(ctx context.Context, s Server, session string) {
	req, err := http.NewRequestWithContext(ctx, http.MethodDelete, s.URL, nil)
	if err != nil {
		return
	}
	for k, v := range s.Headers {
		req.Header.Set(k, v)
	}
	req.Header.Set("Mcp-Session-Id", session)
	if resp, err := w.sender().Do(req); err == nil {
		resp.Body.Close()
	}
}

func scopes(challenges []oauthex.Challenge) []string {
	for _, c := range challenges {
		if s := c.Params["scope"]; c.Scheme == "bearer" && s != "" {
			return strings.Fields(s)
		}
	}
	return nil
}

// resource reads the server's document on who protects it: where its challenge
// says, else at the well-known places. Nil: there is none.
func (w *web) resource(ctx context.Context, challenges []oauthex.Challenge) (*oauthex.ProtectedResourceMetadata, error) {
	for _, c := range challenges {
		if at := c.Params["resource_metadata"]; at != "" {
			doc, err := w.document(ctx, at)
			if err == nil && doc == nil {
				err = errors.New("it is not there")
			}
			if err != nil {
				return nil, fmt.Errorf("its metadata %s: %w", shown(at), err)
			}
			return doc, nil
		}
	}
	const wellKnown = "/.well-known/oauth-protected-resource"
	at := url.URL{Scheme: w.server.Scheme, Host: w.server.Host, Path: wellKnown + strings.TrimSuffix(w.server.Path, "/")}
	doc, err := w.document(ctx, at.String())
	if doc == nil && err == nil && at.Path != wellKnown {
		at.Path = wellKnown
		doc, err = w.document(ctx, at.String())
	}
	if err != nil {
		return nil, fmt.Errorf("its metadata %s: %w", shown(at.String()), err)
	}
	return doc, nil
}

// document reads one such document. Nil: it is not there.
func (w *web) document(ctx context.Context, at string) (*oauthex.ProtectedResourceMetadata, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, at, nil)
	if err != nil {
		return nil, errors.New("that is not a url")
	}
	req.Header.Set("Accept", "application/json")
	resp, err := w.reader().Do(req)
	if err != nil {
		return nil, bare(err)
	}
	defer resp.Body.Close()
	switch {
	case resp.StatusCode >= 500:
		return nil, fmt.Errorf("it answered %d", resp.StatusCode)
	case resp.StatusCode != http.StatusOK:
		return nil, nil
	}
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		return nil, bare(err)
	}
	var doc oauthex.ProtectedResourceMetadata
	if err := json.Unmarshal(body, &doc); err != nil {
		return nil, errors.New("it is not the JSON document that was expected")
	}
	return &doc, w.covers(doc.Resource)
}

// covers checks that a document speaks of this server: it names its URL, or a
// folder above it on the same host.
func (w *web) covers(resource string) error {
	wrong := fmt.Errorf("it speaks of %s, which is another server", shown(resource))
	r, err := url.Parse(resource)
	if err != nil || !sameOrigin(r, w.server) || r.Fragment != "" || r.User != nil || r.RawQuery != "" && r.RawQuery != w.server.RawQuery {
		return wrong
	}
	folder := strings.TrimSuffix(path.Clean("/"+r.Path), "/") + "/"
	if !strings.HasPrefix(path.Clean("/"+w.server.Path)+"/", folder) {
		return wrong
	}
	return nil
}

// canonical is a server's URL as tokens name it.
func canonical(u *url.URL) string {
	c := url.URL{Scheme: u.Scheme, Host: strings.ToLower(u.Host), Path: u.Path}
	return c.String()
}

var errNoMetadata = errors.New("it has no metadata")

// fixed are the places that the first version of the protocol's chapter names
// for a server that is its own authorization server and has no documents at all.
func fixed(origin string) *oauthex.AuthServerMeta {
	return &oauthex.AuthServerMeta{
		Issuer: origin, AuthorizationEndpoint: origin + "/authorize", TokenEndpoint: origin + "/token", RegistrationEndpoint: origin + "/register",
	}
}

// issuer reads an authorization server's document on itself.
func (w *web) issuer(ctx context.Context, issuer string) (*oauthex.AuthServerMeta, error) {
	u, err := url.Parse(issuer)
	switch {
	case err != nil || u.Host == "" || u.RawQuery != "" || u.Fragment != "":
		return nil, errors.New("that is not the url of one")
	case w.reachable(u) != nil:
		return nil, w.reachable(u)
	}
	meta, err := auth.GetAuthServerMetadata(ctx, issuer, w.reader())
	switch {
	case err != nil:
		return nil, bare(err)
	case meta == nil:
		return nil, errNoMetadata
	case !slices.Contains(meta.CodeChallengeMethodsSupported, "S256"):
		return nil, errors.New("it does not offer PKCE with S256")
	case len(meta.ResponseTypesSupported) > 0 && !slices.Contains(meta.ResponseTypesSupported, "code"):
		return nil, errors.New("it does not offer the code flow")
	}
	for name, at := range map[string]string{"authorization_endpoint": meta.AuthorizationEndpoint, "token_endpoint": meta.TokenEndpoint} {
		u, err := url.Parse(at)
		if err != nil || u.Host == "" {
			return nil, fmt.Errorf("its metadata has no %s", name)
		}
		if err := w.reachable(u); err != nil {
			return nil, fmt.Errorf("its %s: %w", name, err)
		}
	}
	return meta, nil
}

// shown is a URL as messages show it: without a query, and not too long.
func shown(text string) string {
	u, err := url.Parse(text)
	if err != nil {
		return "(not a url)"
	}
	c := url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path}
	return clip(c.String(), 200)
}

// clip cuts a text to n bytes, in one line.
func clip(text string, n int) string {
	text = strings.Join(strings.FieldsFunc(text, func(r rune) bool { return r < ' ' || r == 0x7f || r == ' ' }), " ")
	if len(text) > n {
		return strings.ToValidUTF8(text[:n], "") + "..."
	}
	return strings.ToValidUTF8(text, "?")
}
