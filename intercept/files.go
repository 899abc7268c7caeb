package intercept

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"mime"
	"path"
	"regexp"
	"strings"

	"github.com/tools-in-shell/tis/catalog"
)

// save writes a binary part to a new file and names it on stderr. A fault is a
// note: the call did happen.
func save(std Stdio, call catalog.Call, p catalog.Part) {
	note := func(format string, args ...any) {
		io.WriteString(std.Stderr, "tools: "+catalog.OneLine(fmt.Sprintf(format, args...))+"\n")
	}
	kind, folder := "file", "tool-files"
	if p.Type == "image" {
		kind, folder = "image", "tool-images"
	}
	lost := func(why string) {
		note("the %s that %s returned was not saved: %s", kind, call.Tool.Command(), why)
	}
	switch {
	case p.BadData != "":
		lost(p.BadData)
		return
	case len(p.Data) == 0:
		lost("it is empty")
		return
	case std.Dir == nil:
		lost("there is no folder for it")
		return
	}
	for n := 1; n <= maxSameName; n++ {
		name := path.Join(folder, fmt.Sprintf("%s-%d%s", fileName(strings.TrimPrefix(call.Tool.Name, "--")), n, extension(p.MIMEType)))
		f, err := std.Dir.Create(name)
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		if err == nil {
			_, err = f.Write(p.Data)
			err = errors.Join(err, f.Close())
		}
		if err != nil {
			lost(err.Error())
		} else {
			note("saved %s", name)
		}
		return
	}
	lost(folder + " is full")
}

// maxSameName bounds the search for a free file name.
const maxSameName = 10_000

// fileName is a tool's name as a part of a file name.
func fileName(name string) string {
	s := strings.Map(func(r rune) rune {
		if r == '-' || r == '_' || r >= '0' && r <= '9' || r >= 'A' && r <= 'Z' || r >= 'a' && r <= 'z' {
			return r
		}
		return '-'
	}, name)
	if s == "" {
		s = "result"
	}
	return s[:min(len(s), 60)]
}

// extension goes by the media type.
func extension(mediaType string) string {
	media, _, err := mime.ParseMediaType(mediaType)
	if err != nil {
		media = strings.ToLower(strings.TrimSpace(mediaType))
	}
	if ext, ok := extensions[media]; ok {
		return ext
	}
	if m := plainMedia.FindStringSubmatch(media); m != nil {
		return "." + m[1]
	}
	return ".bin"
}

// plainMedia is a media type whose subtype does as an extension.
var plainMedia = regexp.MustCompile(`^(?:image|audio|video)/([a-z0-9]{1,8})$`)

var extensions = map[string]string{
	"image/jpeg": ".jpg", "image/svg+xml": ".svg", "image/x-icon": ".ico", "image/vnd.microsoft.icon": ".ico",
	"audio/mpeg": ".mp3", "audio/x-wav": ".wav", "audio/vnd.wave": ".wav", "audio/mp4": ".m4a",
	"application/pdf": ".pdf", "application/zip": ".zip", "application/gzip": ".gz", "application/json": ".json",
	"text/plain": ".txt", "text/csv": ".csv", "text/html": ".html",
}
