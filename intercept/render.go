package intercept

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/tools-in-shell/tis/catalog"
)

// result is an output made ready: for the script, for the disk and for the record.
type result struct {
	text  string          // what is printed
	files []catalog.Part  // images and other binary parts, set aside
	value json.RawMessage // how it stands in the report
	links []string        // URIs of resources that the result names
	whole catalog.Output  // as the tool gave it
}

// arrange sets the binary parts aside and prints the rest: text as it is,
// anything else as JSON on one line.
func arrange(out catalog.Output) result {
	var r result
	var rest []catalog.Part
	texts := true
	for _, p := range out.Parts {
		if binary(p) {
			r.files = append(r.files, p)
			continue
		}
		if uri := link(p); uri != "" {
			r.links = append(r.links, uri)
		}
		rest = append(rest, p)
		texts = texts && plain(p)
	}
	switch {
	case len(out.Structured) > 0:
		r.value = compact(out.Structured)
		r.text = string(r.value) + "\n"
	case len(rest) == 0:
		r.value = nothing(len(r.files))
	case texts:
		text := join(rest)
		r.value, r.text = encode(text), text
		if !strings.HasSuffix(text, "\n") {
			r.text += "\n"
		}
	default:
		r.value = array(rest)
		r.text = string(r.value) + "\n"
	}
	return r
}

func binary(p catalog.Part) bool {
	return p.Type == "image" || p.Type == "audio" || p.Data != nil || p.BadData != ""
}

// link is the URI of a part that only names a resource.
func link(p catalog.Part) string {
	var in struct {
		URI string `json:"uri"`
	}
	if p.Type != "resource_link" || json.Unmarshal(p.Raw, &in) != nil {
		return ""
	}
	return in.URI
}

func plain(p catalog.Part) bool { return p.Type == "text" }

// nothing is the record of a result without anything to print.
func nothing(files int) json.RawMessage {
	switch files {
	case 0:
		return json.RawMessage("null")
	case 1:
		return encode("(1 file)")
	}
	return encode(fmt.Sprintf("(%d files)", files))
}

func join(parts []catalog.Part) string {
	texts := make([]string, len(parts))
	for n, p := range parts {
		texts[n] = p.Text
	}
	return strings.Join(texts, "\n")
}

// array is parts as a JSON array, each as it came.
func array(parts []catalog.Part) json.RawMessage {
	b := []byte("[")
	for n, p := range parts {
		if n > 0 {
			b = append(b, ',')
		}
		raw := p.Raw
		if len(raw) == 0 {
			raw = encode(struct {
				Type string `json:"type"`
				Text string `json:"text"`
			}{p.Type, p.Text})
		}
		b = append(b, compact(raw)...)
	}
	return append(b, ']')
}

// compact is JSON on one line, digits and key order untouched. What is no JSON
// becomes a JSON string.
func compact(raw json.RawMessage) json.RawMessage {
	var b bytes.Buffer
	if json.Compact(&b, raw) != nil {
		return encode(string(raw))
	}
	return b.Bytes()
}

func encode(v any) json.RawMessage {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil { // strings and structs of them always encode
		panic(err)
	}
	return bytes.TrimSpace(b.Bytes())
}
