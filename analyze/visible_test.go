package analyze

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// literal lists the literal calls of a script, one a line: where, line and the
// words, in brackets when one of them has a space or is empty.
func literal(t testing.TB, script string) string {
	t.Helper()
	s, err := Parse(script, "")
	require.NoError(t, err)
	var b strings.Builder
	for _, c := range s.findings().commands {
		if !c.literal {
			continue
		}
		if b.Len() > 0 {
			b.WriteString("; ")
		}
		if c.where != InScript {
			fmt.Fprintf(&b, "%s:", c.where)
		}
		if c.line != 1 {
			fmt.Fprintf(&b, "%d:", c.line)
		}
		for i, a := range c.args {
			if i > 0 {
				b.WriteByte(' ')
			}
			if a == "" || strings.ContainsAny(a, " \n") {
				a = fmt.Sprintf("<%s>", a)
			}
			b.WriteString(a)
		}
	}
	return b.String()
}

type row struct{ name, script, want string }

func runTable(t *testing.T, rows []row) {
	for _, r := range rows {
		t.Run(r.name, func(t *testing.T) {
			require.Equal(t, r.want, literal(t, r.script), r.script)
		})
	}
}

func TestWordsThatAreLiteral(t *testing.T) {
	runTable(t, []row{
		{"plain words", `tools github list-pulls repo=a/b`, `github list-pulls repo=a/b`},
		{"no words", `tools`, ``},
		{"a JSON argument", `tools g l '{"a":"b c"}'`, `g l <{"a":"b c"}>`},
		{"single quotes", `tools g l 'a=$x'`, `g l a=$x`},
		{"double quotes", `tools g l "a=b c"`, `g l <a=b c>`},
		{"escapes in double quotes", `tools g l "\$x \" \\ \a"`, `g l <$x " \ \a>`},
		{"a backslash", `tools g l a=\$x\ y\*`, `g l <a=$x y*>`},
		{"an escaped newline", "tools g \\\n l", `g l`},
		{"a quoted newline", "tools g l 'a=1\n2'", "g l <a=1\n2>"},
		{"a word of several quotes", `tools g l a="b"'c'd`, `g l a=bcd`},
		{"an empty word", `tools g l '' ""`, `g l <> <>`},
		{"the command word quoted", `"tools" g l`, `g l`},
		{"the command word escaped", `\tools g l`, `g l`},
		{"the command word in pieces", `to'o'"l"s g l`, `g l`},
		{"dollar single quotes", `tools g l $'a=\tb\x41\101\u00e9\'\\'`, "g l a=\tbAAé'\\"},
		{"dollar double quotes", `tools g l $"a=b"`, `g l a=b`},
		{"braces", `tools g l {branch=x,force=true}`, `g l branch=x force=true`},
		{"braces with text around", `tools g l x={a,b}y`, `g l x=ay x=by`},
		{"nested braces", `tools g l {a,{b,c}}=1`, `g l a=1 b=1 c=1`},
		{"a sequence", `tools g l {1..3}`, `g l 1 2 3`},
		{"unquoted JSON is brace expansion", `tools g l {"a":1,"b":2}`, `g l a:1 b:2`},
		{"unquoted JSON of one key stays", `tools g l {"a":1}`, `g l {a:1}`},
		{"braces in quotes", `tools g l '{a,b}' "{a,b}" \{a,b}`, `g l {a,b} {a,b} {a,b}`},
		{"the command from braces", `{tools,g} l`, `g l`},
		{"a tilde inside of a word", `tools g l ref=HEAD~1`, `g l ref=HEAD~1`},
		{"a quoted tilde", `tools g l 'b=~/x' "~" \~`, `g l b=~/x ~ ~`},
		{"a tilde quoted at its word's start", `tools g l '~/x'`, `g l ~/x`},
		{"a comment behind", `tools g l # $x`, `g l`},
		{"a hash inside of a word", `tools g l a#b`, `g l a#b`},
		{"an equals sign", `tools g l a==b`, `g l a==b`},
		{"a lone dollar", `tools g l a=$ "$"`, `g l a=$ $`},
		{"exclamation marks", `tools g l "hi!" a!b`, `g l hi! a!b`},
		{"a closing bracket", `tools g l a]b`, `g l a]b`},
		{"quoted patterns", `tools g l "a*" 'b?' \[c]`, `g l a* b? [c]`},
		{"dashes", `tools g l --a 1 --b=2 --`, `g l --a 1 --b=2 --`},
		{"an assignment before", `A=b tools g l`, `g l`},
		{"a dynamic assignment before", `A=$x IFS=: tools g l`, `g l`},
		{"an output redirection", `tools g l >out 2>&1`, `g l`},
		{"a redirection of another descriptor", `tools g l 2>$x`, `g l`},
		{"carriage returns between lines", "tools g l\r\ntools g m\r\n", `g l; 2:g m`},
	})
}

