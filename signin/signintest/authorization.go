package signintest

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
)

// authorization is the authorization server.
func (w *World) authorization() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /.well-known/oauth-authorization-server", func(rw http.ResponseWriter, _ *http.Request) {
		doc := map[string]any{
			"issuer": w.Auth.URL, "authorization_endpoint": w.Auth.URL + "/authorize?tenant=1", "token_endpoint": w.Auth.URL + "/token",
			"revocation_endpoint": w.Auth.URL + "/revoke", "response_types_supported": []string{"code"}, "code_challenge_methods_supported": []string{"S256"},
			"authorization_response_iss_parameter_supported": true,
		}
		w.mu.Lock()
		doc["token_endpoint_auth_methods_supported"] = w.Methods
		if !w.NoRegister {
			doc["registration_endpoint"] = w.Auth.URL + "/register"
		}
		w.mu.Unlock()
		w.edited(rw, doc, func(w *World) func(map[string]any) { return w.EditIssuer })
	})
	mux.HandleFunc("POST /register", w.register)
	mux.HandleFunc("GET /authorize", w.authorize)
	mux.HandleFunc("POST /token", w.token)
	mux.HandleFunc("POST /revoke", func(rw http.ResponseWriter, r *http.Request) {
		w.mu.Lock()
		defer w.mu.Unlock()
		delete(w.refresh, r.FormValue("token"))
		delete(w.tokens, r.FormValue("token"))
	})
	return mux
}

func (w *World) edited(rw http.ResponseWriter, doc map[string]any, edit func(*World) func(map[string]any)) {
	w.mu.Lock()
	if f := edit(w); f != nil {
		f(doc)
	}
	w.mu.Unlock()
	if to, ok := doc["redirect to"].(string); ok {
		rw.Header().Set("Location", to)
		rw.WriteHeader(http.StatusFound)
		return
	}
	answer(rw, http.StatusOK, doc)
}

func answer(rw http.ResponseWriter, status int, doc any) {
	rw.Header().Set("Content-Type", "application/json")
	rw.WriteHeader(status)
	json.NewEncoder(rw).Encode(doc)
}

// name is a new name for something. w.mu is held.
func (w *World) name(what string) string {
	w.next++
	return fmt.Sprintf("%s-secret-%d-%d", what, w.next, time.Now().UnixNano())
}

func (w *World) register(rw http.ResponseWriter, r *http.Request) {
	w.mu.Lock()
	defer w.mu.Unlock()
	var in map[string]any
	if json.NewDecoder(r.Body).Decode(&in) != nil {
		w.Faults = append(w.Faults, "the registration is not JSON")
	}
	w.Registers = append(w.Registers, in)
	id := w.name("client")
	out := map[string]any{"client_id": id, "redirect_uris": in["redirect_uris"], "token_endpoint_auth_method": in["token_endpoint_auth_method"], "client_secret_expires_at": 0}
	w.Clients[id] = ""
	if in["token_endpoint_auth_method"] != "none" {
		w.Clients[id] = w.name("clientsecret")
		out["client_secret"] = w.Clients[id]
	}
	if list, ok := in["redirect_uris"].([]any); ok && len(list) == 1 {
		w.redirs[id], _ = list[0].(string)
	}
	answer(rw, http.StatusCreated, out)
}

// authorize is the page at which the person agrees, at once.
func (w *World) authorize(rw http.ResponseWriter, r *http.Request) {
	w.mu.Lock()
	defer w.mu.Unlock()
	q := r.URL.Query()
	for key, ok := range map[string]bool{
		"tenant": q.Get("tenant") == "1", "response_type": q.Get("response_type") == "code", "state": len(q.Get("state")) >= 16, "scope": q.Get("scope") != "",
		"code_challenge": len(q.Get("code_challenge")) == 43, "code_challenge_method": q.Get("code_challenge_method") == "S256",
	} {
		if !ok {
			w.Faults = append(w.Faults, "authorize: "+key+" is "+q.Get(key))
		}
	}
	if _, known := w.Clients[q.Get("client_id")]; !known {
		http.Error(rw, "unknown client", http.StatusBadRequest)
		return
	}
	back, err := url.Parse(q.Get("redirect_uri"))
	if want := w.redirs[q.Get("client_id")]; err != nil || want != "" && want != q.Get("redirect_uri") {
		http.Error(rw, "another redirect than the registered one", http.StatusBadRequest)
		return
	}
	code := w.name("code")
	w.codes[code] = grant{
		client: q.Get("client_id"), redirect: q.Get("redirect_uri"), challenge: q.Get("code_challenge"),
		resource: q.Get("resource"), scope: q.Get("scope"), until: time.Now().Add(time.Minute),
	}
	params := map[string]string{"code": code, "state": q.Get("state"), "iss": w.Auth.URL}
	if w.EditCallback != nil {
		w.EditCallback(params)
	}
	values := url.Values{}
	for k, v := range params {
		values.Set(k, v)
	}
	back.RawQuery = values.Encode()
	rw.Header().Set("Location", back.String())
	rw.WriteHeader(http.StatusFound)
}

func (w *World) token(rw http.ResponseWriter, r *http.Request) {
	w.mu.Lock()
	defer w.mu.Unlock()
	refuse := func(code string) {
		answer(rw, http.StatusBadRequest, map[string]any{"error": code, "error_description": "you sent " + r.FormValue("refresh_token") + r.FormValue("code")})
	}
	if w.TokenStatus != 0 {
		http.Error(rw, "broken", w.TokenStatus)
		return
	}
	client, secret, basic := r.BasicAuth()
	if basic {
		client, _ = url.QueryUnescape(client)
		secret, _ = url.QueryUnescape(secret)
	} else {
		client, secret = r.FormValue("client_id"), r.FormValue("client_secret")
	}
	if want, ok := w.Clients[client]; !ok || secret != want || basic && !slices.Contains(w.Methods, "client_secret_basic") {
		refuse("invalid_client")
		return
	}
	var g grant
	var ok bool
	switch r.FormValue("grant_type") {
	case "authorization_code":
		g, ok = w.codes[r.FormValue("code")]
		delete(w.codes, r.FormValue("code"))
		sum := sha256.Sum256([]byte(r.FormValue("code_verifier")))
		ok = ok && base64.RawURLEncoding.EncodeToString(sum[:]) == g.challenge && g.redirect == r.FormValue("redirect_uri")
	case "refresh_token":
		old := r.FormValue("refresh_token")
		g, ok = w.refresh[old]
		if w.used[old] {
			w.Faults = append(w.Faults, "a refresh token was used twice")
			clear(w.refresh)
			clear(w.tokens)
			ok = false
		}
		delete(w.refresh, old)
		w.used[old] = ok || w.used[old]
	}
	if !ok || g.client != client || g.resource != r.FormValue("resource") {
		refuse("invalid_grant")
		return
	}
	g.until = time.Now().Add(w.Lifetime)
	out := map[string]any{"access_token": w.name("access"), "token_type": "Bearer", "expires_in": int(w.Lifetime / time.Second), "scope": strings.TrimSpace(g.scope)}
	w.tokens[out["access_token"].(string)] = g
	if !w.NoRefresh {
		out["refresh_token"] = w.name("refresh")
		w.refresh[out["refresh_token"].(string)] = g
	}
	answer(rw, http.StatusOK, out)
}
