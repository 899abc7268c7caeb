package corpus

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/tools-in-shell/tis/catalog"
)

// stage is the catalog of one case, with tools that give its canned results and
// write down what arrives.
type stage struct {
	catalog *catalog.Catalog

	mu    sync.Mutex
	calls []string
}

func newStage(c *Case) *stage {
	s := &stage{}
	act := func(list []*catalog.Tool) []*catalog.Tool {
		var out []*catalog.Tool
		for _, t := range list {
			own := &catalog.Tool{Name: t.Name, Server: t.Server, Description: t.Description, InputSchema: t.InputSchema, Hints: t.Hints, Policy: t.Policy}
			own.Executor = catalog.ExecutorFunc(func(_ context.Context, input json.RawMessage) (catalog.Output, error) {
				return s.call(c, own, input)
			})
			out = append(out, own)
		}
		return out
	}
	servers := slices.Clone(c.servers)
	for i, src := range servers {
		servers[i].Tools = act(src.Tools)
		if load := src.Load; load != nil {
			servers[i].Load = func(ctx context.Context) ([]*catalog.Tool, error) {
				list, err := load(ctx)
				return act(list), err
			}
		}
	}
	s.catalog = catalog.New(servers, act(c.top), catalog.Options{KeepVisible: c.Setting.KeepVisible})
	return s
}

func (s *stage) call(c *Case, t *catalog.Tool, input json.RawMessage) (catalog.Output, error) {
	s.mu.Lock()
	s.calls = append(s.calls, t.Command()+" "+compact(input))
	s.mu.Unlock()
	for _, r := range c.Setting.Results {
		if r.Tool != "*" && r.Tool != t.Command() || r.Input != nil && !same(r.Input, input) {
			continue
		}
		var text string
		switch {
		case r.Error != "":
			return catalog.Output{}, errors.New(r.Error)
		case len(r.Output) == 0:
			return catalog.TextOutput(""), nil
		case json.Unmarshal(r.Output, &text) == nil:
			return catalog.TextOutput(text), nil
		}
		return catalog.Output{Structured: json.RawMessage(compact(r.Output))}, nil
	}
	return catalog.Output{}, fmt.Errorf("the case has no result for %s %s; add one to \"results\"", t.Command(), compact(input))
}

// arrived lists the calls since it was asked last, in their order of arrival.
func (s *stage) arrived() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := s.calls
	s.calls = nil
	return out
}

// same reports whether two inputs are one, whatever their order of keys.
func same(a, b json.RawMessage) bool {
	x, err := catalog.Canonical(a)
	y, err2 := catalog.Canonical(b)
	return err == nil && err2 == nil && bytes.Equal(x, y)
}

func compact(raw json.RawMessage) string {
	var b bytes.Buffer
	if json.Compact(&b, raw) != nil {
		return strings.TrimSpace(string(raw))
	}
	return b.String()
}

// find is the call that an answer is about.
func (s *stage) find(ctx context.Context, a Answer) (catalog.Call, error) {
	words := strings.Fields(a.Tool)
	if len(words) < 2 || words[0] != "tools" {
		return catalog.Call{}, fmt.Errorf("the tool %q is not written as in a script: tools SERVER TOOL", a.Tool)
	}
	input := string(a.Input)
	if input == "" {
		input = "{}"
	}
	request, fault := s.catalog.Resolve(ctx, append(words[1:], input), nil, nil)
	switch {
	case fault != nil:
		return catalog.Call{}, fault
	case request.Call == nil:
		return catalog.Call{}, fmt.Errorf("%s is no call", a.Tool)
	}
	return *request.Call, nil
}
