package mcpsource

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/tools-in-shell/tis/catalog"
)

// resources are what a server lets be read beside its tools.
type resources struct{ server *server }

// Offered reports whether the server said that it has resources.
func (r *resources) Offered() bool { return r.server.resources.Load() }

// Prepare starts the server again when it has died.
func (r *resources) Prepare(ctx context.Context) error {
	ctx, done := r.server.bound(ctx)
	defer done()
	_, err := r.connect(ctx)
	return err
}

func (r *resources) connect(ctx context.Context) (*conn, error) {
	c, err := r.server.connect(ctx)
	if err != nil {
		return nil, r.server.connectFault(ctx, err)
	}
	return c, nil
}

// Execute reads a resource by its URI.
func (r *resources) Execute(ctx context.Context, input json.RawMessage) (catalog.Output, error) {
	s := r.server
	var in struct {
		URI string `json:"uri"`
	}
	if err := json.Unmarshal(input, &in); err != nil {
		return catalog.Output{}, catalog.Errorf(catalog.InvalidInput, "the input has no uri: %v", err)
	}
	ctx, done := s.bound(ctx)
	defer done()
	raw, err := s.exchange(ctx, r.connect, func(c *conn) (json.RawMessage, error) { return c.read(ctx, in.URI) })
	if err != nil {
		return catalog.Output{}, err
	}
	return contents(raw)
}

// read asks for a resource.
func (c *conn) read(ctx context.Context, uri string) (json.RawMessage, error) {
	a := &answer{}
	defer a.release()
	result, err := c.session.ReadResource(withAnswer(ctx, a), &mcp.ReadResourceParams{URI: uri})
	if raw, answered := a.get(); err == nil && raw == nil && answered == nil && result != nil {
		return json.Marshal(result) // the SDK had it still
	}
	return a.outcome(err)
}

// contents reads a resources/read result as it came: texts as text, binary data
// as images or files.
func contents(raw json.RawMessage) (catalog.Output, error) {
	var result struct {
		Contents []json.RawMessage `json:"contents"`
	}
	if err := json.Unmarshal(raw, &result); err != nil {
		return catalog.Output{}, catalog.Errorf(catalog.ToolError, "the server's answer cannot be read: %v", err)
	}
	if len(result.Contents) == 0 {
		return catalog.Output{}, catalog.Errorf(catalog.ToolError, "the server has nothing under this URI")
	}
	var out catalog.Output
	for _, c := range result.Contents {
		p, err := content(c)
		if err != nil {
			return catalog.Output{}, catalog.Errorf(catalog.ToolError, "the server's answer cannot be read: %v", err)
		}
		out.Parts = append(out.Parts, p)
	}
	return out, nil
}

func content(raw json.RawMessage) (catalog.Part, error) {
	var in struct {
		Text     *string `json:"text"`
		Blob     *string `json:"blob"`
		MIMEType string  `json:"mimeType"`
	}
	if err := json.Unmarshal(raw, &in); err != nil {
		return catalog.Part{}, err
	}
	p := catalog.Part{Type: "resource", MIMEType: in.MIMEType, Raw: raw}
	switch {
	case in.Text != nil:
		p.Type, p.Text = "text", *in.Text
	case in.Blob != nil:
		if strings.HasPrefix(strings.ToLower(in.MIMEType), "image/") {
			p.Type = "image"
		}
		data, err := base64.StdEncoding.DecodeString(*in.Blob)
		if p.Data = data; err != nil {
			p.Data, p.BadData = nil, "its data is not base64"
		} else if len(data) == 0 {
			p.BadData = "its data is empty"
		}
	default: // some leave an empty text out
		p.Type = "text"
	}
	return p, nil
}

// maxListed is how many resources are taken from a server's list.
const maxListed = 1000

// List is what the server lists, and its templates.
func (r *resources) List(ctx context.Context) ([]catalog.Resource, error) {
	s := r.server
	ctx, done := s.bound(ctx)
	defer done()
	c, err := r.connect(ctx)
	if err != nil {
		return nil, err
	}
	var out []catalog.Resource
	for x, err := range c.session.Resources(ctx, nil) {
		if err != nil {
			return nil, s.listFault(ctx, c, err)
		}
		if out = append(out, catalog.Resource{URI: x.URI, Name: x.Name, Description: x.Description}); len(out) >= maxListed {
			return out, nil
		}
	}
	for x, err := range c.session.ResourceTemplates(ctx, nil) {
		if err != nil || len(out) >= maxListed {
			break // many servers have none and say so with an error
		}
		out = append(out, catalog.Resource{URI: x.URITemplate, Name: x.Name, Description: x.Description, Template: true})
	}
	return out, nil
}

// listFault says why resources could not be listed.
func (s *server) listFault(ctx context.Context, c *conn, err error) error {
	if errors.Is(err, errSignIn) {
		return s.startFault(err)
	}
	if cause := context.Cause(ctx); cause != nil {
		err = cause
	}
	s.forgotten(c, err)
	return &catalog.Error{Code: catalog.Unavailable, Retryable: true, Message: s.clean(fmt.Sprintf("%s: its resources cannot be listed: %v", s.called(), plain(err)))}
}
