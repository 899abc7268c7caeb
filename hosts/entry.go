package hosts

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
)

// entry is a server in a host's list.
type entry struct {
	name string
	keys []string // in their order
	body map[string]json.RawMessage
}

func newEntry(name string, raw []byte) (entry, error) {
	e := entry{name: name, body: map[string]json.RawMessage{}}
	if err := json.Unmarshal(raw, &e.body); err != nil || e.body == nil {
		return e, fmt.Errorf("it is no object")
	}
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.Token()
	for dec.More() {
		key, err := dec.Token()
		if err != nil {
			return e, err
		}
		var skip json.RawMessage
		if err := dec.Decode(&skip); err != nil {
			return e, err
		}
		if s := key.(string); !slices.Contains(e.keys, s) {
			e.keys = append(e.keys, s)
		}
	}
	return e, nil
}

func (e entry) text(key string) string {
	var s string
	json.Unmarshal(e.body[key], &s)
	return s
}

// isTis reports whether the entry is tis itself, and with which config.
func (e entry) isTis() (config string, yes bool) {
	var args []string
	json.Unmarshal(e.body["args"], &args)
	base := strings.TrimSuffix(filepath.Base(filepath.FromSlash(strings.ReplaceAll(e.text("command"), `\`, "/"))), ".exe")
	if len(args) == 0 || args[0] != "serve" || base != "tis" && e.name != "tis" {
		return "", false
	}
	for i, a := range args[:len(args)-1] {
		if a == "-c" || a == "--config" {
			config = args[i+1]
		}
	}
	return config, true
}

// The keys of entries that tis reads too, and those that have no meaning behind
// it: approvals are asked for by tis then.
var (
	carried = []string{"command", "args", "env", "cwd", "url", "headers", "description"}
	dropped = []string{"type", "transport", "autoApprove", "alwaysAllow", "trust", "gallery", "version", "timeout"}
)

// member is a key of the entry that tis.json gets.
type member struct {
	key   string
	value any
}

// moved is a server as tis.json has it.
type moved []member

func (m moved) value() map[string]any {
	out := map[string]any{}
	for _, x := range m {
		out[x.key] = x.value
	}
	return out
}

func (m moved) equal(other map[string]any) bool { return reflect.DeepEqual(m.value(), other) }

// MarshalJSON keeps the order.
func (m moved) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, x := range m {
		if i > 0 {
			b.WriteByte(',')
		}
		k, v := encoded(x.key), encoded(x.value)
		fmt.Fprintf(&b, "%s:%s", k, v)
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

// encoded is a value as JSON, without the escapes for web pages.
func encoded(v any) []byte {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil { // it came from JSON or TOML
		panic(err)
	}
	return bytes.TrimSpace(b.Bytes())
}

// stay is why a server is not moved.
type stay struct{ reason string }

func (s *stay) Error() string { return s.reason }

func stays(format string, args ...any) error { return &stay{fmt.Sprintf(format, args...)} }

// move is the entry as tis.json has it, or the reason why it must stay.
func (h Host) move(e entry, project bool) (moved, error) {
	var out moved
	for _, key := range e.keys {
		raw := e.body[key]
		var v any
		if err := json.Unmarshal(raw, &v); err != nil {
			return nil, err
		}
		switch {
		case key == "disabled" && v == false, key == "enabled" && v == true:
		case key == "disabled", key == "enabled":
			return nil, stays("it is switched off")
		case (key == "type" || key == "transport") && !slices.Contains([]any{"stdio", "http", "streamable-http", "streamableHttp", "streamable_http"}, v):
			return nil, stays("its transport is %s, and tis speaks stdio and streamable HTTP", show(v))
		case key == "url" && h.Name == "gemini" && e.text("type") != "http":
			return nil, stays("its transport is sse, and tis speaks stdio and streamable HTTP")
		case key == "cwd" && !project && !filepath.IsAbs(e.text("cwd")):
			return nil, stays("its cwd is relative to where the host runs")
		case key == "timeout" && h.millis:
			if ms, ok := v.(float64); ok && ms > 0 {
				out = append(out, member{"timeout_seconds", ms / 1000})
			}
		case key == "httpUrl" && h.Name == "gemini":
			out = append(out, member{"url", v})
		case key == "oauth", key == "auth" && h.Name == "cursor":
			o, err := oauth(raw)
			if err != nil {
				return nil, err
			}
			out = append(out, member{"oauth", o})
		case h.toml && codex[key] != nil:
			more, err := codex[key](v)
			if err != nil {
				return nil, err
			}
			out = append(out, more...)
		case slices.Contains(carried, key):
			out = append(out, member{key, v})
		case !slices.Contains(dropped, key):
			return nil, stays("its key %s has no counterpart in tis", show(key))
		}
	}
	return h.settled(out)
}

// settled joins what several keys say about the headers and the environment,
// and writes references as tis does.
func (h Host) settled(in moved) (moved, error) {
	var out moved
	at := map[string]int{}
	for _, m := range in {
		old, twice := at[m.key]
		if !twice {
			at[m.key] = len(out)
			out = append(out, m)
			continue
		}
		a, okA := out[old].value.(map[string]any)
		b, okB := m.value.(map[string]any)
		if !okA || !okB {
			return nil, stays("it says %s twice", m.key)
		}
		both := maps.Clone(a)
		maps.Copy(both, b)
		out[old].value = both
	}
	_, command := at["command"]
	_, url := at["url"]
	if command == url {
		return nil, stays("it has neither a command nor a url alone")
	}
	for i, m := range out {
		if !m.sound() {
			return nil, stays("its %s is not of the kind that tis takes", m.key)
		}
		v, err := h.refs.rewrite(m.value)
		if err != nil {
			return nil, err
		}
		out[i].value = v
	}
	return out, nil
}

// sound reports whether a value is of the kind that a config has.
func (m member) sound() bool {
	text := func(v any) bool {
		switch v.(type) {
		case string, ours:
			return true
		}
		return false
	}
	switch m.key {
	case "command", "url", "cwd", "description":
		return text(m.value)
	case "args":
		list, ok := m.value.([]any)
		return ok && !slices.ContainsFunc(list, func(v any) bool { return !text(v) })
	case "env", "headers":
		table, ok := m.value.(map[string]any)
		for _, v := range table {
			ok = ok && text(v)
		}
		return ok
	case "startup_timeout_seconds", "timeout_seconds":
		n, ok := m.value.(float64)
		return ok && n >= 0
	}
	return true
}

// show is a name of the file in a message.
func show(v any) string {
	s := []rune(fmt.Sprint(v))
	return fmt.Sprintf("%q", string(s[:min(len(s), 40)]))
}

// oauthKeys are the words of hosts for what tis has, in tis's order.
var oauthKeys = []struct {
	ours   string
	theirs []string
}{
	{"client_id", []string{"client_id", "clientId", "CLIENT_ID"}},
	{"client_secret", []string{"client_secret", "clientSecret", "CLIENT_SECRET"}},
	{"scopes", []string{"scopes", "scope"}},
	{"callback_port", []string{"callback_port", "callbackPort"}},
}

func oauth(raw json.RawMessage) (moved, error) {
	var in map[string]any
	if json.Unmarshal(raw, &in) != nil {
		return nil, stays("its oauth is no object")
	}
	var out moved
	for _, k := range oauthKeys {
		for _, name := range k.theirs {
			if v, ok := in[name]; ok {
				out = append(out, member{k.ours, v})
				delete(in, name)
			}
		}
	}
	if in["enabled"] == true {
		delete(in, "enabled")
	}
	for _, key := range slices.Sorted(maps.Keys(in)) {
		return nil, stays("its oauth key %s has no counterpart in tis", show(key))
	}
	return out, nil
}

// codex are Codex's keys that tis says otherwise.
var codex = map[string]func(v any) (moved, error){
	"startup_timeout_sec": func(v any) (moved, error) { return moved{{"startup_timeout_seconds", v}}, nil },
	"startup_timeout_ms": func(v any) (moved, error) {
		ms, ok := v.(float64)
		if !ok {
			return nil, stays("its startup_timeout_ms is no number")
		}
		return moved{{"startup_timeout_seconds", ms / 1000}}, nil
	},
	"tool_timeout_sec": func(v any) (moved, error) { return moved{{"timeout_seconds", v}}, nil },
	"http_headers":     func(v any) (moved, error) { return moved{{"headers", v}}, nil },
	"env_http_headers": func(v any) (moved, error) {
		names, ok := v.(map[string]any)
		if !ok {
			return nil, stays("its env_http_headers are no table")
		}
		headers := map[string]any{}
		for k, name := range names {
			if headers[k], ok = reference(name); !ok {
				return nil, stays("its env_http_headers hold what is no variable")
			}
		}
		return moved{{"headers", headers}}, nil
	},
	"bearer_token_env_var": func(v any) (moved, error) {
		ref, ok := reference(v)
		if !ok {
			return nil, stays("its bearer_token_env_var is no variable")
		}
		return moved{{"headers", map[string]any{"Authorization": ours("Bearer ") + ref}}}, nil
	},
	"env_vars": func(v any) (moved, error) {
		list, ok := v.([]any)
		env := map[string]any{}
		for _, name := range list {
			ref, isName := reference(name)
			if ok = ok && isName; ok {
				env[name.(string)] = ours(strings.TrimSuffix(string(ref), "}") + ":-}")
			}
		}
		if !ok {
			return nil, stays("its env_vars are no list of variables")
		}
		return moved{{"env", env}}, nil
	},
}

// ours is a text in which references are written as tis has them.
type ours string

var variable = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

func reference(name any) (ours, bool) {
	s, ok := name.(string)
	return ours("${" + s + "}"), ok && variable.MatchString(s)
}