func TestWordsThatAreNot(t *testing.T) {
	for _, script := range []string{
		`tools g l $x`, `tools g l "a=$x"`, `tools g l a=${x}`, `tools g l "${x:-a}"`, `tools g l $1`, `tools g l "$@"`, `tools g l $?`,
		`tools g l $(echo a)`, "tools g l `echo a`", `tools g l "a=$(echo)"`, `tools g l a=$((1+1))`, `tools g l $[1+1]`,
		`tools g l <(echo a)`, `tools g l a=>(cat)`,
		`tools g l ~`, `tools g l ~/x`, `tools g l ~user`, `tools g l b=~/x`, `tools g l b=a:~/x`, `tools g l --b=~/x`, `tools g l {~/a,b}`,
		`tools g l ''~/x`, `tools g l b=''~`,
		`tools g l *`, `tools g l b=*`, `tools g l a?`, `tools g l [ab]`, `tools g l a[`, `tools g l {a,*}`,
		`tools g l @(a|b)`, `tools g l !(a)`, `tools g l +(a)`,
		`tools g l $'\u0000'`, `tools g l $'\cA'`, `tools g l $'a\0b'`, `tools g l $'\q'`, `tools g l $'\777'`, `tools g l $'\ud800'`,
		`tools g l {1..100000}`, `tools g l {1..9223372036854775807}`, `tools g l {a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}`,
		`tools g $x`, `tools $s l`, `$t g l`, `"$t" g l`, `${t}ools g l`, `$(echo tools) g l`, `t*ls g l`,
		`set -f; tools g l b=*`, `shopt -s nullglob extglob failglob; tools g l @(a) b=*`, `set -o noglob; tools g l ?`,
		`/usr/bin/tools g l`, `./tools g l`, `Tools g l`, `tools.sh g l`, `echo tools g l`,
		"`tools g l a=\\$x`", "\"`tools g l \\\"a\\\"`\"",
		`tools g l {,} x`, `tools g l {a,}`, `{tools,} g`,
		strings.Repeat("{", 65) + "tools g l " + strings.Repeat("{a,", 65),
	} {
		require.Empty(t, literal(t, script), script)
	}
}

func TestStdinKeepsACallFromBeingVisible(t *testing.T) {
	for _, script := range []string{
		`echo '{}' | tools g l`, `echo | tools g l | cat`, `a | b | tools g l`, `echo |& tools g l`,
		`echo | time tools g l`, `echo | time -p tools g l`, `echo | command tools g l`, `echo | env A=b tools g l`, `echo | timeout 5 tools g l`,
		`tools g l <f`, `tools g l < $f`, `<f tools g l`, `tools g l 0<f`, `tools g l <>f`, `tools g l <&3`, `tools g l <&-`, `tools g l 0>&1`, `tools g l 00<f`,
		`tools g l <<<'{}'`, "tools g l <<E\n{}\nE", "tools g l <<-'E'\n{}\nE", "tools g l 0<<E\nE", `timeout 5 tools g l <f`, `exec tools g l <f`,
		`tools g l -`, `tools g l - a=1`, `tools - g l`, `tools g l "-"`, `tools g l {-,a}`,
		`coproc tools g l`, `echo >(tools g l)`, `cat > >(tools g l)`,
	} {
		require.Empty(t, literal(t, script), script)
	}
	runTable(t, []row{
		{"a function inherits", `f() { tools g l; }; echo | f`, `function:g l`},
		{"a loop inherits", `echo | while read n; do tools g l; done`, `g l`},
		{"a group inherits", `echo | { tools g l; }`, `g l`},
		{"a subshell inherits", `(tools g l) <f`, `g l`},
		{"a condition inherits", `if tools g l; then :; fi <f`, `g l`},
		{"a later stage reads, the first does not", `tools g l | tools g m`, `g l`},
		{"a list right of a pipe", `echo | cat && tools g l`, `g l`},
		{"another descriptor", `tools g l 3<f`, `g l`},
		{"eval's own stdin", `echo | eval 'tools g l'`, `g l`},
		{"exec redirects for all", `exec <f; tools g l`, `g l`},
	})
}

