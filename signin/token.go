package signin

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// tokens is an answer of a token endpoint.
type tokens struct {
	access, refresh string
	lifetime        time.Duration // 0: it does not say
	scopes          []string      // nil: as asked for
}

// maxToken is the length of the longest token, in bytes: it has to fit into a
// request's header.
const maxToken = 32 << 10

// tokens asks a token endpoint. what names the request in errors.
func (w *web) tokens(ctx context.Context, endpoint string, id identity, form url.Values) (*tokens, error) {
	header := http.Header{}
	id.show(form, header)
	status, body, err := w.post(ctx, endpoint, "application/x-www-form-urlencoded", form.Encode(), header)
	if err != nil {
		return nil, err
	}
	if status != http.StatusOK {
		err := refusalOf(status, body)
		// Some repeat what they refuse.
		var r *refusal
		for _, key := range []string{"code", "refresh_token", "client_secret", "code_verifier"} {
			if v := form.Get(key); v != "" && errors.As(err, &r) {
				r.code, r.description = strings.ReplaceAll(r.code, v, "***"), strings.ReplaceAll(r.description, v, "***")
			}
		}
		if errors.As(err, &r) && id.Secret != "" {
			r.description = strings.ReplaceAll(r.description, id.Secret, "***")
		}
		return nil, err
	}
	var in struct {
		Access  string          `json:"access_token"`
		Type    string          `json:"token_type"`
		Refresh string          `json:"refresh_token"`
		Expires json.RawMessage `json:"expires_in"`
		Scope   *string         `json:"scope"`
	}
	switch err := json.Unmarshal(body, &in); {
	case err != nil:
		return nil, errors.New("the answer of the token endpoint cannot be read")
	case in.Access == "":
		return nil, errors.New("the answer of the token endpoint has no token")
	case in.Type != "" && !strings.EqualFold(in.Type, "bearer"):
		return nil, errors.New("the token is not a bearer's token, the only kind that tis can use")
	case !fits(in.Access), in.Refresh != "" && !fits(in.Refresh):
		return nil, errors.New("the token holds what a header cannot carry, or is too long")
	}
	out := &tokens{access: in.Access, refresh: in.Refresh}
	var seconds json.Number // some give it as a string
	if json.Unmarshal(in.Expires, &seconds) == nil || json.Unmarshal([]byte(strings.Trim(string(in.Expires), `"`)), &seconds) == nil {
		if n, err := seconds.Float64(); err == nil && n > 0 {
			out.lifetime = time.Duration(min(n, 10*365*24*3600) * float64(time.Second))
		}
	}
	if in.Scope != nil {
		out.scopes = strings.Fields(*in.Scope)
	}
	return out, nil
}

// fits reports whether a token can stand in a header.
func fits(token string) bool {
	return len(token) <= maxToken && !strings.ContainsFunc(token, func(r rune) bool { return r <= ' ' || r > '~' })
}
