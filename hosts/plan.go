package hosts

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/tools-in-shell/tis/catalog"
)

// Options say what to move where.
type Options struct {
	Machine Machine
	Hosts   []string // names; nil: all
	Config  string   // the tis.json that gets the servers; absolute
	Command string   // what hosts start as tis
}

// Plan is what would change. Nothing of it holds a value of an entry.
type Plan struct {
	Config  string // as Options have it
	Created bool   // the config is not there yet
	Added   []string
	Hosts   []Change
	files   []file // the config first
}

// Change is what would change in one host's file, or why nothing does.
type Change struct {
	Host  string
	Path  string
	Moved []Move
	Stay  []Stay
	Err   error  // why the file cannot be read; it is left alone
	Note  string // anything else to say
}

// Move is one server's way. To differs from From when the name is taken or
// cannot be typed.
type Move struct{ From, To string }

// Stay is a server that is not moved.
type Stay struct{ Name, Why string }

// Moves counts the servers that would be moved.
func (p *Plan) Moves() int {
	n := 0
	for _, c := range p.Hosts {
		n += len(c.Moved)
	}
	return n
}

// file is a file that would change.
type file struct {
	path    string // what was asked for
	real    string // where symbolic links lead
	existed bool
	was     fs.FileMode // its mode before
	mode    fs.FileMode // and afterwards
	before  []byte
	edit    *edit
	toml    bool
}

// Prepare works out what would change. Files that cannot be read are in the
// plan with their error; the config itself must be readable.
func Prepare(o Options) (*Plan, error) {
	target, err := readTarget(o.Config)
	if err != nil {
		return nil, err
	}
	p := &Plan{Config: o.Config, Created: !target.existed}
	for _, h := range All {
		path := h.path(o.Machine)
		if path == "" || len(o.Hosts) > 0 && !slices.Contains(o.Hosts, h.Name) {
			continue
		}
		f, err := readFile(path)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		c := Change{Host: h.Name, Path: path, Err: err}
		if err == nil && slices.ContainsFunc(append([]file{target.file}, p.files...), func(other file) bool { return other.real == f.real }) {
			c.Err = errors.New("it is the same file as another one")
		}
		if c.Err == nil {
			c.Err = h.plan(&c, f, o, target)
		}
		if c.Err != nil {
			c.Moved = nil
		} else if len(c.Moved) > 0 {
			p.files = append(p.files, *f)
		}
		p.Hosts = append(p.Hosts, c)
	}
	if len(target.names) > 0 {
		if target.edit, err = target.list.add(target.names, target.values); err != nil {
			return nil, err
		}
		p.files = append([]file{target.file}, p.files...)
		p.Added = target.names
	}
	return p, nil
}

// readFile reads a file where its links lead.
func readFile(path string) (*file, error) {
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return nil, plain(err)
	}
	fi, err := os.Stat(real)
	if err != nil {
		return nil, plain(err)
	}
	if !fi.Mode().IsRegular() || fi.Size() > maxFile {
		return nil, errors.New("it is no regular file of a sane size")
	}
	text, err := os.ReadFile(real)
	if err != nil {
		return nil, plain(err)
	}
	return &file{path: path, real: real, existed: true, was: fi.Mode().Perm(), mode: fi.Mode().Perm(), before: text}, nil
}

// maxFile is the size of the largest configuration, in bytes.
const maxFile = 256 << 20

// plain is a file error without its path.
func plain(err error) error {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		return pe.Err
	}
	return err
}

// list is a host's list of servers.
type list interface {
	entries() ([]entry, error)
	replace(gone map[string]bool, in string, value moved) (*edit, error)
}

// plan works out what would change in one file.
func (h Host) plan(c *Change, f *file, o Options, target *target) error {
	var servers list
	var err error
	decode := decodeJSON
	other := map[string]bool{}
	if f.toml = h.toml; h.toml {
		var t *tomlFile
		if t, err = readTOML(f.before, h.key); err == nil {
			servers, other = t, t.other
		}
		decode = decodeTOML
	} else {
		servers, err = readJSON(f.before, h.key)
	}
	if err != nil {
		return err
	}
	entries, err := servers.entries()
	if err != nil {
		return err
	}
	project := o.Machine.Project != ""
	var present *entry // tis is in the list already
	gone := map[string]bool{}
	var bodies []moved
	for _, e := range entries {
		if config, yes := e.isTis(); yes {
			if present = &e; !sameConfig(config, o, h) {
				c.Note = fmt.Sprintf("it starts tis with another config, %s; give -c to move servers there", show(config))
				c.Moved = nil
				return nil
			}
			gone[e.name] = true // it is written anew, with what it needs besides
			continue
		}
		if e.name == entryName {
			return fmt.Errorf("its server %s is something else than tis serve; rename it first", show(e.name))
		}
		m, err := h.move(e, project)
		var why *stay
		switch {
		case other[e.name]:
			c.Stay = append(c.Stay, Stay{e.name, "it is not written as a table of its own"})
		case errors.As(err, &why):
			c.Stay = append(c.Stay, Stay{e.name, why.reason})
		case err != nil:
			return err
		default:
			gone[e.name] = true
			c.Moved = append(c.Moved, Move{From: e.name})
			bodies = append(bodies, m)
		}
	}
	if n := ofProjects(h, decode, f.before); n > 0 {
		c.Note = fmt.Sprintf("%d servers of single projects stay as they are", n)
	}
	if len(c.Moved) == 0 {
		if present != nil && c.Note == "" {
			c.Note = "it is behind tis already"
		}
		return nil
	}
	value := h.tisEntry(o, present, bodies)
	if f.edit, err = servers.replace(gone, entryName, value); err != nil {
		return err
	}
	if err := check(f, decode, h.key, gone, value); err != nil {
		return err
	}
	for i := range c.Moved {
		c.Moved[i].To = target.take(c.Moved[i].From, h.Name, bodies[i])
	}
	return nil
}