func TestPlacesThatCount(t *testing.T) {
	runTable(t, []row{
		{"a list", `a; tools g l; b`, `g l`},
		{"lines", "a\ntools g l\n\n tools g m", `2:g l; 4:g m`},
		{"twice", `tools g l; tools g l`, `g l; g l`},
		{"negated", `! tools g l`, `g l`},
		{"and", `a && tools g l && tools g m`, `g l; g m`},
		{"or", `a || tools g l`, `g l`},
		{"the left side of a pipe", `tools g l | jq . | cat`, `g l`},
		{"background", `tools g l & wait`, `g l`},
		{"a condition", `if tools g l; then a; fi`, `g l`},
		{"branches", `if a; then tools g l; elif tools g m; then tools g n; else tools g o; fi`, `g l; g m; g n; g o`},
		{"while", `while tools g l; do tools g m; done`, `g l; g m`},
		{"until", `until tools g l; do tools g m; done`, `g l; g m`},
		{"for", `for x in a b; do tools g l; done`, `g l`},
		{"for over the parameters", `for x; do tools g l; done`, `g l`},
		{"for with arithmetic", `for ((i=0;i<3;i++)); do tools g l; done`, `g l`},
		{"for's words", `for x in $(tools g l); do :; done`, `substitution:g l`},
		{"for's arithmetic", `for ((i=$(tools g l);;)); do :; done`, `substitution:g l`},
		{"select", `select x in a; do tools g l; done`, `g l`},
		{"case", `case $x in a) tools g l;; *) tools g m;; esac`, `g l; g m`},
		{"case's word", `case $(tools g l) in a) ;; esac`, `substitution:g l`},
		{"case's pattern", `case a in $(tools g l)) ;; esac`, `substitution:g l`},
		{"a group", `{ tools g l; }`, `g l`},
		{"a subshell", `(tools g l)`, `g l`},
		{"time", `time tools g l; time -p tools g m`, `g l; g m`},
		{"a substitution", `x=$(tools g l)`, `substitution:g l`},
		{"a substitution in quotes", `echo "a $(tools g l) b"`, `substitution:g l`},
		{"backquotes", "x=`tools g l`", `substitution:g l`},
		{"a substitution in a substitution", `x=$(echo $(tools g l))`, `substitution:g l`},
		{"a substitution in tools' own words", `tools g m a="$(tools g l)"`, `substitution:g l`},
		{"a substitution in an assignment before", `A=$(tools g l) b`, `substitution:g l`},
		{"a substitution in the command word", `$(tools g l)`, `substitution:g l`},
		{"a redirection's word", `a > $(tools g l)`, `substitution:g l`},
		{"a here-doc", "cat <<E\n$(tools g l)\nE", `substitution:2:g l`},
		{"a here-string", `cat <<< "$(tools g l)"`, `substitution:g l`},
		{"a quoted here-doc", "cat <<'E'\n$(tools g l)\nE", ``},
		{"arithmetic", `echo $(( $(tools g l) + 1 ))`, `substitution:g l`},
		{"an arithmetic command", `(( x = $(tools g l) ))`, `substitution:g l`},
		{"let", `let x=$(tools g l)`, `substitution:g l`},
		{"double brackets", `[[ -n $(tools g l) && $(tools g m) = a ]]`, `substitution:g l; substitution:g m`},
		{"single brackets", `[ -n "$(tools g l)" ]`, `substitution:g l`},
		{"array elements", `a=(x $(tools g l) [3]=$(tools g m))`, `substitution:g l; substitution:g m`},
		{"an array's index", `a[$(tools g l)]=1`, `substitution:g l`},
		{"declare", `declare x=$(tools g l); local y=$(tools g m); export z="$(tools g n)"`, `substitution:g l; substitution:g m; substitution:g n`},
		{"declare of an array", `declare -a x=($(tools g l))`, `substitution:g l`},
		{"a default value", `echo ${x:-$(tools g l)}`, `substitution:g l`},
		{"an alternative and a replacement", `echo ${x:+$(tools g l)} ${x/a/$(tools g m)}`, `substitution:g l; substitution:g m`},
		{"a slice", `echo ${x:$(tools g l)}`, `substitution:g l`},
		{"a process substitution", `diff <(tools g l) <(tools g m)`, `substitution:g l; substitution:g m`},
		{"a process substitution as a redirection", `while read x; do :; done < <(tools g l)`, `substitution:g l`},
		{"inside of an output substitution", `a > >(while read x; do tools g l; done)`, `substitution:g l`},
		{"a pipeline in a substitution", `n=$(tools g l | jq length)`, `substitution:g l`},
	})
}

