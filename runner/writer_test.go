package runner_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// writer writes scripts at random: calls in every position, of words in every
// kind of quotes, in functions, loops, pipes, here-documents, eval and traps.
// Every call has an id of its own. A script ends soon, whatever it does.
type writer struct {
	*rand.Rand
	calls, names int
	functions    []string
}

func newWriter(r *rand.Rand) *writer { return &writer{Rand: r} }

func (w *writer) script() string {
	head := w.pick("", "", "", "", "", "set -e\n", "set -u\n", "set -f\n", "IFS=l\n", "shopt -s nullglob\n", "shopt -s expand_aliases\n", "set -- tools g l\n", "t=tools x=l s=g\n", "t=tools x=l s=g\n", "tools() { echo \"$@\"; }\n", "alias tools='tools g'\n",
		"shopt -s expand_aliases\nalias tools='tools g '\n", "shopt -s expand_aliases\nalias l=m g='g '\n", "command() { :; }\n", "env() { \"$@\"; }\n", "HOME=/h\n", "touch_() { :; }\n: > a; : > b=c\n")
	return head + w.list(w.IntN(4), 1+w.IntN(2))
}

func (w *writer) pick(of ...string) string { return of[w.IntN(len(of))] }

// name is a name that nothing else has.
func (w *writer) name(prefix string) string {
	w.names++
	return fmt.Sprintf("%s%d", prefix, w.names)
}

func (w *writer) list(depth, n int) string {
	var lines []string
	for range n {
		lines = append(lines, w.statement(depth))
	}
	return strings.Join(lines, "\n")
}

// statement is one statement, or a few; it may span lines.
func (w *writer) statement(depth int) string {
	if depth == 0 {
		return w.command()
	}
	in := func() string { return w.statement(depth - 1) }
	switch w.IntN(44) {
	case 0:
		return "if " + w.pick("true", "false", ":", "! true", "[ 1 = 1 ]", "[[ a == a ]]", w.command()) + "; then\n" + in() + "\nelse\n" + in() + "\nfi"
	case 1:
		return "for i in " + w.pick("1 2", "a", "{1..3}", "*", "", "$s l") + "; do\n" + in() + "\ndone"
	case 2:
		v := w.name("n")
		return v + "=0; while [ $" + v + " -lt 2 ]; do " + v + "=$((" + v + "+1))\n" + in() + "\n" + w.pick("", "", "break", "continue") + "\ndone"
	case 3:
		return "until true; do\n" + in() + "\ndone"
	case 4:
		return "case " + w.pick("a", "$x", "'a b'") + " in a)\n" + in() + "\n;; *)\n" + in() + "\n;; esac"
	case 5:
		return "(\n" + in() + "\n)"
	case 6:
		return "{\n" + in() + "\n}" + w.pick("", " > /dev/null", " < /dev/null", " <<< '{\"z\":1}'")
	case 7:
		return in() + "\n" + w.command() + w.pick(" && ", " || ") + w.command()
	case 8:
		return w.pick("true && ", "false || ", "false && ", "true || ", "! ") + w.command()
	case 9:
		return w.command() + " | " + w.command()
	case 10:
		return "echo '{\"p\":1}' | {\n" + in() + "\n}"
	case 11:
		return w.command() + " | while read -r line; do\n" + in() + "\ndone"
	case 12:
		return w.command() + " &\nwait"
	case 13, 14:
		f := w.name("f")
		w.functions = append(w.functions, f)
		body := in()
		return f + "() {\n" + body + "\n" + w.pick("", "", "return", "return 1") + "\n}\n" + w.pick(f, f, f, "", f+" a", "command "+f, "$n0 "+f)
	case 15:
		if len(w.functions) == 0 {
			return in()
		}
		return w.functions[w.IntN(len(w.functions))]
	case 16:
		if len(w.functions) == 0 {
			return in()
		}
		return w.functions[w.IntN(len(w.functions))] + "() { " + w.command() + "; }"
	case 17:
		return "eval " + quote(in())
	case 18:
		return "eval \"" + w.pick("", "$n0", ": && ") + doubled(in()) + "\""
	case 19:
		return "v=" + quote(in()) + "\neval \"$v\""
	case 20:
		return "trap " + quote(in()) + " " + w.pick("EXIT", "ERR", "0", "TERM", "EXIT ERR")
	case 21:
		return w.pick("bash", "sh") + " -c " + quote(in())
	case 22:
		return "bash <<'END" + w.name("") + "'\n" + in() + "\nEND" + fmt.Sprint(w.names)
	case 23:
		return "echo " + quote(in()) + " | bash"
	case 24:
		return "source <(echo " + quote(in()) + ")"
	case 25:
		return "v=$(" + in() + "\n)"
	case 26:
		return "echo \"$(" + in() + "\n)\" > /dev/null"
	case 27:
		return "v=`" + w.plain() + "`"
	case 28:
		return "cat_() { while read -r line; do :; done; }\ncat_ <<END" + w.name("") + "\n$(" + in() + "\n)\nEND" + fmt.Sprint(w.names)
	case 29:
		return "read -r line < <(" + in() + "\n)"
	case 30:
		return "[[ -n $(" + in() + "\n) ]]"
	case 31:
		return ": $(( 1 + $(" + w.command() + " > /dev/null\necho 1) ))"
	case 32:
		return ": ${n0:-$(" + in() + "\n)}"
	case 33:
		return w.pick("exit", "exit 3", "return", "break", "continue", "set +e", "false", "true", "unset -f f1", "unalias -a", "t=other", "x=m", "shift", "exec > /dev/null", "wait", "cd .", "n0=", "false; exit", "if true; then exit; fi", "true && exit 0", "trap - EXIT", "set -f", "shopt -s extglob")
	case 34:
		return "local_() { local t=tools x=l s=g\n" + in() + "\n}\nlocal_"
	case 35:
		return "a=(tools g l " + w.id() + ")\n" + w.pick("\"${a[@]}\"", "${a[@]}", "\"${a[*]}\"", "${a[0]} ${a[1]} ${a[2]}")
	case 36:
		return "tools plan <<'END" + w.name("") + "'\n" + in() + "\nEND" + fmt.Sprint(w.names)
	case 37:
		return "time " + w.command()
	case 38:
		return "echo " + w.id() + " | xargs tools g " + w.pick("l", "m")
	case 39:
		return "# " + w.plain() + "\nif false; then " + w.command() + "; fi"
	default:
		return w.command()
	}
}

