package config

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/tools-in-shell/tis/catalog"
)

// serverKeys are the keys of a server's entry that are read; others are
// warnings, because other programs put theirs there.
var serverKeys = []string{"type", "transport", "command", "args", "env", "cwd", "url", "headers", "oauth", "roots", "load", "description", "startup_timeout_seconds", "timeout_seconds"}

func (r *reader) servers(raw json.RawMessage, path string) error {
	if raw == nil {
		return nil
	}
	entries, order, err := r.members(raw, path)
	if err != nil {
		return err
	}
	for _, name := range order {
		at := path + "." + name
		if name == "" || strings.ContainsAny(name, "\"'`$\\/") || strings.ContainsFunc(name, func(c rune) bool { return c <= ' ' || c == 0x7f }) {
			return r.fault(at, fmt.Sprintf("the server name %q holds a character that a command can't have; want letters, digits, - _ .", name))
		}
		for _, have := range r.cfg.Servers {
			if strings.EqualFold(catalog.Shown(have.Name), catalog.Shown(name)) {
				return r.fault(at, fmt.Sprintf("the server names %s and %s are typed alike; rename one", have.Name, name))
			}
		}
		s, err := r.server(name, entries[name], at)
		if err != nil {
			return err
		}
		r.cfg.Servers = append(r.cfg.Servers, s)
	}
	return nil
}

func (r *reader) server(name string, raw json.RawMessage, path string) (Server, error) {
	s := Server{Name: name}
	_, order, err := r.members(raw, path)
	if err != nil {
		return s, err
	}
	for _, key := range order {
		if !slices.Contains(serverKeys, key) {
			r.cfg.Warnings = append(r.cfg.Warnings, fmt.Sprintf("%s: %s.%s is not used by tis%s", r.file, path, key, nearSpelling(key, serverKeys)))
		}
	}
	var in struct {
		Command      string            `json:"command"`
		Args         []string          `json:"args"`
		Env          map[string]string `json:"env"`
		Cwd          string            `json:"cwd"`
		URL          string            `json:"url"`
		Headers      map[string]string `json:"headers"`
		OAuth        json.RawMessage   `json:"oauth"`
		Roots        bool              `json:"roots"`
		Load         string            `json:"load"`
		Description  string            `json:"description"`
		StartSeconds float64           `json:"startup_timeout_seconds"`
		CallSeconds  float64           `json:"timeout_seconds"`
	}
	if err := r.decode(raw, path, &in); err != nil {
		return s, err
	}
	switch {
	case in.Command == "" && in.URL == "":
		return s, r.fault(path, "it has neither command nor url; want one of them")
	case in.Command != "" && in.URL != "":
		return s, r.fault(path, "it has both command and url; want one of them")
	case in.Load != "" && in.Load != "start" && in.Load != "on_demand":
		return s, r.fault(path+".load", fmt.Sprintf("it is %q; want start or on_demand", in.Load))
	case in.StartSeconds < 0 || in.CallSeconds < 0:
		return s, r.fault(path, "a time-out is below zero; want seconds")
	}
	s.Description, s.OnDemand = in.Description, in.Load == "on_demand"
	s.StartTimeout = time.Duration(in.StartSeconds * float64(time.Second))
	s.CallTimeout = time.Duration(in.CallSeconds * float64(time.Second))
	expand := func(text string) string {
		out, err := r.expand(text)
		if err != nil && s.Err == "" {
			s.Err = err.Error()
		}
		return out
	}
	s.Command, s.URL = expand(in.Command), expand(in.URL)
	for _, a := range in.Args {
		s.Args = append(s.Args, expand(a))
	}
	if s.OAuth, err = r.oauth(in.OAuth, path+".oauth", expand); err != nil {
		return s, err
	}
	s.Env, s.Headers = expandAll(in.Env, expand), expandAll(in.Headers, expand)
	if in.Roots {
		if s.Roots, err = workingFolder(); err != nil {
			return s, r.fault(path+".roots", err.Error())
		}
	}
	if in.Cwd != "" {
		if s.Dir = expand(in.Cwd); !filepath.IsAbs(s.Dir) {
			s.Dir = filepath.Join(r.dir, s.Dir)
		}
	}
	return s, nil
}

// workingFolder is the only root that servers are told of.
func workingFolder() ([]string, error) {
	dir, err := filepath.Abs(".")
	return []string{dir}, err
}

func expandAll(in map[string]string, expand func(string) string) map[string]string {
	if in == nil {
		return nil
	}
	out := make(map[string]string, len(in))
	for _, k := range sortedKeys(in) {
		out[k] = expand(in[k])
	}
	return out
}

// expand replaces ${VAR} and ${VAR:-default}. The error names the variable and
// shows no value.
func (r *reader) expand(text string) (string, error) {
	var b strings.Builder
	for {
		before, rest, found := strings.Cut(text, "${")
		b.WriteString(before)
		if !found {
			return b.String(), nil
		}
		inner, after, closed := strings.Cut(rest, "}")
		if !closed {
			b.WriteString("${" + rest)
			return b.String(), nil
		}
		name, fallback, hasFallback := strings.Cut(inner, ":-")
		v, ok := r.getenv(strings.TrimPrefix(name, "env:"))
		switch {
		case ok && (v != "" || !hasFallback):
			b.WriteString(v)
		case hasFallback:
			b.WriteString(fallback)
		default:
			return "", fmt.Errorf("the environment variable %s is not set; set it, or write ${%s:-default}", name, name)
		}
		text = after
	}
}