func TestFunctionsAndTexts(t *testing.T) {
	runTable(t, []row{
		{"called", `f() { tools g l; }; f`, `function:g l`},
		{"with the keyword", `function f { tools g l; }; f x`, `function:g l`},
		{"called with unknown words", `f() { tools g l; }; f "$x"`, `function:g l`},
		{"a subshell as body", `f() (tools g l); f`, `function:g l`},
		{"called from another", `f() { tools g l; }; g() { f; }; g`, `function:g l`},
		{"called from one defined before", `g() { f; }; f() { tools g l; }; g`, `function:g l`},
		{"recursive", `f() { tools g l; f; }; f`, `function:g l`},
		{"each other", `f() { tools g l; g; }; g() { f; }; g`, `function:g l`},
		{"called twice counts once", `f() { tools g l; }; f; f`, `function:g l`},
		{"never called", `f() { tools g l; }`, ``},
		{"called by nobody that is called", `f() { tools g l; }; g() { f; }`, ``},
		{"called by a name that is not known", `f() { tools g l; }; $x`, ``},
		{"defined twice", `f() { tools g l; }; f() { tools g m; }; f`, `function:g l; function:g m`},
		{"defined in a branch", `if a; then f() { tools g l; }; fi; f`, `function:g l`},
		{"defined in a function", `f() { g() { tools g l; }; }; f; g`, `function:g l`},
		{"defined in a function that nobody calls", `f() { g() { tools g l; }; }; g`, ``},
		{"defined by eval", `eval 'f() { tools g l; }'; f`, `function:g l`},
		{"called by eval", `f() { tools g l; }; eval f`, `function:g l`},
		{"called by a trap", `f() { tools g l; }; trap f EXIT`, `function:g l`},
		{"called in a substitution", `f() { tools g l; }; x=$(f)`, `function:g l`},
		{"a substitution in a function", `f() { x=$(tools g l); }; f`, `substitution:g l`},
		{"command does not call functions", `f() { tools g l; }; command f; env f; exec f`, ``},
		{"the redirections of a body", `f() { :; } > $(tools g l); f`, `substitution:g l`},
		{"code behind return", `f() { tools g l; return 1; tools g m; }; f; tools g n`, `function:g l; g n`},
		{"code behind a return in a branch", `f() { if a; then return; fi; tools g l; }; f`, `function:g l`},
		{"return outside of functions", `return 0; tools g l`, `g l`},
		{"eval", `eval 'tools g l'`, `g l`},
		{"eval of several words", `eval tools g "l"`, `g l`},
		{"eval in eval", `eval "eval 'tools g l'"`, `g l`},
		{"eval of a text with an unknown part", `eval "tools g l $x"`, ``},
		{"eval of a text that does not parse", `eval 'tools g l; ('`, ``},
		{"the words of an eval text", `eval 'tools g l $x; tools g m'`, `g m`},
		{"lines of an eval text", "eval 'a\ntools g l'", `2:g l`},
		{"lines of a text in another", "a\neval 'a\neval \"tools g l\"'", `3:g l`},
		{"a pipe in an eval text", `eval 'echo | tools g l'`, ``},
		{"trap", `trap 'tools g l' EXIT`, `g l`},
		{"trap with dashes", `trap -- 'tools g l' EXIT ERR`, `g l`},
		{"trap for a signal that is not known", `trap 'tools g l' $sig`, `g l`},
		{"trap that resets", `trap - EXIT; trap '' INT; trap EXIT; trap -p EXIT`, ``},
		{"bash -c", `bash -c 'tools g l'`, `g l`},
		{"sh -c", `sh -c 'tools g l'`, `g l`},
		{"bash with options", `bash -euo pipefail -c 'tools g l' x "$y"`, `g l`},
		{"bash with long options", `bash --norc -xc 'tools g l'`, `g l`},
		{"bash that reads only", `bash -nc 'tools g l'`, ``},
		{"bash with a file", `bash x.sh; bash -s -c 'tools g l'`, ``},
		{"sh expands no braces", `sh -c 'tools g l {a,b}'`, ``},
		{"sh in bash in sh", `sh -c "bash -c 'tools g l {a,b}'"`, `g l a b`},
		{"a function of the outer shell", `f() { tools g l; }; bash -c f`, ``},
		{"an exported function", `f() { tools g l; }; export -f f; bash -c f`, `function:g l`},
		{"a function of the inner shell", `bash -c 'f() { tools g l; }; f'; f`, `function:g l`},
	})
}

