package config

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// oauthKeys are the keys of a server's oauth entry. Other hosts write some of
// them as one word.
var oauthKeys = []string{"client_id", "client_secret", "scopes", "callback_port", "clientId", "clientSecret", "scope", "callbackPort"}

// oauth reads how to sign in to a server. Some hosts write false for "never".
func (r *reader) oauth(raw json.RawMessage, path string, expand func(string) string) (OAuth, error) {
	if raw == nil || string(raw) == "null" || string(raw) == "false" {
		return OAuth{}, nil
	}
	_, order, err := r.members(raw, path)
	if err != nil {
		return OAuth{}, err
	}
	for _, key := range order {
		if !slices.Contains(oauthKeys, key) {
			r.cfg.Warnings = append(r.cfg.Warnings, fmt.Sprintf("%s: %s.%s is not used by tis%s", r.file, path, key, nearSpelling(key, oauthKeys)))
		}
	}
	var in struct {
		ID        string          `json:"client_id"`
		ID2       string          `json:"clientId"`
		Secret    string          `json:"client_secret"`
		Secret2   string          `json:"clientSecret"`
		Scopes    json.RawMessage `json:"scopes"`
		Scopes2   json.RawMessage `json:"scope"`
		Callback  int             `json:"callback_port"`
		Callback2 int             `json:"callbackPort"`
	}
	if err := r.decode(raw, path, &in); err != nil {
		return OAuth{}, err
	}
	o := OAuth{ClientID: expand(in.ID + in.ID2), ClientSecret: expand(in.Secret + in.Secret2), CallbackPort: in.Callback + in.Callback2}
	switch {
	case in.ID != "" && in.ID2 != "", in.Secret != "" && in.Secret2 != "", in.Scopes != nil && in.Scopes2 != nil, in.Callback != 0 && in.Callback2 != 0:
		return o, r.fault(path, "a key is given in both of its spellings; want one of them")
	case o.ClientSecret != "" && o.ClientID == "":
		return o, r.fault(path, "it has a client_secret without a client_id")
	case o.CallbackPort < 0 || o.CallbackPort > 65535:
		return o, r.fault(path+".callback_port", "it is no port; want 1 to 65535")
	}
	for key, list := range map[string]json.RawMessage{"scopes": in.Scopes, "scope": in.Scopes2} {
		if list == nil {
			continue
		}
		var text string
		if json.Unmarshal(list, &text) == nil { // one text with spaces, as the protocol has it
			o.Scopes = strings.Fields(text)
			continue
		}
		if err := r.decode(list, path+"."+key, &o.Scopes); err != nil {
			return o, err
		}
	}
	return o, nil
}
