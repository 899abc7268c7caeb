package signin

import (
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"strings"
)

// Server is a remote MCP server that may want a sign-in.
type Server struct {
	Name    string
	URL     string
	Headers map[string]string // sent to the server along with the first request
	Client  Client
}

// Client is how tis is known to an authorization server. Without an ID it
// registers itself at each sign-in.
type Client struct {
	ID     string
	Secret string
	// Scopes are the rights to ask for; nil asks for those that the server names.
	Scopes []string
	// CallbackPort is the port of the redirect that the client is registered
	// with, http://localhost:PORT/callback; 0 takes any free port on 127.0.0.1.
	CallbackPort int
}

// ErrSignIn is a server to which tis is not signed in, or no longer.
var ErrSignIn = errors.New("a sign-in is needed")

// address reads a server's URL. Tokens travel over https, or not beyond this
// machine.
func (s Server) address() (*url.URL, error) {
	u, err := url.Parse(s.URL)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil, errors.New("its url is not one; want https://...")
	}
	if u.Scheme == "http" && !loopback(u) {
		return nil, fmt.Errorf("its url begins with http://, and a token would be read by everyone on the way to %s; want https://", u.Host)
	}
	return u, nil
}

// loopback reports whether a URL's host is this machine by its very name.
func loopback(u *url.URL) bool {
	host := strings.ToLower(u.Hostname())
	if host == "localhost" {
		return true
	}
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.Unmap().IsLoopback()
}

// sameOrigin reports whether two URLs have the same scheme, host and port.
func sameOrigin(a, b *url.URL) bool {
	return a.Scheme == b.Scheme && strings.EqualFold(a.Hostname(), b.Hostname()) && port(a) == port(b)
}

func port(u *url.URL) string {
	if p := u.Port(); p != "" {
		return p
	}
	return map[string]string{"http": "80", "https": "443"}[u.Scheme]
}
