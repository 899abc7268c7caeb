package hosts

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"
	"github.com/pelletier/go-toml/v2/unstable"
)

// tomlFile is a list of servers in a file of TOML, where each server is a table
// with tables below it.
type tomlFile struct {
	text   []byte
	key    string
	tables []table
	means  map[string]any
	other  map[string]bool // servers that are written otherwise
}

// table is a header and what stands below it.
type table struct {
	path       []string
	start, end int // from the header's line to the end of the last line that says something
	next       int // where the next table begins; blank lines and comments are between
}

func readTOML(text []byte, key string) (*tomlFile, error) {
	f := &tomlFile{text: text, key: key, other: map[string]bool{}}
	if err := toml.Unmarshal(text, &f.means); err != nil {
		return nil, fmt.Errorf("it is not TOML: %w", err)
	}
	var p unstable.Parser
	p.Reset(text)
	for p.NextExpression() {
		e := p.Expression()
		switch e.Kind {
		case unstable.Table, unstable.ArrayTable:
			t := table{}
			it := e.Key()
			for it.Next() {
				n := it.Node()
				if t.path = append(t.path, string(n.Data)); len(t.path) == 1 {
					t.start = bytes.LastIndexByte(text[:n.Raw.Offset], '\n') + 1
				}
				t.end = int(n.Raw.Offset + n.Raw.Length)
			}
			t.end = lineEnd(text, t.end)
			if e.Kind == unstable.ArrayTable && len(t.path) > 1 && t.path[0] == key {
				f.other[t.path[1]] = true
			}
			f.tables = append(f.tables, t)
		case unstable.KeyValue:
			var path []string
			if n := len(f.tables); n > 0 {
				path = slices.Clone(f.tables[n-1].path)
				f.tables[n-1].end = lineEnd(text, int(e.Raw.Offset+e.Raw.Length))
			}
			inside := len(path)
			it := e.Key()
			for it.Next() {
				path = append(path, string(it.Node().Data))
			}
			if len(path) > 1 && path[0] == key && inside < 2 {
				f.other[path[1]] = true
			}
		}
	}
	if err := p.Error(); err != nil {
		return nil, fmt.Errorf("it is not TOML: %w", err)
	}
	for i := range f.tables {
		f.tables[i].next = len(text)
		if i+1 < len(f.tables) {
			f.tables[i].next = f.tables[i+1].start
		}
	}
	return f, nil
}

// lineEnd is the offset after the line of an offset.
func lineEnd(text []byte, offset int) int {
	if i := bytes.IndexByte(text[offset:], '\n'); i >= 0 {
		return offset + i + 1
	}
	return len(text)
}

// of reports whether a table belongs to a server.
func (t table) of(key string) (server string, ok bool) {
	if len(t.path) < 2 || t.path[0] != key {
		return "", false
	}
	return t.path[1], true
}

func (f *tomlFile) entries() ([]entry, error) {
	list, ok := f.means[f.key].(map[string]any)
	if !ok && f.means[f.key] != nil {
		return nil, fmt.Errorf("its %s is no table", f.key)
	}
	var names []string
	for _, t := range f.tables { // in the file's order
		if name, ok := t.of(f.key); ok && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	for name := range f.other {
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	var out []entry
	for _, name := range names {
		body, ok := list[name].(map[string]any)
		if !ok {
			return nil, fmt.Errorf("its server %s is no table", show(name))
		}
		e, err := newEntry(name, encoded(body))
		if err != nil {
			return nil, err
		}
		out = append(out, e)
	}
	return out, nil
}

// replace puts one table in the place of some servers'.
func (f *tomlFile) replace(gone map[string]bool, in string, value moved) (*edit, error) {
	newline := "\n"
	if bytes.Contains(f.text, []byte("\r\n")) {
		newline = "\r\n"
	}
	block := strings.ReplaceAll(fmt.Sprintf("[%s.%s]\n%s", f.key, in, value.alone(true)), "\n", newline)
	e := &edit{}
	var b bytes.Buffer
	at, put := 0, false
	for _, t := range f.tables {
		server, ok := t.of(f.key)
		if !ok || !gone[server] {
			continue
		}
		b.Write(f.text[at:t.start])
		at = t.end
		taken := string(f.text[t.start:t.end])
		if !put {
			put = true
			if !strings.HasSuffix(taken, "\n") {
				taken += newline
			}
			b.WriteString(block)
			e.new = block
		} else if blank := f.text[t.end:t.next]; len(bytes.TrimSpace(blank)) == 0 {
			at = t.next
		}
		e.old += taken + strings.Repeat(newline, 1)
	}
	b.Write(f.text[at:])
	e.old = strings.TrimSuffix(e.old, newline)
	e.text = b.Bytes()
	return e, nil
}

// decodeTOML is what a file means.
func decodeTOML(text []byte) (map[string]any, error) {
	out := map[string]any{}
	return out, toml.Unmarshal(text, &out)
}
