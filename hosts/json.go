package hosts

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"

	"github.com/tailscale/hujson"
)

// jsonFile is a list of servers in a file of JSON, with comments and trailing
// commas where the host takes them.
type jsonFile struct {
	text []byte // without a byte order mark
	mark []byte
	key  string
	list *hujson.Object // nil: there is none
	span [2]int         // the list's place in text
}

var byteOrderMark = []byte("\xef\xbb\xbf")

func readJSON(text []byte, key string) (*jsonFile, error) {
	f := &jsonFile{text: text, key: key}
	if bytes.HasPrefix(text, byteOrderMark) {
		f.mark, f.text = byteOrderMark, text[len(byteOrderMark):]
	}
	if len(bytes.TrimSpace(f.text)) == 0 {
		return f, nil
	}
	root, err := parseJSON(f.text)
	if err != nil {
		return nil, fmt.Errorf("it is not JSON: %s", strings.TrimPrefix(err.Error(), "hujson: "))
	}
	top, ok := root.Value.(*hujson.Object)
	if !ok {
		return nil, errors.New("it is no JSON object")
	}
	for i, m := range top.Members {
		if name(m) != key {
			continue
		}
		list, ok := m.Value.Value.(*hujson.Object)
		switch {
		case f.list != nil:
			return nil, fmt.Errorf("it has the key %s twice", key)
		case !ok:
			return nil, fmt.Errorf("its %s is no object", key)
		}
		f.list, f.span = list, [2]int{top.Members[i].Value.StartOffset, top.Members[i].Value.EndOffset}
	}
	return f, nil
}

// parseJSON reads a text in which a comment may be the last thing.
func parseJSON(text []byte) (hujson.Value, error) {
	return hujson.Parse(append(bytes.Clone(text), '\n'))
}

func name(m hujson.ObjectMember) string { return m.Name.Value.(hujson.Literal).String() }

func (f *jsonFile) entries() ([]entry, error) {
	var out []entry
	if f.list == nil {
		return nil, nil
	}
	seen := map[string]bool{}
	for _, m := range f.list.Members {
		if seen[name(m)] {
			return nil, fmt.Errorf("its %s has %s twice", f.key, show(name(m)))
		}
		seen[name(m)] = true
		v := m.Value.Clone()
		v.Standardize()
		v.BeforeExtra, v.AfterExtra = nil, nil
		e, err := newEntry(name(m), v.Pack())
		if err != nil {
			return nil, fmt.Errorf("its server %s: %w", show(name(m)), err)
		}
		out = append(out, e)
	}
	return out, nil
}

// replace puts one entry in the place of some. What stands between the others
// stays as it is, and so do comments.
func (f *jsonFile) replace(gone map[string]bool, in string, value moved) (*edit, error) {
	type part struct {
		text   string
		member bool // else only comments, which stood before a member that has gone
	}
	l := f.layout()
	var parts []part
	members, put := 0, false
	for _, m := range f.list.Members {
		before, after := string(m.Name.BeforeExtra), string(m.Value.AfterExtra)
		switch {
		case !gone[name(m)]:
			parts = append(parts, part{before + string(f.text[m.Name.StartOffset:m.Value.EndOffset]) + after, true})
			members++
		case !put:
			put = true
			parts = append(parts, part{before + l.member(in, value) + after, true})
			members++
		case strings.TrimSpace(before+after) != "":
			parts = append(parts, part{before + after, false})
		}
	}
	if n := len(f.list.Members); f.list.Members[n-1].Value.AfterExtra != nil {
		members++ // a comma follows the last one, too
	}
	var b strings.Builder
	b.WriteByte('{')
	for i, p := range parts {
		if p.member {
			b.WriteString(p.text)
			if members--; members > 0 {
				b.WriteByte(',')
			}
			continue
		}
		next := string(f.list.AfterExtra)
		if i+1 < len(parts) {
			next = parts[i+1].text
		}
		b.WriteString(strings.TrimRight(p.text, " \t\r\n"))
		if !strings.HasPrefix(strings.TrimLeft(next, " \t\r"), "\n") {
			b.WriteString("\n")
		}
	}
	b.Write(f.list.AfterExtra)
	b.WriteByte('}')
	return f.spliced(b.String()), nil
}

// edit is a changed file.
type edit struct {
	text     []byte
	old, new string // the part that changed, to take it back when the rest has changed since
}

func (f *jsonFile) spliced(list string) *edit {
	e := &edit{old: string(f.text[f.span[0]:f.span[1]]), new: list}
	e.text = bytes.Join([][]byte{f.mark, f.text[:f.span[0]], []byte(list), f.text[f.span[1]:]}, nil)
	return e
}

