package mcpsource

import (
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// secrets takes the values that a server's config holds out of texts that
// people and scripts see.
type secrets struct {
	mu       sync.Mutex
	values   []string
	replacer *strings.Replacer
}

// A value with one of these words in its name is taken out however short it is.
var secretName = regexp.MustCompile(`(?i)token|secret|passw|passphrase|passwd|credential|auth|cookie|api[-_]?key|access[-_]?key|private[-_]?key|(^|[-_])key$|(^|[-_])pat$`)

// The shortest values that are taken out: a shorter one is a word like "info",
// or would tear holes in every text.
const (
	shortSecret = 3
	shortValue  = 6
)

func newSecrets(cfg ServerConfig) *secrets {
	values := secretsOf(cfg)
	return &secrets{values: values, replacer: newReplacer(values)}
}

// maxSecrets is how many values are kept in mind. A token that was refreshed
// long ago is forgotten.
const maxSecrets = 1000

// add makes one more value secret.
func (s *secrets) add(value string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if value == "" || slices.Contains(s.values, value) {
		return
	}
	if s.values = append(s.values, value); len(s.values) > maxSecrets {
		s.values = slices.Delete(s.values, maxSecrets/2, maxSecrets)
	}
	s.replacer = newReplacer(s.values)
}

// secretsOf are the values that the config holds.
func secretsOf(cfg ServerConfig) []string {
	values := map[string]bool{}
	add := func(name, value string) {
		least := shortValue
		if secretName.MatchString(name) {
			least = shortSecret
		}
		if len(value) >= least {
			values[value] = true
		}
	}
	for k, v := range cfg.Env {
		add(k, v)
	}
	for k, v := range cfg.Headers {
		add(k, v)
		if _, token, ok := strings.Cut(v, " "); ok { // Bearer TOKEN
			add(k, token)
		}
	}
	for i, arg := range cfg.Args {
		name, value, ok := strings.Cut(arg, "=")
		if ok && secretName.MatchString(name) { // --token=VALUE
			add(name, value)
		}
		name, value, ok = strings.Cut(arg, ":")
		if ok && secretName.MatchString(name) { // --header "Authorization: Bearer TOKEN"
			for word := range strings.FieldsSeq(value) {
				if word != "Bearer" && word != "Basic" {
					add(name, word)
				}
			}
		}
		if i > 0 && strings.HasPrefix(cfg.Args[i-1], "-") && secretName.MatchString(cfg.Args[i-1]) { // --token VALUE
			add(cfg.Args[i-1], arg)
		}
	}
	add("secret", cfg.OAuth.Secret)
	if u, err := url.Parse(cfg.URL); err == nil && cfg.URL != "" {
		if p, ok := u.User.Password(); ok {
			add("password", p)
		}
		for k, vs := range u.Query() {
			for _, v := range vs {
				add(k, v)
				add(k, url.QueryEscape(v))
			}
		}
	}
	return slices.Collect(maps.Keys(values))
}

func (s *secrets) redact(text string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.replacer.Replace(text)
}