// id is the pair that tells a call from all others.
func (w *writer) id() string {
	w.calls++
	return fmt.Sprintf("id=%d", 1000+w.calls)
}

// plain is a call without anything special.
func (w *writer) plain() string { return "tools g " + w.pick("l", "m", "n") + " " + w.id() }

// command is one simple command, most often a call.
func (w *writer) command() string {
	var b strings.Builder
	b.WriteString(w.pick("", "", "", "", "", "", "A=b ", "t=tools ", "> /dev/null ", "A=$(echo x) "))
	b.WriteString(w.pick("", "", "", "", "", "", "", "", "command ", "env A=b ", "timeout 5 ", "nice ", "nohup ", "exec ", "builtin command ", "env -i ", "command -p ", "nice -n 5 ", "stdbuf -oL ", "setsid "))
	b.WriteString(w.pick("tools g l", "tools g l", "tools g l", "tools g m", "tools g n", "tools w", "tools G L", "$t g l", "tools $s l", "tools g $x", "\"tools\" g l", "\\tools g l", "to''ols g l", "{tools,g,l}", "tools {g,l}", "tools g l{,}", "tools g ~", "tools -- g l", "$1 $2 $3", "\"$@\"",
		"tools g l --help", "tools search l", "tools x y", "tools", "echo", "jq -n 1 #", "tools g 'l' --", "$'tools' g l", "tools `echo g` l", "tools\tg\\\n l"))
	b.WriteString(" " + w.id())
	for range w.IntN(4) {
		b.WriteString(" " + w.word())
	}
	if w.IntN(6) == 0 {
		b.WriteString(" " + w.pick("< /dev/null", "<<< '{\"h\":1}'", "<<< \"{\\\"h\\\":$x}\"", "> /dev/null", "2>&1", "-", "< a", "0< a", "<&0", "> out 2>&1", "<&-", "2> /dev/null - <<< '{}'"))
	}
	return b.String()
}

// word is an argument, glued of pieces of every kind.
func (w *writer) word() string {
	switch w.IntN(6) {
	case 0, 1, 2:
		return w.pick("b=x", "n=7", "'b=x y'", "--b x", "--flag", "'{\"b\":1}'", "n=1.50", "b=\"a'b\"")
	case 3, 4:
		return w.pick("b=x", "n=7", "n=1e3", "'b=x y'", "\"b=x\"", "--b x", "--flag", "--n=7", "{\"b\":1}", "'{\"b\":1}'", "'{\"b\":[1,{\"c\":null}]}'", "\"{\\\"b\\\":1}\"", "b={1,2}", "{b,c}=1", "b=*", "b=?", "b=[a]", "b=~", "b=~/x", "~", "b=$x", "b=\"$x\"", "b='$x'", "b=\\$x", "b=$'a\\tb'", "b=$'\\x41'", "b=`echo 1`", "b=$(echo 1)", "b=$((1+1))",
			"b=a\\ b", "b=a#b", "b=é", "b=\"a'b\"", "b='a\"b'", "b={1..3}", "b={a}", "b=a:~", "b=!x", "b=@(a)", "b=\\\n", "b=$", "b=$\"q\"", "b=\"\\$x\"", "b=\"\\a\"", "b=<(echo)", "b=%", "b==", "--", "x", "b=\\\\", "b='\\'", "b=\"a\\\nb\"")
	}
	var b strings.Builder
	b.WriteString("b=")
	for range 1 + w.IntN(4) {
		b.WriteString(w.pick("a", "$x", "\"$x\"", "'q'", "\"d\"", "\\*", "{1,2}", "~", ":", "/", "$'\\n'", "*", "=", ",", "..", "é", "\\\"", "1", "{", "}", "`echo`", "$(echo)", "[", "]", "!"))
	}
	return b.String()
}

// quote is a text in single quotes.
func quote(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }

// doubled is a text for double quotes, in which its own expansions wait.
func doubled(text string) string {
	return strings.NewReplacer(`\`, `\\`, `"`, `\"`, "$", `\$`, "`", "\\`").Replace(text)
}
