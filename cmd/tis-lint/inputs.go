package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tools-in-shell/tis/analyze/lint"
)

// script is one text to check, and where it stands in its file.
type script struct {
	file string
	text string
	// line and col are added to its positions: it stands in a Markdown file.
	line, col int
	// record is the line of a transcript that holds it, 0 for another file.
	record int
}

// at is a position as the file has it.
func (s *script) at(p lint.Position) (line, col int) {
	return p.Line + s.line, p.Col + s.col
}

// maxFile is the size of the largest file, in bytes.
const maxFile = 64 << 20

// reader collects the scripts that the command line names. A file that cannot
// be read is a fault; the others are checked all the same.
type reader struct {
	p       *program
	stdin   string // the name that stdin goes by
	field   string // of a transcript, dotted; empty for other files
	scripts []*script
	faults  []error
	seen    map[string]bool
}

func (r *reader) read(names []string) {
	r.seen = map[string]bool{}
	for _, name := range names {
		if name == "-" {
			raw, err := io.ReadAll(io.LimitReader(r.p.stdin, maxFile+1))
			if err != nil {
				r.fault("%s: %v", r.stdin, err)
				continue
			}
			r.add(r.stdin, raw)
			continue
		}
		matches := []string{name}
		if _, err := os.Lstat(name); err != nil && strings.ContainsAny(name, "*?[") {
			found, err := filepath.Glob(name)
			if err != nil {
				r.fault("%s: %v", name, err)
				continue
			}
			if len(found) == 0 {
				r.fault("%s: no file has such a name", name)
				continue
			}
			matches = found
		}
		for _, m := range matches {
			r.path(m)
		}
	}
}

func (r *reader) fault(format string, args ...any) {
	r.faults = append(r.faults, fmt.Errorf(format, args...))
}

// path reads a file, or the scripts of a folder.
func (r *reader) path(name string) {
	info, err := os.Stat(name)
	if err != nil {
		r.fault("%s: %v", name, reason(err))
		return
	}
	if !info.IsDir() {
		r.file(name)
		return
	}
	err = filepath.WalkDir(name, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			r.fault("%s: %v", path, reason(err))
			if d != nil && d.IsDir() {
				return fs.SkipDir
			}
		case d.IsDir():
			if base := d.Name(); path != name && (base == "node_modules" || base == "vendor" || strings.HasPrefix(base, ".")) {
				return fs.SkipDir
			}
		case d.Type().IsRegular() && isScript(path):
			r.file(path)
		}
		return nil
	})
	if err != nil {
		r.fault("%s: %v", name, err)
	}
}

// isScript reports whether a file of a folder is one to check: by its name, or
// by its first line.
func isScript(path string) bool {
	switch strings.ToLower(filepath.Ext(path)) {
	case ".sh", ".bash", ".md", ".markdown":
		return true
	case "":
	default:
		return false
	}
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	head := make([]byte, 128)
	n, _ := io.ReadFull(f, head) // a short file is one too
	return isShebang(head[:n])
}

// isShebang reports whether a text begins as a script of a shell.
func isShebang(head []byte) bool {
	line, _, _ := bytes.Cut(head, []byte("\n"))
	if !bytes.HasPrefix(line, []byte("#!")) {
		return false
	}
	for _, word := range strings.FieldsFunc(string(line[2:]), func(r rune) bool { return r == ' ' || r == '/' || r == '\t' || r == '\r' }) {
		if word == "sh" || word == "bash" {
			return true
		}
	}
	return false
}

func (r *reader) file(name string) {
	clean := filepath.Clean(name)
	if r.seen[clean] {
		return
	}
	r.seen[clean] = true
	f, err := os.Open(name)
	if err != nil {
		r.fault("%s: %v", name, reason(err))
		return
	}
	defer f.Close()
	raw, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err != nil {
		r.fault("%s: %v", name, reason(err))
		return
	}
	r.add(name, raw)
}

// add takes the scripts out of a file.
func (r *reader) add(name string, raw []byte) {
	switch ext := strings.ToLower(filepath.Ext(name)); {
	case len(raw) > maxFile:
		r.fault("%s: larger than %d MiB", name, maxFile>>20)
	case r.field != "":
		r.transcript(name, raw)
	case bytes.IndexByte(raw, 0) >= 0:
		r.fault("%s: is a binary file, want a script", name)
	case ext == ".md" || ext == ".markdown":
		r.scripts = append(r.scripts, fences(name, string(raw))...)
	default:
		r.scripts = append(r.scripts, &script{file: name, text: string(raw)})
	}
}

// transcript reads JSON Lines: each line's field that holds a script.
func (r *reader) transcript(name string, raw []byte) {
	path := strings.Split(r.field, ".")
	n := 0
	for line := range bytes.Lines(raw) {
		n++
		if len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		var v any
		if err := json.Unmarshal(line, &v); err != nil {
			r.fault("%s:%d: no JSON: %v", name, n, err)
			continue
		}
		for _, text := range textsAt(v, path) {
			r.scripts = append(r.scripts, &script{file: name, text: text, record: n})
		}
	}
}

// textsAt lists the texts at a dotted path; an array on the way is gone through.
func textsAt(v any, path []string) (out []string) {
	switch x := v.(type) {
	case string:
		if len(path) == 0 {
			out = append(out, x)
		}
	case map[string]any:
		if len(path) > 0 {
			out = textsAt(x[path[0]], path[1:])
		}
	case []any:
		for _, item := range x {
			out = append(out, textsAt(item, path)...)
		}
	}
	return out
}

// fences are the shell scripts of a Markdown text: its fenced blocks that say
// sh, bash or shell, in lists and quotes too.
func fences(name, text string) (out []*script) {
	var open *script
	var fence, indent string
	var b strings.Builder
	n := 0
	for line := range strings.Lines(text) {
		n++
		bare := strings.TrimRight(line, "\r\n")
		prefix := bare[:len(bare)-len(strings.TrimLeft(bare, " \t>"))]
		body := bare[len(prefix):]
		if fence == "" {
			mark := body[:len(body)-len(strings.TrimLeft(body, "`"))]
			if len(mark) < 3 {
				mark = body[:len(body)-len(strings.TrimLeft(body, "~"))]
			}
			if len(mark) < 3 {
				continue
			}
			fence, indent = mark, prefix
			b.Reset()
			if isShell(body[len(mark):]) {
				open = &script{file: name, line: n, col: len(indent)}
			}
			continue
		}
		if strings.HasPrefix(body, fence) && strings.Trim(body, fence[:1]+" \t") == "" {
			if open != nil {
				open.text = b.String()
				out = append(out, open)
			}
			fence, open = "", nil
			continue
		}
		b.WriteString(strings.TrimPrefix(line, indent))
	}
	return out
}

// isShell reports whether the words behind a fence mean a shell script. console
// blocks hold prompts and output, and are none.
func isShell(info string) bool {
	word, _, _ := strings.Cut(strings.TrimSpace(info), " ")
	word, _, _ = strings.Cut(word, "{")
	return slices.Contains([]string{"sh", "bash", "shell"}, strings.ToLower(strings.TrimPrefix(word, "{.")))
}

var errNothing = errors.New("there is nothing to check: name a file, a folder or - for stdin")
