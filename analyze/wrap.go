package analyze

import (
	"slices"
	"strings"
)

// target is the command that is left when the wrappers around it are taken off.
type target struct {
	name string
	args []string
	// direct says that no wrapper stands before it: a function of this name runs.
	direct bool
	// external says that a program starts it, so it can be no builtin.
	external bool
	// ends says that the shell does not go on after it (exec).
	ends bool
	// opaque says that the wrapper's own words are not understood.
	opaque bool
}

// unwrap takes literal wrappers off a command line. fields may be only the
// first words of it. shadowed names are never taken for the wrapper they hide.
func unwrap(fields []string, shadowed func(string) bool) target {
	t := target{direct: true}
	for {
		if len(fields) == 0 {
			t.opaque = !t.direct
			return t
		}
		t.name, t.args = fields[0], fields[1:]
		if shadowed(t.name) {
			t.opaque = !t.direct
			return t
		}
		var rest []string
		ok := true
		switch t.name {
		case "command", "builtin", "exec":
			if t.external || len(t.args) == 0 {
				return t
			}
			rest = t.args
			if t.name != "exec" && rest[0] == "--" {
				rest = rest[1:]
			}
			if t.name == "command" && len(rest) > 0 && (rest[0] == "-v" || rest[0] == "-V") {
				return t
			}
			ok = len(rest) > 0 && !strings.HasPrefix(rest[0], "-")
			if t.name == "builtin" && ok {
				ok = slices.Contains(shellBuiltins, rest[0])
			}
			if t.name == "exec" && ok {
				t.ends, t.external = true, true
			}
		case "env":
			rest, ok = envCommand(t.args)
			if ok && len(rest) == 0 {
				return t
			}
			t.external = true
		case "timeout":
			rest, ok = timeoutCommand(t.args)
			t.external = true
		case "nice":
			rest, ok = niceCommand(t.args)
			if ok && len(rest) == 0 {
				return t
			}
			t.external = true
		case "stdbuf":
			rest, ok = stdbufCommand(t.args)
			t.external = true
		case "nohup":
			rest, ok = t.args, len(t.args) > 0 && !strings.HasPrefix(t.args[0], "-")
			t.external = true
		default:
			if t.external && slices.Contains(shellBuiltins, t.name) {
				t.opaque = true
			}
			return t
		}
		if !ok || len(rest) == 0 {
			t.opaque = true
			return t
		}
		fields, t.direct = rest, false
	}
}

// shellBuiltins are the builtins that matter here: those that a wrapper could
// lead to, and that no program can be.
var shellBuiltins = []string{"command", "builtin", "exec", "eval", "trap", "exit", "return", "source", ".",
	"alias", "unalias", "unset", "enable", "hash", "set", "shopt", "break", "continue", "true", "false", ":", "echo", "printf"}

func envCommand(args []string) ([]string, bool) {
	for len(args) > 0 {
		switch arg := args[0]; {
		case arg == "-i" || arg == "--ignore-environment":
		case arg == "-u" || arg == "--unset":
			if len(args) < 2 {
				return nil, false
			}
			args = args[1:]
		case strings.HasPrefix(arg, "--unset="):
		case arg == "--":
			return assignments(args[1:]), true
		case strings.HasPrefix(arg, "-"):
			return nil, false
		default:
			return assignments(args), true
		}
		args = args[1:]
	}
	return nil, true
}

func assignments(args []string) []string {
	for len(args) > 0 && strings.Contains(args[0], "=") {
		args = args[1:]
	}
	return args
}

func timeoutCommand(args []string) ([]string, bool) {
	for len(args) > 0 && strings.HasPrefix(args[0], "-") {
		switch arg := args[0]; {
		case arg == "-k" || arg == "-s" || arg == "--kill-after" || arg == "--signal":
			if len(args) < 2 {
				return nil, false
			}
			args = args[1:]
		case arg == "--foreground" || arg == "--preserve-status" || arg == "-v" || arg == "--verbose",
			strings.HasPrefix(arg, "--kill-after="), strings.HasPrefix(arg, "--signal="):
		default:
			return nil, false
		}
		args = args[1:]
	}
	if len(args) < 2 || args[0] == "" || args[0][0] < '0' || args[0][0] > '9' {
		return nil, false
	}
	return args[1:], true
}

func niceCommand(args []string) ([]string, bool) {
	if len(args) == 0 {
		return nil, true
	}
	switch arg := args[0]; {
	case arg == "-n":
		if len(args) < 2 || !isInt(args[1]) {
			return nil, false
		}
		return args[2:], true
	case strings.HasPrefix(arg, "--adjustment="), strings.HasPrefix(arg, "-") && isInt(arg[1:]),
		strings.HasPrefix(arg, "-n") && isInt(arg[2:]):
		return args[1:], true
	case strings.HasPrefix(arg, "-"):
		return nil, false
	}
	return args, true
}

func isInt(s string) bool {
	s = strings.TrimPrefix(s, "-")
	return s != "" && strings.Trim(s, "0123456789") == ""
}

func stdbufCommand(args []string) ([]string, bool) {
	for len(args) > 0 && strings.HasPrefix(args[0], "-") {
		arg := args[0]
		if len(arg) < 2 || !strings.ContainsRune("ioe", rune(arg[1])) {
			return nil, false
		}
		if len(arg) == 2 {
			if len(args) < 2 {
				return nil, false
			}
			args = args[1:]
		}
		args = args[1:]
	}
	return args, true
}

// shellText finds the text of bash -c and sh -c. ok is false when there is
// none, or when it would not be run.
func shellText(args []string) (text string, ok bool) {
	isText := false
	for len(args) > 0 {
		switch arg := args[0]; {
		case arg == "--norc" || arg == "--noprofile" || arg == "--posix" || arg == "--login":
		case arg == "--":
			args = args[1:]
			return first(args, isText)
		case len(arg) > 1 && (arg[0] == '-' || arg[0] == '+') && arg[1] != '-':
			for _, f := range arg[1:] {
				switch f {
				case 'c':
					isText = isText || arg[0] == '-'
				case 'o', 'O':
					if len(args) < 2 || strings.Count(arg, string(f)) > 1 || args[1] == "noexec" {
						return "", false
					}
					args = args[1:]
				case 'e', 'u', 'x', 'l', 'f', 'b', 'h', 'k', 'm', 'v', 'B', 'C', 'E', 'T':
				default:
					return "", false
				}
			}
		case strings.HasPrefix(arg, "-"):
			return "", false
		default:
			return first(args, isText)
		}
		args = args[1:]
	}
	return "", false
}

func first(args []string, ok bool) (string, bool) {
	if !ok || len(args) == 0 {
		return "", false
	}
	return args[0], true
}

// trapText finds the text that trap registers; rest says that more words
// follow args that are not known.
func trapText(args []string, rest bool) (text string, ok bool) {
	if len(args) > 0 && args[0] == "--" {
		args = args[1:]
	} else if len(args) > 0 && len(args[0]) > 1 && args[0][0] == '-' {
		return "", false
	}
	if len(args) == 0 || len(args) == 1 && !rest || args[0] == "-" || args[0] == "" {
		return "", false
	}
	return args[0], true
}
