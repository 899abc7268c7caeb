package hosts

import (
	"bytes"
	"encoding/json"
	"maps"
	"regexp"
	"slices"

	"github.com/pelletier/go-toml/v2"
)

// tisEntry is tis as the host starts it. Some hosts hand only named variables
// on to servers: those that the moved servers need are named then. An entry of
// tis that is there already keeps what else it says.
func (h Host) tisEntry(o Options, present *entry, servers []moved) moved {
	var out moved
	if present != nil {
		for _, key := range present.keys {
			var v any
			if err := json.Unmarshal(present.body[key], &v); err == nil {
				out = append(out, member{key, v})
			}
		}
	} else {
		if h.typed {
			out = append(out, member{"type", "stdio"})
		}
		out = append(out, member{"command", o.Command}, member{"args", []any{"serve", "-c", h.configPath(o)}})
	}
	names := variables(servers)
	if len(names) == 0 {
		return out
	}
	switch h.Name {
	case "codex":
		list, _ := out.get("env_vars").([]any)
		for _, n := range names {
			if !slices.Contains(list, any(n)) {
				list = append(slices.Clone(list), n)
			}
		}
		return out.set("env_vars", list)
	case "gemini":
		env, _ := out.get("env").(map[string]any)
		env = maps.Clone(env)
		if env == nil {
			env = map[string]any{}
		}
		for _, n := range names {
			if _, ok := env[n]; !ok {
				env[n] = "$" + n
			}
		}
		return out.set("env", env)
	}
	return out
}

func (m moved) get(key string) any { return m.value()[key] }

// set replaces a member or adds it.
func (m moved) set(key string, v any) moved {
	for i := range m {
		if m[i].key == key {
			m[i].value = v
			return m
		}
	}
	return append(m, member{key, v})
}

var named = regexp.MustCompile(`\$\{(?:env:)?([A-Za-z_][A-Za-z0-9_]*)(?::-[^}]*)?\}`)

// variables are the names of the variables that servers refer to, sorted.
func variables(servers []moved) []string {
	found := map[string]bool{}
	for _, s := range servers {
		for _, ref := range named.FindAllSubmatch(encoded(s), -1) {
			found[string(ref[1])] = true
		}
	}
	return slices.Sorted(maps.Keys(found))
}

// alone is an entry as a document of its own.
func (m moved) alone(asTOML bool) []byte {
	if !asTOML {
		return encoded(m)
	}
	var b bytes.Buffer
	for _, x := range m { // one at a time, to keep the order
		enc := toml.NewEncoder(&b)
		enc.SetTablesInline(true)
		if err := enc.Encode(map[string]any{x.key: whole(x.value)}); err != nil { // it came from TOML or JSON
			panic(err)
		}
	}
	return b.Bytes()
}

// whole writes a number without a fraction as one.
func whole(v any) any {
	if f, ok := v.(float64); ok && f == float64(int64(f)) {
		return int64(f)
	}
	return v
}
