package analyze

import (
	"path"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// call walks one simple command.
func (w *walker) call(c *syntax.CallExpr, p place) outcome {
	for _, a := range c.Assigns {
		w.substitutions(a, p)
	}
	for _, word := range c.Args {
		w.substitutions(word, p)
	}
	if len(c.Args) == 0 {
		return outcome{}
	}
	l := w.defs.lines[c]
	if len(l.fields) == 0 {
		if !l.known {
			w.hide(c, p)
		}
		return outcome{}
	}
	t := unwrap(l.fields, w.defs.shadowed)
	if w.defs.aliases[t.name] {
		w.hide(c, p)
		return outcome{}
	}
	if w.defs.funcs[t.name] && !t.opaque && t.name != "tools" {
		w.enter(t.name, p)
		// Before the definition, and in another shell, it is the command of this name.
		if other := unwrap(l.fields, notShadowed); other.opaque || other.name != t.name || isText(t.name) || hides(other, line{known: l.known}) {
			w.hide(c, p)
		}
		return outcome{}
	}
	if t.opaque {
		// A wrapper whose own words are not known, or that hides a function.
		if !l.known || mentions(l) {
			w.hide(c, p)
		}
		return outcome{}
	}
	o := w.target(c, t, l, p)
	if t.ends && l.known { // else an expansion can fail, and exec with it
		o = outcome{flow: leavesShell}
	}
	return o
}

// target walks the command that is left without its wrappers.
func (w *walker) target(c *syntax.CallExpr, t target, l line, p place) outcome {
	switch t.name {
	case "tools":
		w.tools(c, t, l, p)
	case "true", ":":
		return outcome{status: succeeds}
	case "false":
		return outcome{status: fails}
	case "exit":
		if l.known && len(t.args) < 2 || !l.known && len(l.rest) == 1 && len(t.args) == 0 {
			return outcome{flow: leavesShell}
		}
	case "return":
		if p.function && l.known && len(t.args) < 2 {
			return outcome{flow: leavesFunction}
		}
	case "break", "continue":
		if p.loop && l.known && len(t.args) == 0 {
			return outcome{flow: leavesLoop}
		}
	case "eval":
		if !l.known {
			w.hide(c, p)
			return outcome{}
		}
		return w.nested(c, w.defs.texts[c], p)
	case "trap":
		if text := w.defs.texts[c]; text != nil {
			w.nested(c, text, p)
		} else if !l.known && len(t.args) == 0 {
			w.hide(c, p)
		}
	case "bash", "sh":
		if text := w.defs.texts[c]; text != nil {
			w.nested(c, text, p)
		} else {
			w.hide(c, p)
		}
	default:
		if hides(t, l) {
			w.hide(c, p)
		}
	}
	return outcome{}
}

// isText reports whether a command runs a text.
func isText(name string) bool { return slices.Contains([]string{"eval", "trap", "bash", "sh"}, name) }

// tools notes one tools command.
func (w *walker) tools(c *syntax.CallExpr, t target, l line, p place) {
	found := command{args: t.args, known: l.known, where: p.where}
	found.line, found.col, found.offset = p.at.position(c.Args[0].Pos())
	found.literal = l.known && !w.defs.tools && !w.defs.attached[c] && !slices.Contains(t.args, "-")
	if p.backquote && found.literal {
		// Backquotes take one layer of backslashes off what stands in them.
		from, to := int(c.Args[0].Pos().Offset()), int(c.End().Offset())
		found.literal = from <= to && to <= len(p.at.src) && !strings.Contains(p.at.src[from:to], `\`)
	}
	found.node, found.attached = c, w.defs.attached[c]
	found.exact = !p.at.nested || p.at.exact
	if len(l.fields)+len(l.rest) == len(c.Args) { // each known word is one field
		found.words = c.Args[len(l.fields)-len(t.args):]
	}
	w.found.commands = append(w.found.commands, found)
}

// hide notes a command that may call what is not known.
func (w *walker) hide(c *syntax.CallExpr, p place) {
	w.found.complete = false
	h := Hidden{Node: c, Exact: !p.at.nested || p.at.exact}
	h.Line, h.Col, h.Offset = p.at.position(c.Pos())
	w.found.hidden = append(w.found.hidden, h)
}

// hides reports whether a command may run others that cannot be seen.
func hides(t target, l line) bool {
	name := t.name
	if strings.Contains(name, "/") {
		if dir := path.Dir(name); dir != "/bin" && dir != "/usr/bin" && dir != "/usr/local/bin" {
			return true // a file of the script's own
		}
		name = path.Base(name)
	}
	if slices.Contains(harmless, name) && (l.known || name != "env" && name != "nice") {
		return false
	}
	if slices.Contains(runners, name) {
		return true
	}
	switch name {
	case "command", "builtin", "exec", "env", "nice":
		// Nothing that is known stands behind it.
		lookUp := name == "command" && len(t.args) > 0 && (t.args[0] == "-v" || t.args[0] == "-V")
		return !l.known && !lookUp
	case "find":
		return !l.known || slices.ContainsFunc(t.args, func(a string) bool {
			return a == "-exec" || a == "-execdir" || a == "-ok" || a == "-okdir"
		})
	case "type":
		return false
	case "mapfile", "readarray":
		return slices.Contains(t.args, "-C")
	case "alias", "enable":
		return len(t.args) > 0 || !l.known
	}
	return mentions(l)
}

// runners start the commands or files that their arguments, or their stdin,
// name.
var runners = []string{"source", ".", "xargs", "parallel", "sudo", "doas", "su", "ssh", "watch", "script", "flock",
	"setsid", "ionice", "chroot", "unshare", "nsenter", "strace", "busybox", "dash", "zsh", "ksh", "fish", "rbash",
	"make", "entr", "at", "batch", "setpriv", "taskset", "chrt", "unbuffer", "expect", "runuser",
	"complete", "fc"}

// harmless commands only read, print or compute with what they are given.
var harmless = []string{"echo", "printf", "jq", "grep", "egrep", "fgrep", "cat", "head", "tail", "sort", "uniq", "wc",
	"cut", "tr", "tee", "ls", "test", "[", "read", "cd", "pwd", "mkdir", "rmdir", "rm", "cp", "mv", "touch", "ln",
	"date", "sleep", "wait", "set", "shopt", "shift", "unset", "getopts", "seq", "basename", "dirname", "realpath",
	"readlink", "stat", "du", "df", "diff", "cmp", "comm", "join", "paste", "nl", "fold", "fmt", "column", "rev",
	"tac", "shuf", "split", "md5sum", "sha1sum", "sha256sum", "base64", "od", "xxd", "hexdump", "mktemp", "umask",
	"id", "whoami", "hostname", "uname", "env", "printenv", "which", "kill", "jobs", "expr", "bc", "let", "file",
	"nice", "yes", "times", "ulimit", "unalias", "pushd", "popd", "dirs", "hash", "help", "caller"}
