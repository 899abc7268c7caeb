package signin

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"syscall"
	"time"
)

const (
	maxDocument = 1_000_000        // of one answer, in bytes
	askTime     = 20 * time.Second // for one request and its answer
)

// web makes the requests of one server's sign-in.
type web struct {
	server *url.URL
	direct *http.Transport // dials itself, and looks where to
	proxy  *http.Transport // dials a proxy
}

func newWeb(server *url.URL) *web {
	base := http.DefaultTransport.(*http.Transport)
	w := &web{server: server, direct: base.Clone(), proxy: base.Clone()}
	w.direct.Proxy = nil
	w.direct.DialContext = (&net.Dialer{Timeout: askTime, Control: w.allowed}).DialContext
	return w
}

func (w *web) close() {
	w.direct.CloseIdleConnections()
	w.proxy.CloseIdleConnections()
}

// allowed keeps a public server from pointing tis at this machine, or at the
// addresses that clouds keep their secrets on.
func (w *web) allowed(_, address string, _ syscall.RawConn) error {
	if loopback(w.server) {
		return nil
	}
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return err
	}
	ip, err := netip.ParseAddr(host)
	if err != nil {
		return err
	}
	if ip = ip.Unmap(); ip.IsLoopback() || ip.IsLinkLocalUnicast() || ip.IsUnspecified() || ip.IsMulticast() {
		return fmt.Errorf("the address %s is not one that a server elsewhere may send tis to", ip)
	}
	return nil
}

// RoundTrip sends one request, bounded.
func (w *web) RoundTrip(req *http.Request) (*http.Response, error) {
	if err := w.reachable(req.URL); err != nil {
		return nil, err
	}
	transport := w.direct
	if p, err := http.ProxyFromEnvironment(req); err == nil && p != nil {
		transport = w.proxy
	}
	ctx, cancel := context.WithTimeoutCause(req.Context(), askTime, fmt.Errorf("no answer in %v", askTime))
	resp, err := transport.RoundTrip(req.WithContext(ctx))
	if err != nil {
		cancel()
		return nil, err
	}
	resp.Body = &bounded{resp.Body, maxDocument, cancel}
	return resp, nil
}

// reachable refuses what must not be asked.
func (w *web) reachable(u *url.URL) error {
	switch {
	case u.User != nil:
		return fmt.Errorf("the url of %s holds a user name", u.Host)
	case u.Scheme == "https", u.Scheme == "http" && loopback(u) && loopback(w.server):
		return nil
	}
	return fmt.Errorf("%s://%s is not https", u.Scheme, u.Host)
}

// bounded is an answer's body that ends with an error when it is too long.
type bounded struct {
	body io.ReadCloser
	left int
	done func()
}

var errTooLong = errors.New("the answer is over 1 MB")

func (b *bounded) Read(p []byte) (int, error) {
	n, err := b.body.Read(p)
	if b.left -= n; b.left < 0 {
		return 0, errTooLong
	}
	return n, err
}

func (b *bounded) Close() error {
	defer b.done()
	return b.body.Close()
}

// reader follows redirects within the host.
func (w *web) reader() *http.Client {
	return &http.Client{Transport: w, CheckRedirect: func(req *http.Request, via []*http.Request) error {
		switch {
		case !sameOrigin(req.URL, via[0].URL):
			return fmt.Errorf("%s redirects to %s, which is not followed", via[0].URL.Host, req.URL.Host)
		case len(via) > 5:
			return fmt.Errorf("%s redirects again and again", req.URL.Host)
		}
		return nil
	}}
}

// sender follows no redirect: what it sends is for one address.
func (w *web) sender() *http.Client {
	return &http.Client{Transport: w, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
}

// post sends a form or a document and reads the answer.
func (w *web) post(ctx context.Context, to, kind, body string, header http.Header) (int, []byte, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, to, strings.NewReader(body))
	if err != nil {
		return 0, nil, errors.New("the address is not a url")
	}
	for k, v := range header {
		req.Header[k] = v
	}
	req.Header.Set("Content-Type", kind)
	req.Header.Set("Accept", "application/json")
	resp, err := w.sender().Do(req)
	if err != nil {
		return 0, nil, bare(err)
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	if err != nil {
		return 0, nil, bare(err)
	}
	if resp.StatusCode >= 300 && resp.StatusCode < 400 {
		return 0, nil, errors.New("it redirects, which is not followed")
	}
	return resp.StatusCode, answer, nil
}

// bare is an error without the URL of its request, which may hold what nobody
// should read.
func bare(err error) error {
	var u *url.Error
	if errors.As(err, &u) {
		return u.Err
	}
	return err
}
