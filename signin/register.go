package signin

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/oauthex"
)

// identity is a client as the token endpoint knows it.
type identity struct {
	ID     string `json:"id"`
	Secret string `json:"secret,omitempty"` // of a registered client; a configured one's stays in the config
	Method string `json:"method"`           // none, client_secret_post or client_secret_basic
}

// The ways to show who the client is, best first.
var methods = []string{"none", "client_secret_post", "client_secret_basic"}

// identify takes the configured client, or registers one for this redirect.
func (w *web) identify(ctx context.Context, c Client, p *place, redirect string) (identity, error) {
	if c.ID != "" {
		id := identity{ID: c.ID, Secret: c.Secret, Method: "none"}
		if c.Secret != "" {
			id.Method = pick(methods[1:], p.meta.TokenEndpointAuthMethodsSupported, "client_secret_basic")
		}
		return id, nil
	}
	at := p.meta.RegistrationEndpoint
	if at == "" {
		return identity{}, errors.New(`it registers no clients: get a client id from it and write it into the config: "oauth": {"client_id": "..."}`)
	}
	method := pick(methods, p.meta.TokenEndpointAuthMethodsSupported, "none")
	body, err := json.Marshal(oauthex.ClientRegistrationMetadata{
		ClientName: "tis", ApplicationType: "native", RedirectURIs: []string{redirect}, Scope: strings.Join(p.scopes, " "),
		GrantTypes: []string{"authorization_code", "refresh_token"}, ResponseTypes: []string{"code"}, TokenEndpointAuthMethod: method,
	})
	if err != nil {
		return identity{}, err
	}
	status, answer, err := w.post(ctx, at, "application/json", string(body), nil)
	if err != nil {
		return identity{}, fmt.Errorf("registering a client: %w", err)
	}
	if status != http.StatusCreated && status != http.StatusOK {
		return identity{}, fmt.Errorf("registering a client: %w", refusalOf(status, answer))
	}
	var got struct {
		ID     string `json:"client_id"`
		Secret string `json:"client_secret"`
		Method string `json:"token_endpoint_auth_method"`
	}
	if json.Unmarshal(answer, &got) != nil || got.ID == "" {
		return identity{}, errors.New("registering a client: the answer has no client id")
	}
	id := identity(got)
	switch {
	case id.Secret == "":
		id.Method = "none"
	case !slices.Contains(methods[1:], id.Method):
		id.Method = pick(methods[1:], []string{method}, "client_secret_basic")
	}
	return id, nil
}

// pick is the first of the ways that is supported.
func pick(ways, supported []string, otherwise string) string {
	for _, w := range ways {
		if slices.Contains(supported, w) {
			return w
		}
	}
	return otherwise
}

// show adds to a request who the client is.
func (id identity) show(form url.Values, header http.Header) {
	switch id.Method {
	case "client_secret_basic":
		req := http.Request{Header: header}
		req.SetBasicAuth(url.QueryEscape(id.ID), url.QueryEscape(id.Secret))
	case "client_secret_post":
		form.Set("client_id", id.ID)
		form.Set("client_secret", id.Secret)
	default:
		form.Set("client_id", id.ID)
	}
}

// refusal is an error that an authorization server answered.
type refusal struct {
	code        string // as the standard names it; empty when it gave none
	description string
	status      int
}

func (r *refusal) Error() string {
	switch {
	case r.code == "" && r.status == 0:
		return "it refused without a reason"
	case r.code == "":
		return fmt.Sprintf("it answered %d %s", r.status, http.StatusText(r.status))
	case r.description != "":
		return fmt.Sprintf("it refused: %s: %s", r.code, r.description)
	}
	return "it refused: " + r.code
}

// final reports whether the same request can never succeed.
func (r *refusal) final() bool {
	return r.status >= 400 && r.status < 500 && r.status != http.StatusTooManyRequests && r.status != http.StatusRequestTimeout
}

// refusalOf reads such an answer.
func refusalOf(status int, body []byte) error {
	var in struct {
		Error       string `json:"error"`
		Description string `json:"error_description"`
	}
	json.Unmarshal(body, &in) // what cannot be read says nothing
	return &refusal{clip(in.Error, 60), clip(in.Description, 300), status}
}