func TestWrappers(t *testing.T) {
	for _, wrapper := range []string{
		`command`, `command --`, `builtin command`, `exec`, `env`, `env A=b`, `env -i A=b C=d`, `env -u X`, `env --unset=X A=b`, `env -- A=b`,
		`timeout 5`, `timeout -k 1 5s`, `timeout -s KILL --foreground 0.5`, `timeout --signal=INT 1m`,
		`nice`, `nice -n 5`, `nice -n -5`, `nice -5`, `nice --adjustment=5`, `nohup`, `stdbuf -oL`, `stdbuf -o L -e 0`,
		`time`, `env A=b timeout 5 nice`, `command env`, `exec env A=b`, `nohup timeout 5`, `X=1 env`,
	} {
		require.Equal(t, "g l", literal(t, wrapper+" tools g l"), wrapper)
	}
	for _, wrapper := range []string{
		`command -v`, `command -V`, `command -p`, `builtin`, `exec -a x`, `exec -c`, `env -S`, `env -C /`, `env $x`, `env A=$x`, `timeout`, `timeout $x`, `timeout -x 5`,
		`nice -n`, `nice -n $x`, `nice -x`, `nohup -x`, `stdbuf -x`, `sudo`, `xargs`, `parallel`, `find . -exec`, `type`, `which`, `time -x`, `echo`, `env command`, `env exec`, `env builtin`,
		`timeout 5 command`, `exec command`, `bash`, `$x`, `"$x"`, `foo`, `strace`, `env time`, `setsid -x`,
	} {
		require.Empty(t, literal(t, wrapper+" tools g l"), wrapper)
	}
	runTable(t, []row{
		{"eval behind command", `command eval 'tools g l'`, `g l`},
		{"bash behind timeout", `timeout 5 bash -c 'tools g l'`, `g l`},
		{"eval is no program", `env eval 'tools g l'; timeout 5 trap 'tools g l' EXIT`, ``},
		{"a function hides env", `env() { :; }; env A=b tools g l`, ``},
		{"a function hides env behind command", `env() { :; }; command env A=b tools g l`, ``},
		{"a function hides eval", `eval() { :; }; eval 'tools g l'`, ``},
		{"a function hides bash", `bash() { :; }; bash -c 'tools g l'`, ``},
		{"a function hides trap", `trap() { :; }; trap 'tools g l' EXIT`, ``},
		{"a function hides command", `command() { :; }; command tools g l; tools g m`, `g m`},
		{"a function hides timeout and calls", `timeout() { tools g l; }; timeout 5 tools g m`, `function:g l`},
		{"an alias hides env", `alias env=x; env tools g l`, ``},
		{"an alias hides with a value that is not known", `alias env="$x"; env tools g l; tools g m`, `g m`},
		{"another alias", `alias ll='ls -l'; tools g l`, `g l`},
	})
}

