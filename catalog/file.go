package catalog

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
)

// ParseCatalogFile reads a catalog file: servers with their tools as tools/list
// gives them, and top-level tools. An error says where: name and line:column for
// what is no JSON, name and JSON path for what is no catalog.
func ParseCatalogFile(r io.Reader, name string) ([]Source, []*Tool, error) {
	raw, err := io.ReadAll(r)
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", name, err)
	}
	if sources, top, ok := skimCatalog(raw); ok {
		return sources, top, nil
	}
	var whole json.RawMessage
	if err := json.Unmarshal(raw, &whole); err != nil {
		return nil, nil, fmt.Errorf("%s%s: not a catalog file: %w", name, position(raw, err), err)
	}
	sources, top, err := readCatalog(whole)
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", name, err)
	}
	return sources, top, nil
}

func readCatalog(raw json.RawMessage) (sources []Source, top []*Tool, err error) {
	file, err := section(raw, "$", "$schema", "servers", "tools")
	if err != nil {
		return nil, nil, err
	}
	servers, err := section(file["servers"], "$.servers")
	if err != nil {
		return nil, nil, err
	}
	for _, server := range slices.Sorted(maps.Keys(servers)) {
		src, err := readServer(server, servers[server])
		if err != nil {
			return nil, nil, err
		}
		sources = append(sources, src)
	}
	top, err = readTools("", file["tools"], "$.tools")
	return sources, top, err
}

func readServer(name string, raw json.RawMessage) (Source, error) {
	at := path([]string{"servers", name})
	entry, err := section(raw, at, "tools", "load", "description", "serverInfo", "resources")
	if err != nil {
		return Source{}, err
	}
	src := Source{Name: name, Loaded: true}
	var load string
	if err := text(entry["load"], at+".load", &load); err != nil {
		return Source{}, err
	}
	if err := text(entry["description"], at+".description", &src.Description); err != nil {
		return Source{}, err
	}
	if raw := entry["resources"]; string(raw) == "true" {
		src.Resources = listed{}
	} else if !absent(raw) && string(raw) != "false" {
		return Source{}, fmt.Errorf("%s.resources: it is %s; want true or false", at, kindOf(raw))
	}
	tools, err := readTools(name, entry["tools"], at+".tools")
	switch {
	case err != nil:
		return Source{}, err
	case load == "on_demand":
		src.Loaded = false
		src.Load = func(context.Context) ([]*Tool, error) { return tools, nil }
	case load == "" || load == "start":
		src.Tools = tools
	default:
		return Source{}, fmt.Errorf("%s.load: it is %s; want start or on_demand", at, clip(load))
	}
	return src, nil
}

func readTools(server string, raw json.RawMessage, at string) ([]*Tool, error) {
	if absent(raw) {
		return nil, nil
	}
	var list []json.RawMessage
	if json.Unmarshal(raw, &list) != nil {
		return nil, fmt.Errorf("%s: it is %s; want an array of tools", at, kindOf(raw))
	}
	tools := make([]*Tool, 0, len(list))
	for i, item := range list {
		here := fmt.Sprintf("%s[%d]", at, i)
		fields, err := section(item, here, anyKey)
		if err != nil {
			return nil, err
		}
		if _, err := section(fields["policy"], here+".policy", "requires_approval", "stays_direct", "never_deferrable", "client_side"); err != nil {
			return nil, err
		}
		t, err := decodeTool(server, item)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", here, err)
		}
		tools = append(tools, t)
	}
	return tools, nil
}

// anyKey allows every key of a section.
const anyKey = "*"

// section is the keys of an object; nothing and null have none. With keys
// given, any other key is an error.
func section(raw json.RawMessage, at string, keys ...string) (map[string]json.RawMessage, error) {
	if absent(raw) {
		return nil, nil
	}
	var m map[string]json.RawMessage
	if json.Unmarshal(raw, &m) != nil {
		return nil, fmt.Errorf("%s: it is %s; want an object", at, kindOf(raw))
	}
	if len(keys) == 0 || keys[0] == anyKey {
		return m, nil
	}
	for _, k := range slices.Sorted(maps.Keys(m)) {
		if !slices.Contains(keys, k) {
			return nil, fmt.Errorf("%s: there is no key %s%s", at, clip(k), didYouMean(near(k, keys)))
		}
	}
	return m, nil
}

func text(raw json.RawMessage, at string, to *string) error {
	if absent(raw) {
		return nil
	}
	if json.Unmarshal(raw, to) != nil {
		return fmt.Errorf("%s: it is %s; want a string", at, kindOf(raw))
	}
	return nil
}

func absent(raw json.RawMessage) bool { return len(raw) == 0 || string(raw) == "null" }

// position is ":line:column" of a JSON error, or nothing.
func position(raw []byte, err error) string {
	var syntax *json.SyntaxError
	if !errors.As(err, &syntax) {
		return ""
	}
	before := raw[:min(max(syntax.Offset-1, 0), int64(len(raw)))]
	return fmt.Sprintf(":%d:%d", 1+bytes.Count(before, []byte("\n")), len(before)-bytes.LastIndexByte(before, '\n'))
}
