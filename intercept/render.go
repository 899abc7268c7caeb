package intercept

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"mime"
	"path"
	"strings"

	"github.com/tools-in-shell/tis/catalog"
)

// render prints a result: text as it is, anything else as JSON on one line.
// Images and other binary parts become files, and stderr names them.
func (i *Interceptor) render(std Stdio, call catalog.Call, out catalog.Output) int {
	rest := make([]catalog.Part, 0, len(out.Parts))
	for _, p := range out.Parts {
		if p.Type == "image" || p.Type == "audio" || p.Data != nil || p.BadData != "" {
			save(std, call, p)
			continue
		}
		rest = append(rest, p)
	}
	text, ok := shown(catalog.Output{Parts: rest, Structured: out.Structured})
	if !ok {
		return 0
	}
	return write(std, text)
}

// shown is the text of a result whose binary parts have been set aside.
func shown(out catalog.Output) (string, bool) {
	if out.Structured != nil {
		return compact(out.Structured) + "\n", true
	}
	if len(out.Parts) == 0 {
		return "", false
	}
	texts, allText := make([]string, len(out.Parts)), true
	for n, p := range out.Parts {
		texts[n], allText = p.Text, allText && p.Type == "text"
	}
	if !allText {
		return partsJSON(out.Parts) + "\n", true
	}
	text := strings.Join(texts, "\n")
	if !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	return text, true
}

func partsJSON(parts []catalog.Part) string {
	raws := make([]string, len(parts))
	for n, p := range parts {
		raw := p.Raw
		if raw == nil {
			raw = encode(map[string]string{"type": p.Type, "text": p.Text})
		}
		raws[n] = compact(raw)
	}
	return "[" + strings.Join(raws, ",") + "]"
}

func compact(raw json.RawMessage) string {
	var b bytes.Buffer
	if json.Compact(&b, raw) != nil {
		return strings.TrimSpace(string(raw))
	}
	return b.String()
}

func encode(v any) json.RawMessage {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil { // strings and maps of them always encode
		panic(err)
	}
	return bytes.TrimSpace(b.Bytes())
}

// recorded is a result as the report shows it.
func recorded(out catalog.Output) json.RawMessage {
	if out.Structured != nil {
		return json.RawMessage(compact(out.Structured))
	}
	var rest []catalog.Part
	binary := 0
	for _, p := range out.Parts {
		if p.Data != nil || p.Type == "image" || p.Type == "audio" {
			binary++
			continue
		}
		rest = append(rest, p)
	}
	text, ok := shown(catalog.Output{Parts: rest})
	switch {
	case !ok && binary > 0:
		return encode(fmt.Sprintf("%d files", binary))
	case !ok:
		return json.RawMessage("null")
	case strings.HasPrefix(text, "[") && rest[0].Type != "text":
		return json.RawMessage(strings.TrimSpace(text))
	}
	if last := rest[len(rest)-1]; !strings.HasSuffix(last.Text, "\n") {
		text = strings.TrimSuffix(text, "\n")
	}
	return encode(text)
}

// save writes a binary part to a new file and names it on stderr. A fault is a
// note: the call did happen.
func save(std Stdio, call catalog.Call, p catalog.Part) {
	folder := "tool-files"
	if p.Type == "image" {
		folder = "tool-images"
	}
	note := func(format string, args ...any) {
		io.WriteString(std.Stderr, "tools: "+catalog.OneLine(fmt.Sprintf(format, args...))+"\n")
	}
	if p.BadData != "" {
		note("a part of the result of %s could not be read: %s", call.Tool.Command(), p.BadData)
		return
	}
	if std.Dir == nil {
		note("a part of the result of %s was not saved: there is no folder for it", call.Tool.Command())
		return
	}
	for n := 1; n <= 10_000; n++ {
		name := path.Join(folder, fmt.Sprintf("%s-%d%s", safe(call.Tool.Name), n, extension(p)))
		f, err := std.Dir.Create(name)
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		if err == nil {
			_, err = f.Write(p.Data)
			err = errors.Join(err, f.Close())
		}
		if err != nil {
			note("%s could not be saved: %v", name, err)
		} else {
			note("saved %s", name)
		}
		return
	}
	note("a part of the result of %s was not saved: %s is full", call.Tool.Command(), folder)
}

// safe is a tool's name as a part of a file name.
func safe(name string) string {
	s := strings.Map(func(r rune) rune {
		if r < 128 && (r == '-' || r == '_' || r >= '0' && r <= '9' || r >= 'A' && r <= 'Z' || r >= 'a' && r <= 'z') {
			return r
		}
		return '-'
	}, name)
	return s[:min(len(s), 60)]
}

// extension goes by the media type.
func extension(p catalog.Part) string {
	media, _, err := mime.ParseMediaType(p.MIMEType)
	if err != nil {
		media = p.MIMEType
	}
	if ext, ok := extensions[media]; ok {
		return ext
	}
	return ".bin"
}

var extensions = map[string]string{
	"image/png": ".png", "image/jpeg": ".jpg", "image/jpg": ".jpg", "image/gif": ".gif", "image/webp": ".webp", "image/svg+xml": ".svg",
	"image/bmp": ".bmp", "image/tiff": ".tiff", "image/avif": ".avif", "image/x-icon": ".ico",
	"audio/mpeg": ".mp3", "audio/wav": ".wav", "audio/x-wav": ".wav", "audio/ogg": ".ogg", "audio/flac": ".flac", "audio/mp4": ".m4a",
	"application/pdf": ".pdf", "application/zip": ".zip", "application/gzip": ".gz", "application/json": ".json", "text/plain": ".txt", "text/csv": ".csv",
	"video/mp4": ".mp4", "video/webm": ".webm",
}