func TestCodeThatCannotBeReached(t *testing.T) {
	runTable(t, []row{
		{"behind exit", `tools g l; exit 0; tools g m`, `g l`},
		{"behind exit with a status that is not known", `exit $rc; tools g m`, ``},
		{"behind exit in a group", `{ exit; }; tools g m`, ``},
		{"behind exec", `exec tools g l; tools g m`, `g l`},
		{"behind exec of another command", `exec bash; tools g m`, ``},
		{"behind exec of redirections", `exec >f; tools g l`, `g l`},
		{"behind exit in eval", `eval 'exit'; tools g m`, ``},
		{"behind exit in bash -c", `bash -c 'exit; tools g m'; tools g l`, `g l`},
		{"behind exit in a subshell", `(exit; tools g m); tools g l`, `g l`},
		{"behind exit in a pipe", `exit | a; tools g l`, `g l`},
		{"behind exit in the background", `exit & tools g l`, `g l`},
		{"behind exit in a substitution", `x=$(exit; tools g m); tools g l`, `g l`},
		{"behind exit in a list", `a || exit; tools g l`, `g l`},
		{"behind exit in a branch", `if a; then exit; fi; tools g l`, `g l`},
		{"behind exit in both branches", `if a; then exit; else exit 1; fi; tools g l`, ``},
		{"behind exit in a loop", `for x in a; do exit; tools g m; done; tools g l`, `g l`},
		{"behind exit in a function", `f() { exit; tools g m; }; f; tools g l`, `g l`},
		{"behind exit with a redirection that may fail", `exit >f; tools g l`, `g l`},
		{"behind exit with a duplicated descriptor", `exit 1 >&2; tools g l`, ``},
		{"exit that is a function", `exit() { :; }; exit; tools g l`, `g l`},
		{"a trap before exit", `trap 'tools g l' EXIT; exit`, `g l`},
		{"a substitution in exit", `exit $(tools g l)`, `substitution:g l`},
		{"behind break", `while a; do break; tools g m; done; tools g l`, `g l`},
		{"behind continue", `for x in a; do continue; tools g m; done`, ``},
		{"behind break outside of a loop", `break; tools g l`, `g l`},
		{"if false", `if false; then tools g m; else tools g l; fi`, `g l`},
		{"if true", `if true; then tools g l; else tools g m; fi`, `g l`},
		{"if not true", `if ! true; then tools g m; fi`, ``},
		{"elif false", `if a; then tools g l; elif false; then tools g m; else tools g n; fi`, `g l; g n`},
		{"while false", `while false; do tools g m; done`, ``},
		{"until true", `until true; do tools g m; done; until false; do tools g l; break; done`, `g l`},
		{"while true", `while true; do tools g l; done`, `g l`},
		{"true or", `true || tools g m`, ``},
		{"false and", `false && tools g m`, ``},
		{"colon or", `: || tools g m`, ``},
		{"false and, or", `false && tools g m || tools g l`, `g l`},
		{"true and", `true && tools g l`, `g l`},
		{"exit and", `exit && tools g m`, ``},
		{"for in nothing", `for x in; do tools g m; done`, ``},
		{"true that is a function", `true() { a; }; true || tools g l`, `g l`},
		{"false that is an alias", `alias false=true; false && tools g l`, `g l`},
		{"true that may fail to open", `true >f || tools g l`, `g l`},
		{"true that is not known to be", `$x true || tools g l`, `g l`},
		{"the right side of a pipe with a constant", `false | tools g m && tools g l`, `g l`},
		{"comments", `# tools g m`, ``},
		{"set -e", `set -e; false; tools g l`, `g l`},
		{"set -n", `set -n; tools g l`, `g l`},
	})
}

func TestAScriptThatDefinesTools(t *testing.T) {
	for _, script := range []string{
		`tools() { :; }; tools g l`, `function tools { :; }; tools g l`, `tools g l; tools() { :; }`, `f() { tools() { :; }; }; tools g l`, `if false; then tools() { :; }; fi; tools g l`,
		`exit; tools() { :; }`, `alias tools=echo; tools g l`, `alias a=b tools='x y'; tools g l`, `command alias tools=x; tools g l`, `alias "$x"; tools g l`, `alias $x=1; tools g l`,
		`eval 'tools() { :; }'; tools g l`, `eval "alias tools=x"; tools g l`, `eval "tools() { $x; }"; tools g l`, `eval "function tools { $x; }"; tools g l`, `trap 'tools() { :; }' EXIT; tools g l`,
		`bash -c 'tools() { :; }; tools g m'; tools g l`, `env bash -c 'alias tools=x'; tools g l`, `x=$(tools() { :; }); tools g l`,
		`enable -n eval; tools g l`, `enable -f x.so tools; tools g l`, `unset -f tools; tools g l`, `unset -f $x; tools g l`, `hash -p /x tools; tools g l`,
		`BASH_ALIASES[tools]=x; tools g l`, `declare -A BASH_ALIASES=([tools]=x); tools g l`, `eval 'eval "tools(){ :; }"'; tools g l`,
	} {
		s, err := Parse(script, "")
		require.NoError(t, err, script)
		require.True(t, s.DefinesTools(), script)
		require.Empty(t, literal(t, script), script)
	}
	for _, script := range []string{`tools g l`, `alias ll=ls`, `unset -f other; unset tools`, `tools=1`, `xtools() { :; }`, `echo 'tools() { :; }'`, `eval "$x"`} {
		s, err := Parse(script, "")
		require.NoError(t, err, script)
		require.False(t, s.DefinesTools(), script)
	}
}
