package runner

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// wrapper answers the commands that run another command: what is behind them
// must reach the interceptor, so they are answered here.
func (s *shell) wrapper(ctx context.Context, c command) error {
	switch c.args[0] {
	case "env":
		return s.env(ctx, c)
	case "timeout":
		return s.timeout(ctx, c)
	default:
		// Priorities, terminals and buffers make no difference to a command here.
		rest := c.args[1:]
		for len(rest) > 0 && strings.HasPrefix(rest[0], "-") {
			takesValue := slices.Contains([]string{"-n", "-i", "-o", "-e", "-c", "-p"}, rest[0]) && c.args[0] != "setsid"
			if rest = rest[1:]; takesValue && len(rest) > 0 {
				rest = rest[1:]
			}
		}
		if len(rest) == 0 {
			return c.fail(125, "missing operand")
		}
		return s.exec(ctx, c.with(rest...))
	}
}

func (s *shell) env(ctx context.Context, c command) error {
	env, rest := slices.Clone(c.env), c.args[1:]
	for len(rest) > 0 {
		arg := rest[0]
		switch {
		case arg == "-i" || arg == "-" || arg == "--ignore-environment":
			env = nil
		case (arg == "-u" || arg == "--unset" || arg == "-C" || arg == "--chdir") && len(rest) > 1:
			if arg == "-u" || arg == "--unset" {
				env = unset(env, rest[1])
			} else {
				c.dir = abs(c.dir, rest[1])
			}
			rest = rest[1:]
		case strings.HasPrefix(arg, "--unset="):
			env = unset(env, strings.TrimPrefix(arg, "--unset="))
		case strings.HasPrefix(arg, "-u") && len(arg) > 2:
			env = unset(env, arg[2:])
		case arg == "--":
			rest = rest[1:]
			goto run
		case strings.HasPrefix(arg, "-"):
			return c.fail(125, "option %q is not supported here", arg)
		case strings.Contains(arg, "="):
			name, _, _ := strings.Cut(arg, "=")
			env = append(unset(env, name), arg)
		default:
			goto run
		}
		rest = rest[1:]
	}
run:
	for len(rest) > 0 && strings.Contains(rest[0], "=") {
		name, _, _ := strings.Cut(rest[0], "=")
		env, rest = append(unset(env, name), rest[0]), rest[1:]
	}
	if len(rest) == 0 {
		for _, kv := range env {
			fmt.Fprintln(c.out, kv)
		}
		return nil
	}
	c.env = env
	return s.exec(ctx, c.with(rest...))
}

func unset(env []string, name string) []string {
	return slices.DeleteFunc(slices.Clone(env), func(kv string) bool { return strings.HasPrefix(kv, name+"=") })
}

// timeout ends the command behind it after a while, with exit code 124.
func (s *shell) timeout(ctx context.Context, c command) error {
	rest := c.args[1:]
	for len(rest) > 0 && strings.HasPrefix(rest[0], "-") {
		takesValue := rest[0] == "-k" || rest[0] == "-s" || rest[0] == "--kill-after" || rest[0] == "--signal"
		if rest = rest[1:]; takesValue && len(rest) > 0 {
			rest = rest[1:]
		}
	}
	if len(rest) < 2 {
		return c.fail(125, "missing operand: timeout DURATION COMMAND [ARG]...")
	}
	d, err := seconds(rest[0])
	if err != nil {
		return c.fail(125, "invalid time interval %q", rest[0])
	}
	inner := ctx
	if d > 0 {
		var cancel context.CancelFunc
		inner, cancel = context.WithTimeout(ctx, d)
		defer cancel()
	}
	err = s.exec(inner, c.with(rest[1:]...))
	if ctx.Err() == nil && errors.Is(inner.Err(), context.DeadlineExceeded) {
		return status(124)
	}
	return err
}

// seconds reads timeout's and sleep's durations: 5, 0.5, 2m.
func seconds(s string) (time.Duration, error) {
	unit := time.Second
	if s != "" {
		if u, ok := map[byte]time.Duration{'s': time.Second, 'm': time.Minute, 'h': time.Hour, 'd': 24 * time.Hour}[s[len(s)-1]]; ok {
			unit, s = u, s[:len(s)-1]
		}
	}
	n, err := strconv.ParseFloat(s, 64)
	if err != nil || n < 0 || n > 1e9 {
		return 0, errors.New("not a duration")
	}
	return time.Duration(n * float64(unit)), nil
}
