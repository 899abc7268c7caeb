package mcpsource

import (
	"encoding/base64"
	"encoding/json"
	"strings"

	"github.com/tools-in-shell/tis/catalog"
)

// maxErrorText is how much of a failed tool's text is kept, in bytes.
const maxErrorText = 64 << 10

// output reads a tools/call result as it came.
func output(raw json.RawMessage) (catalog.Output, error) {
	var result *struct {
		Content           []json.RawMessage `json:"content"`
		StructuredContent json.RawMessage   `json:"structuredContent"`
		IsError           bool              `json:"isError"`
		ResultType        string            `json:"resultType"`
	}
	switch err := json.Unmarshal(raw, &result); {
	case err != nil:
		return catalog.Output{}, catalog.Errorf(catalog.ToolError, "the call was made, and its result cannot be read: %v", err)
	case result == nil:
		return catalog.Output{}, catalog.Errorf(catalog.ToolError, "the call was made, and its result is null")
	case result.ResultType == "input_required":
		return catalog.Output{}, catalog.Errorf(catalog.ToolError, "the tool asks for more input on the way, which a script cannot give")
	}
	var out catalog.Output
	if s := result.StructuredContent; len(s) > 0 && string(s) != "null" {
		out.Structured = s
	}
	var texts []string
	for _, r := range result.Content {
		p := part(r)
		if out.Parts = append(out.Parts, p); p.Type == "text" {
			texts = append(texts, p.Text)
		}
	}
	if result.IsError {
		text := strings.Join(texts, "\n")
		if strings.TrimSpace(text) == "" {
			text = string(out.Structured)
		}
		if strings.TrimSpace(text) == "" {
			text = "the tool failed without saying why"
		}
		return catalog.Output{}, catalog.Errorf(catalog.ToolError, "%s", clip(text, maxErrorText))
	}
	return out, nil
}

func part(raw json.RawMessage) catalog.Part {
	var in struct {
		Type     string  `json:"type"`
		Text     string  `json:"text"`
		Data     *string `json:"data"`
		MIMEType string  `json:"mimeType"`
		Resource struct {
			Blob     *string `json:"blob"`
			MIMEType string  `json:"mimeType"`
		} `json:"resource"`
	}
	p := catalog.Part{Raw: raw}
	if json.Unmarshal(raw, &in) != nil {
		p.Type = "unknown"
		return p
	}
	p.Type, p.Text, p.MIMEType = in.Type, in.Text, in.MIMEType
	data := in.Data
	if in.Type == "resource" && in.Resource.Blob != nil {
		data, p.MIMEType = in.Resource.Blob, in.Resource.MIMEType
	}
	if in.Type != "image" && in.Type != "audio" && in.Type != "resource" {
		return p
	}
	switch {
	case data != nil:
		b, err := base64.StdEncoding.DecodeString(*data)
		switch {
		case err != nil:
			p.BadData = "its data is not base64"
		case len(b) == 0 && in.Type != "resource":
			p.BadData = "its data is empty"
		default:
			p.Data = b
		}
	case in.Type != "resource":
		p.BadData = "it has no data"
	}
	return p
}
