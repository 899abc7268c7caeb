package runner

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/interp"
)

// find runs the host's find, which starts confined utilities by itself. A
// command that is answered in process (tools, jq, bash, ...) is unknown to it:
// there find lists the files, and the command runs here for each of them.
func (s *shell) find(ctx context.Context, c command) error {
	at := slices.IndexFunc(c.args, func(a string) bool {
		return a == "-exec" || a == "-execdir" || a == "-ok" || a == "-okdir"
	})
	if at < 0 || at+1 >= len(c.args) || !inProcess[c.args[at+1]] {
		return s.utility(ctx, c)
	}
	if c.args[at] != "-exec" {
		return c.fail(1, "%s %s is not supported here; use -exec", c.args[at], c.args[at+1])
	}
	end := slices.IndexFunc(c.args[at:], func(a string) bool { return a == ";" || a == "+" })
	if end < 0 {
		return c.fail(1, "missing argument to -exec: it ends with ; or +")
	}
	end += at
	if end != len(c.args)-1 {
		return c.fail(1, "-exec %s must stand last here", c.args[at+1])
	}
	var list bytes.Buffer
	lister := c.with(append(slices.Clone(c.args[:at]), "-print0")...)
	lister.out = &list
	listed := s.utility(ctx, lister)
	var code interp.ExitStatus
	if listed != nil && !errors.As(listed, &code) {
		return listed
	}
	names := strings.FieldsFunc(list.String(), func(r rune) bool { return r == 0 })
	template := c.args[at+1 : end]
	c.attached = false
	if c.args[end] == "+" {
		if len(names) == 0 {
			return listed
		}
		var args []string
		for _, a := range template {
			if a == "{}" {
				args = append(args, names...)
			} else {
				args = append(args, a)
			}
		}
		if err := s.exec(ctx, c.with(args...)); err != nil {
			return err
		}
		return listed
	}
	for _, name := range names {
		args := make([]string, len(template))
		for i, a := range template {
			args[i] = strings.ReplaceAll(a, "{}", name)
		}
		if err := s.exec(ctx, c.with(args...)); err != nil && !errors.As(err, &code) {
			return err
		}
	}
	return listed
}
