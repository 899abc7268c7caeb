package signin

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"
)

// Login signs in to a server. show gets the address at which the person
// agrees; Login then waits for the browser to come back, as long as ctx. What
// was signed in before is replaced only when all went well.
func (st *Store) Login(ctx context.Context, s Server, show func(address string)) (State, error) {
	u, err := s.address()
	if err != nil {
		return State{}, err
	}
	w := newWeb(u)
	defer w.close()
	p, err := w.discover(ctx, s)
	if err != nil {
		return State{}, err
	}
	r, err := st.agree(ctx, w, s, p, show)
	if err != nil {
		return State{}, fmt.Errorf("its authorization server %s: %w", shown(p.meta.Issuer), err)
	}
	unlock, err := st.lock(ctx, s.URL)
	if err != nil {
		return State{}, err
	}
	defer unlock()
	if err := st.write(r); err != nil {
		return State{}, err
	}
	return r.state(time.Now()), nil
}

// agree runs the code flow.
func (st *Store) agree(ctx context.Context, w *web, s Server, p *place, show func(string)) (*record, error) {
	back, err := listen(s)
	if err != nil {
		return nil, err
	}
	defer back.close()
	id, err := w.identify(ctx, s.Client, p, back.redirect)
	if err != nil {
		return nil, err
	}
	scopes := st.scopes(s, p)
	verifier, state := rand.Text()+rand.Text(), rand.Text()
	address, err := authorization(p, id, back.redirect, scopes, verifier, state)
	if err != nil {
		return nil, err
	}
	back.expect(state)
	show(address)
	code, err := back.wait(ctx, p)
	if err != nil {
		return nil, err
	}
	t, err := w.tokens(ctx, p.meta.TokenEndpoint, id, url.Values{
		"grant_type": {"authorization_code"}, "code": {code}, "redirect_uri": {back.redirect},
		"code_verifier": {verifier}, "resource": {p.resource},
	})
	if err != nil {
		return nil, fmt.Errorf("getting the token: %w", err)
	}
	r := &record{
		URL: s.URL, Issuer: p.meta.Issuer, Resource: p.resource, Token: p.meta.TokenEndpoint, Revocation: p.meta.RevocationEndpoint,
		Client: id, Configured: s.Client.ID != "", Scopes: scopes, Since: time.Now(),
	}
	if r.Configured {
		r.Client.Secret = ""
	}
	r.take(t, r.Since)
	return r, nil
}

// scopes are the rights to ask for: the config's or the server's, and those
// that the server has missed since the last sign-in.
func (st *Store) scopes(s Server, p *place) []string {
	out := slices.Clone(p.scopes)
	if s.Client.Scopes != nil {
		out = slices.Clone(s.Client.Scopes)
	}
	if old, err := st.read(s.URL); err == nil && old != nil && old.Issuer == p.meta.Issuer && len(old.Wanted) > 0 {
		for _, scope := range slices.Concat(old.Scopes, old.Wanted) {
			if !slices.Contains(out, scope) {
				out = append(out, scope)
			}
		}
	}
	return out
}

// authorization is the address at which the person agrees.
func authorization(p *place, id identity, redirect string, scopes []string, verifier, state string) (string, error) {
	u, err := url.Parse(p.meta.AuthorizationEndpoint)
	if err != nil {
		return "", errors.New("its authorization_endpoint is not a url")
	}
	challenge := sha256.Sum256([]byte(verifier))
	q := u.Query()
	for k, v := range map[string]string{
		"response_type": "code", "client_id": id.ID, "redirect_uri": redirect, "state": state, "resource": p.resource,
		"code_challenge": base64.RawURLEncoding.EncodeToString(challenge[:]), "code_challenge_method": "S256",
	} {
		q.Set(k, v)
	}
	if len(scopes) > 0 {
		q.Set("scope", strings.Join(scopes, " "))
	}
	u.RawQuery, u.Fragment = q.Encode(), ""
	return u.String(), nil
}
