package signin

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"time"
)

// Source gives the token for one server, and refreshes it. It is safe for
// concurrent use.
type Source struct {
	store  *Store
	server Server
}

// Source is the source of a server's token; nil when the server's URL is none
// that a token may be sent to.
func (st *Store) Source(s Server) *Source {
	if _, err := s.address(); err != nil {
		return nil
	}
	return &Source{st, s}
}

// Token is the token to send now, refreshed when its end is near; "" when tis
// is not signed in to the server.
func (src *Source) Token(ctx context.Context) (string, error) {
	r, err := src.store.read(src.server.URL)
	if err != nil || r == nil || !r.of(src.server) || r.Ended != "" {
		return "", err
	}
	now := time.Now()
	if !r.due(now) || r.Refresh == "" && !r.expired(now) {
		return r.Access, nil
	}
	return src.renew(ctx, r.Access, false)
}

// Renew is a token in place of one that the server refused. ErrSignIn: there
// can be none without a person.
func (src *Source) Renew(ctx context.Context, refused string) (string, error) {
	return src.renew(ctx, refused, true)
}

// renew refreshes a token, unless somebody else just did. When the old one was
// not refused and is still good, a failure that may pass leaves it in use.
func (src *Source) renew(ctx context.Context, old string, refused bool) (string, error) {
	unlock, err := src.store.lock(ctx, src.server.URL)
	if err != nil {
		return "", err
	}
	defer unlock()
	r, err := src.store.read(src.server.URL)
	switch now := time.Now(); {
	case err != nil:
		return "", err
	case r == nil || !r.of(src.server) || r.Ended != "":
		return "", ErrSignIn
	case r.Access != old && !r.expired(now):
		return r.Access, nil
	case r.Refresh == "":
		return "", src.end(r, "the token is no longer accepted, and there is none to refresh it with")
	}
	t, err := src.refresh(ctx, r)
	var no *refusal
	switch {
	case errors.As(err, &no) && no.final():
		return "", src.end(r, no.Error())
	case err != nil && !refused && !r.expired(time.Now()):
		return r.Access, nil
	case err != nil:
		return "", fmt.Errorf("refreshing its token at %s: %w", shown(r.Issuer), err)
	}
	r.take(t, time.Now())
	return r.Access, src.store.write(r)
}

// refresh asks for new tokens, where the old ones came from.
func (src *Source) refresh(ctx context.Context, r *record) (*tokens, error) {
	u, err := src.server.address()
	if err != nil {
		return nil, err
	}
	w := newWeb(u)
	defer w.close()
	return w.tokens(ctx, r.Token, r.client(src.server), url.Values{
		"grant_type": {"refresh_token"}, "refresh_token": {r.Refresh}, "resource": {r.Resource},
	})
}

// end marks a sign-in as over: its tokens are dropped.
func (src *Source) end(r *record, why string) error {
	r.Access, r.Refresh, r.Ended = "", "", why
	return errors.Join(ErrSignIn, src.store.write(r))
}

// Miss notes rights that the server wants and the token lacks; the next sign-in
// asks for them.
func (src *Source) Miss(ctx context.Context, scopes []string) error {
	if len(scopes) == 0 || len(scopes) > 100 {
		return nil
	}
	unlock, err := src.store.lock(ctx, src.server.URL)
	if err != nil {
		return err
	}
	defer unlock()
	r, err := src.store.read(src.server.URL)
	if err != nil || r == nil || slices.Equal(r.Wanted, scopes) {
		return err
	}
	r.Wanted = scopes
	return src.store.write(r)
}

// State is a sign-in, for people.
type State struct {
	In        bool
	Issuer    string
	Expires   time.Time // of the token; zero when not known
	Renewable bool      // a new token comes without a person
	Ended     string    // why it is over; empty when it is not, or there was none
}

func (r *record) state(now time.Time) State {
	s := State{Issuer: r.Issuer, Expires: r.Expires, Renewable: r.Refresh != "", Ended: r.Ended}
	if s.In = r.Ended == "" && (s.Renewable || !r.expired(now)); !s.In && s.Ended == "" {
		s.Ended = "the token has expired"
	}
	return s
}

// State is how it stands with a server's sign-in.
func (st *Store) State(s Server) (State, error) {
	r, err := st.read(s.URL)
	switch {
	case err != nil || r == nil:
		return State{}, err
	case !r.of(s):
		return State{Ended: "it was made with another client"}, nil
	}
	return r.state(time.Now()), nil
}

// Logout forgets a server's sign-in, and tells the authorization server so when
// that has a place for it. found: there was one; the error may be about the
// telling only.
func (st *Store) Logout(ctx context.Context, s Server) (found bool, err error) {
	unlock, err := st.lock(ctx, s.URL)
	if err != nil {
		return false, err
	}
	defer unlock()
	r, damaged := st.read(s.URL)
	if err := st.remove(s.URL); err != nil {
		return true, err
	}
	if damaged != nil {
		return true, nil
	}
	if r == nil {
		return false, nil
	}
	return true, r.revoke(ctx, s)
}

// revoke makes the tokens worthless.
func (r *record) revoke(ctx context.Context, s Server) error {
	token, hint := r.Refresh, "refresh_token"
	if token == "" {
		token, hint = r.Access, "access_token"
	}
	u, err := s.address()
	if r.Revocation == "" || token == "" || err != nil {
		return nil
	}
	w := newWeb(u)
	defer w.close()
	form, header := url.Values{"token": {token}, "token_type_hint": {hint}}, http.Header{}
	r.client(s).show(form, header)
	status, _, err := w.post(ctx, r.Revocation, "application/x-www-form-urlencoded", form.Encode(), header)
	if err == nil && status != http.StatusOK {
		err = &refusal{status: status}
	}
	if err != nil {
		return fmt.Errorf("%s could not be told to forget the token: %w", shown(r.Issuer), err)
	}
	return nil
}