// ofProjects counts the servers that Claude Code keeps for single projects in
// the person's file.
func ofProjects(h Host, decode func([]byte) (map[string]any, error), text []byte) (n int) {
	means, err := decode(text)
	if err != nil || h.Name != "claude-code" {
		return 0
	}
	projects, _ := means["projects"].(map[string]any)
	for _, p := range projects {
		p, _ := p.(map[string]any)
		list, _ := p["mcpServers"].(map[string]any)
		n += len(list)
	}
	return n
}

// entryName is tis's own name in a host's list.
const entryName = "tis"

func sameConfig(config string, o Options, h Host) bool {
	return config == h.configPath(o) || filepath.Clean(config) == filepath.Clean(o.Config)
}

// configPath is the config as the host's file names it. A project's files may
// be shared, so they name it from the project's folder.
func (h Host) configPath(o Options) string {
	if o.Machine.Project == "" {
		return o.Config
	}
	rel, err := filepath.Rel(o.Machine.Project, o.Config)
	if err != nil || strings.HasPrefix(rel, "..") {
		return o.Config
	}
	if rel = filepath.ToSlash(rel); h.root != "" {
		return h.root + "/" + rel
	}
	return rel
}

// check compares what the file meant with what it would mean.
func check(f *file, decode func([]byte) (map[string]any, error), key string, gone map[string]bool, value moved) error {
	before, err := decode(f.before)
	if err != nil {
		return err
	}
	after, err := decode(f.edit.text)
	if err != nil {
		return fmt.Errorf("the changed text could not be read: %w", err)
	}
	// What the format makes of the entry, too: it may know numbers otherwise.
	alone, err := decode(value.alone(f.toml))
	if err != nil {
		return err
	}
	return same(before, after, key, gone, map[string]any{entryName: alone})
}

// target is the config that gets the servers.
type target struct {
	file
	list   *jsonFile
	have   map[string]map[string]any
	names  []string
	values []any
}

func readTarget(path string) (*target, error) {
	t := &target{have: map[string]map[string]any{}}
	f, err := readFile(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		f = &file{path: path, real: path}
	case err != nil:
		return nil, fmt.Errorf("config %s: %w", path, err)
	}
	t.file = *f
	t.mode = 0o600 // it holds what the hosts' files held
	if t.list, err = readJSON(f.before, "mcpServers"); err != nil {
		return nil, fmt.Errorf("config %s: %w", path, err)
	}
	means, err := decodeJSON(f.before)
	if err != nil {
		return nil, fmt.Errorf("config %s: %w", path, err)
	}
	for _, key := range []string{"mcpServers", "servers"} {
		list, _ := means[key].(map[string]any)
		for name, v := range list {
			var body map[string]any
			json.Unmarshal(encoded(v), &body) // numbers as the entries have them
			t.have[name] = body
		}
	}
	return t, nil
}

// take takes a server over and returns its name there. The same server under
// the same name is taken once; another one gets the host's name, too.
func (t *target) take(name, host string, m moved) string {
	var body map[string]any
	if err := json.Unmarshal(encoded(m), &body); err != nil { // it was just encoded
		panic(err)
	}
	base := typable(name)
	for i := 1; ; i++ {
		try := base
		switch {
		case i == 2:
			try = base + "-" + host
		case i > 2:
			try = fmt.Sprintf("%s-%s-%d", base, host, i-1)
		}
		there, taken := t.like(try)
		if !taken {
			t.have[try] = body
			t.names, t.values = append(t.names, try), append(t.values, m)
			return try
		}
		if m.equal(t.have[there]) || bytes.Equal(encoded(t.have[there]), encoded(body)) {
			return there
		}
	}
}

// like finds a server whose name is typed alike.
func (t *target) like(name string) (string, bool) {
	for have := range t.have {
		if strings.EqualFold(catalog.Shown(have), catalog.Shown(name)) {
			return have, true
		}
	}
	return "", false
}

var untypable = regexp.MustCompile(`[^\pL\pN._@:+-]+`)

// typable is a server's name as a command can have it.
func typable(name string) string {
	if out := strings.Trim(untypable.ReplaceAllString(name, "-"), "-"); out != "" {
		return out
	}
	return "server"
}