// add puts entries at the end of the list, which is made when there is none.
func (f *jsonFile) add(names []string, values []any) (*edit, error) {
	l := f.layout()
	if f.list == nil {
		return f.create(l, names, values)
	}
	var b strings.Builder
	b.WriteByte('{')
	for _, m := range f.list.Members {
		b.Write(m.Name.BeforeExtra)
		b.Write(f.text[m.Name.StartOffset:m.Value.EndOffset])
		b.WriteByte(',')
	}
	for i := range names {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(l.newline + l.base + l.member(names[i], values[i]))
	}
	if len(f.list.Members) > 0 {
		b.Write(f.list.AfterExtra)
	} else {
		b.WriteString(l.newline + strings.TrimSuffix(l.base, l.unit))
	}
	b.WriteByte('}')
	return f.spliced(b.String()), nil
}

// create makes the list, and the file's object when there is nothing yet.
func (f *jsonFile) create(l layout, names []string, values []any) (*edit, error) {
	var b strings.Builder
	for i := range names {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(l.newline + l.base + l.member(names[i], values[i]))
	}
	list := fmt.Sprintf("%s%s: {%s%s%s}", l.unit, encoded(f.key), b.String(), l.newline, l.unit)
	if len(bytes.TrimSpace(f.text)) == 0 {
		return &edit{text: []byte("{" + l.newline + list + l.newline + "}" + l.newline)}, nil
	}
	root, err := parseJSON(f.text)
	if err != nil {
		return nil, err
	}
	top := root.Value.(*hujson.Object)
	at, lead := root.StartOffset+1, l.newline
	if n := len(top.Members); n > 0 {
		at, lead = top.Members[n-1].Value.EndOffset, ","+l.newline
	}
	tail := ""
	if len(top.Members) == 0 && strings.TrimSpace(string(top.AfterExtra)) == "" {
		tail = l.newline
	}
	return &edit{text: bytes.Join([][]byte{f.mark, f.text[:at], []byte(lead + list + tail), f.text[at:]}, nil)}, nil
}

// layout is how a file is written.
type layout struct {
	newline string // empty: all on one line
	unit    string // one step of indentation
	base    string // before a member of the list
}

func (f *jsonFile) layout() layout {
	l := layout{newline: "\n", unit: "  ", base: "    "}
	if bytes.Contains(f.text, []byte("\r\n")) {
		l.newline = "\r\n"
	}
	if f.list == nil {
		return l
	}
	outer := indentAt(f.text, f.span[0])
	if len(f.list.Members) == 0 {
		l.base = outer + l.unit
		return l
	}
	first := f.list.Members[0].Name
	if !bytes.Contains(first.BeforeExtra, []byte("\n")) {
		return layout{}
	}
	l.base = indentAt(f.text, first.StartOffset)
	if unit, ok := strings.CutPrefix(l.base, outer); ok && unit != "" {
		l.unit = unit
	}
	return l
}

// indentAt is the indentation of the line of an offset.
func indentAt(text []byte, offset int) string {
	line := text[bytes.LastIndexByte(text[:offset], '\n')+1:]
	return string(line[:len(line)-len(bytes.TrimLeft(line, " \t"))])
}

// member is a member's text.
func (l layout) member(key string, value any) string {
	body := encoded(value)
	if l.newline == "" {
		return fmt.Sprintf("%s: %s", encoded(key), body)
	}
	var b bytes.Buffer
	if err := json.Indent(&b, body, l.base, l.unit); err != nil { // it was just encoded
		panic(err)
	}
	return fmt.Sprintf("%s: %s", encoded(key), strings.ReplaceAll(b.String(), "\n", l.newline))
}

// decodeJSON is what a file means.
func decodeJSON(text []byte) (map[string]any, error) {
	text = bytes.TrimPrefix(text, byteOrderMark)
	if len(bytes.TrimSpace(text)) == 0 {
		return map[string]any{}, nil
	}
	v, err := parseJSON(text)
	if err != nil {
		return nil, err
	}
	v.Standardize()
	dec := json.NewDecoder(bytes.NewReader(v.Pack()))
	dec.UseNumber()
	var out map[string]any
	return out, dec.Decode(&out)
}

// same checks that a changed file means what it meant, but for the list.
func same(before, after map[string]any, key string, gone map[string]bool, in map[string]any) error {
	list := map[string]any{}
	if old, ok := before[key].(map[string]any); ok {
		for k, v := range old {
			if !gone[k] {
				list[k] = v
			}
		}
	}
	for k, v := range in {
		list[k] = v
	}
	before[key] = list
	if !reflect.DeepEqual(before, after) {
		return errors.New("its text could not be changed without changing more than the servers")
	}
	return nil
}
