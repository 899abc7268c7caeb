package endtoend_test

import (
	"context"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tools-in-shell/tis/approvals"
	"github.com/tools-in-shell/tis/report"
)

// Every way to write a gated call ends before the call arrives, or is refused
// before the start. Without a gate the call does arrive, or else the row would
// show nothing. And once the person has allowed what was asked, exactly as many
// calls arrive as answers were used.
func TestNoGatedCallArrivesWithoutItsAnswer(t *testing.T) {
	require.GreaterOrEqual(t, len(ways), 80)
	w := newWorld(t)
	seen := map[string]bool{}
	for _, script := range ways {
		require.False(t, seen[script], "twice: %s", script)
		seen[script] = true
		t.Run(script, func(t *testing.T) {
			w.fresh(t)
			r := w.run(t, script)
			require.Empty(t, w.gated(t), "%+v", r)
			require.NotZero(t, r.ExitCode, "%+v", r)
			held := r.Tools != nil && r.Tools.Stopped != nil && r.Tools.Stopped.Reason == report.NeedsApproval
			refused := r.ExitCode == 2 && strings.Contains(r.Stderr, "the script was not started")
			require.True(t, held || refused, "%+v", r)
			if refused || r.Tools.Stopped.BeforeStart {
				files, err := os.ReadDir(w.options.Dir)
				require.NoError(t, err)
				require.Empty(t, files)
			}
			if refused {
				return
			}
			require.NotEmpty(t, r.ApprovalRequests, "%+v", r)
			allow := make([]approvals.Decision, len(r.ApprovalRequests))
			for i := range allow {
				allow[i] = approvals.Allow
			}
			w.answer(t, r, allow...)
			again := w.run(t, script)
			require.Len(t, w.gated(t), w.used(t), "%+v", again)

			w.options.Gate = nil
			free := w.run(t, script)
			require.NotEmpty(t, w.gated(t), "the script makes no gated call: %+v", free)
		})
	}
}

// used counts the answers that let a call run.
func (w *world) used(t *testing.T) (n int) {
	t.Helper()
	events, err := w.store.History(context.Background(), "")
	require.NoError(t, err)
	for _, e := range events {
		if e.What == "used" {
			n++
		}
	}
	return n
}

// What looks like a gated call and cannot be one here does not become one.
func TestWhatIsNoCallStaysNone(t *testing.T) {
	w := newWorld(t)
	scripts := []string{
		`tools s d{el,x}`, `tools mcp_s__del`, `find . -maxdepth 0 -execdir tools s del \;`, `set -n; tools s del`, `PS4='$(tools s del)'; set -x; :`,
		`echo tools s del`, `# tools s del`, `cat <<'E'` + "\n$(tools s del)\nE", `echo '$(tools s del)'`, `: "tools s del"`, `if false; then tools s del; fi`, `exit; tools s del`, `f() { tools s del; }`, `tools() { :; }; tools s del`, `alias d='tools s del'`,
		`tools s del --help`, `tools search del`, `tools plan <<< 'tools s del'`, `tools s del a=1 b`, `tools s del '[1]'`, `tools x del`, `grep tools s del`, `bash -n -c 'tools s del'`,
	}
	for _, name := range signals {
		if name != "EXIT" && name != "0" && name != "ERR" {
			scripts = append(scripts, "x=del; trap 'tools s $x' "+name+"; kill -s "+name+" $$; tools s get", "trap 'tools s del' "+name+"; kill -"+name+" $$; tools s get")
		}
	}
	for _, script := range scripts {
		t.Run(script, func(t *testing.T) {
			w.fresh(t)
			w.run(t, script)
			w.options.Gate = nil
			w.run(t, script)
			require.Empty(t, w.gated(t))
		})
	}
}

// The traps that do run are asked about.
func TestTraps(t *testing.T) {
	w := newWorld(t)
	for _, script := range []string{"trap 'tools s %' EXIT", "trap 'tools s %' 0", "trap 'tools s %' ERR; false", "trap -- 'tools s %' SIGEXIT; exit 3", "f() { tools s %; }; trap f EXIT INT TERM", "trap 'eval \"tools s %\"' EXIT; kill -TERM $$"} {
		for _, name := range []string{"del", "$x"} {
			script := "x=del; " + strings.ReplaceAll(script, "%", name)
			t.Run(script, func(t *testing.T) {
				w.fresh(t)
				r := w.run(t, script)
				require.Empty(t, w.gated(t))
				require.Equal(t, report.NeedsApproval, r.Tools.Stopped.Reason)
				require.Equal(t, name == "del", r.Tools.Stopped.BeforeStart)
				w.options.Gate = nil
				w.run(t, script)
				require.Len(t, w.gated(t), 1)
			})
		}
	}
}

// signals are the names by which bash's trap knows a signal or an event.
var signals = strings.Fields(`EXIT 0 ERR DEBUG RETURN HUP INT QUIT ILL TRAP ABRT BUS FPE USR1 SEGV USR2 PIPE ALRM TERM STKFLT CHLD CONT
	TSTP TTIN TTOU URG XCPU XFSZ VTALRM PROF WINCH IO PWR SYS SIGTERM sigint 1 2 3 15`)

// ways are scripts that call s del, each written, hidden, nested or raced in a
// way of its own.
var ways = []string{
	// the word
	`tools s del a=1`, `tools S DEL a=1`, `tools s del '{"a":1}'`, `"tools" s del`, `to""ols s del`, `\tools s del`, `$'tools' s del`, `$'\x74ools' s del`, `$"tools" s del`,
	`x=s; tools $x del`, `t=tools; $t s del`, `x=(tools s del); "${x[@]}"`, `x="tools s del"; $x`, `IFS=:; x=tools:s:del; $x`, `IFS=l; x='toolss del'; a=($x); tools s de"${IFS}"`,
	`t=TOOLS; ${t,,} s del`, `x=xtools; ${x#x} s del`, `x=toolsx; ${x%x} s del`, `x=t__ls; ${x//_/o} s del`, `x=a; y=tools; declare -n r=y 2>/dev/null; $y s del`, `x=y; y=tools; ${!x} s del`,
	`set -- tools s del; "$@"`, `set -- tools s del; $1 $2 $3`, `read -r a b c <<< "tools s del"; $a $b $c`, `mapfile -t a <<< $'tools\ns\ndel'; "${a[@]}"`, `printf '%s\n' tools | { read t; $t s del; }`,
	`for t in tools; do $t s del; done`, `case x in x) t=tools;; esac; $t s del`, `: ${t:=tools}; $t s del`, `t=$(printf '\164ools'); $t s del`, `t=$(echo slot | rev | cat); tools s "$(echo led | rev)"`, `{tools,s,del}`,
	`tools s del b=*`, `tools s del b=~/x`, `tools s --  del`, `tools s del -- a=1`, `tools s del --a 1`, `tools s del --flag`, `tools s -- del`, `tools s d_el; tools s De-L; tools s del a=$$`,
	`v=del; tools s ${v}`, `readonly t=tools; $t s del`, `tools \
s \
del`, "tools s del # comment", `tools s del > /dev/null 2>&1`, `> out tools s del`, `A=b tools s del`, `A=$(tools s del) true`,
	// texts
	`eval tools s del`, `eval "$(echo tools s del)"`, `eval 'eval "tools s del"'`, `x='tools s del'; eval "$x"`, `eval "to""ols" s "d"el`, `eval -- 'tools s del'`, `eval 'x=del
tools s $x'`,
	`echo tools s del | bash`, `bash <<< 'tools s del'`, "bash <<'E'\ntools s del\nE", "bash <<E\ntools s del\nE", `sh -c 'tools s del'`, `bash -c "bash -c 'tools s del'"`, `bash -ec 'tools s del'`, `bash -c '"$@"' _ tools s del`,
	`bash -s tools < <(echo '"$1" s del')`, `echo 'tools s del' > f.sh; bash f.sh`, `echo 'tools s del' > f.sh; . ./f.sh`, `echo 'tools s del' > f.sh; chmod +x f.sh; ./f.sh`, `printf '#!/bin/bash\ntools s "$1"\n' > f.sh; chmod +x f.sh; ./f.sh del`,
	`echo 'tools s del' > f.sh; source f.sh`, `source <(echo tools s del)`, `source /dev/stdin <<< 'tools s del'`, `. <(printf 'f() { tools s del; }\n'); f`, `echo 'd() { tools s del; }' > lib.sh; . ./lib.sh; x=$(d)`, `bash -c "$(cat <<'E'
tools s del
E
)"`, `printf 'tools s %s\n' del | bash -s`, `echo "tools s del" | while read -r l; do eval "$l"; done`, `jq -rn '"tools s del"' | sh`, `/bin/bash -c 'tools s del'`, `/usr/bin/env bash -c 'tools s del'`,
	// functions, aliases
	`f() { tools s "$1"; }; f del`, `f() { $2 s "$1"; }; f del tools`, `f() { tools s del; }; f`, `f() { g; }; g() { tools s del; }; f`, `function f { tools s del; }; f`, `f() ( tools s del ); f`, `f() { "$@"; }; f tools s del`,
	`f() { f2() { tools s del; }; }; f; f2`, `f() { local t=tools; $t s del; }; f`, `tools() { :; }; command tools s del`, `tools() { command tools s del; }; tools`, `tools() { command "$FUNCNAME" s del; }; tools x; command tools s del`,
	`shopt -s expand_aliases; alias d='tools s del'` + "\nd a=1", `shopt -s expand_aliases; alias tools='tools s'` + "\ntools del", `shopt -s expand_aliases; alias t=tools` + "\nt s del", `f() { tools s del; }; trap f EXIT`, `unset -f tools; tools s del`,
	`f() { case $1 in 3) tools s del;; *) f $(($1+1));; esac; }; f 0`,
	// wrappers
	`command tools s del a=$$`, `builtin command tools s del`, `exec tools s del a=$$`, `env tools s del`, `env -i A=b tools s del`, `env -u HOME tools s del`, `env -S 'tools s del'; tools s del a=$$`, `timeout 5 tools s del`, `timeout -k 1 5 tools s del`, `nice -n 5 tools s del`, `nohup tools s del`,
	`stdbuf -oL tools s del`, `setsid tools s del`, `env nice timeout 5 nohup tools s del`, `command env A=b command tools s del; env A=b tools s del a=$$`, `time tools s del`, `time -p tools s del`, `! tools s del`, `coproc tools s del`, `coproc c { tools s del; }`,
	`echo del | xargs tools s`, `echo del | xargs -I{} tools s {}`, `echo 'tools s del' | xargs -0 bash -c`, `echo tools s del | xargs` + ` env`, `printf 'del\ndel\n' | xargs -n1 -P4 tools s`, `echo 'tools s del' | xargs -I{} sh -c '{}'`, `find . -maxdepth 0 -exec tools s del \;`,
	`find . -maxdepth 0 -exec tools s del {} +; tools s del a=$$`, `find . -maxdepth 0 -exec bash -c 'tools s del' \;`, `echo s del | xargs -t tools`,
	// places
	`if tools s del a=$$; then :; fi`, `! tools s del a=$$`, `tools s del a=$$ || true`, `true && tools s del`, `false || tools s del`, `while tools s del a=$$; do break; done`, `until tools s del a=$$; do break; done`, `while :; do tools s del; break; done`, `( tools s del a=$$ )`, `{ tools s del a=$$; }`, `((1)) && tools s del`,
	`x=$(tools s del a=$$)`, "x=`tools s del`", "x=`echo \\`tools s del\\``", `cat <(tools s del)`, `echo x > >(tools s del > done); until [ -s done ]; do sleep 0.01; done; rm done`, `tools s del a=$$ | cat`, `echo '{}' | tools s del`, `tools s del <<< '{}'`, `tools s del < /dev/null`, `tools s del a=$$ & wait`, `tools s del & tools s del & wait`, `(tools s del &) ; wait; sleep 0.2; tools s get; tools s del a=$$`,
	`{ sleep 0.05; tools s del a=$$; } & wait $!`, `cat <<E` + "\n$(tools s del)\nE", `cat <<< "$(tools s del)"`, `echo ${x:-$(tools s del)}`, `echo ${x:-${y:=$(tools s del)}}`, `echo $(( $(tools s del | wc -c) ))`, `[[ $(tools s del) ]]`, `[ "$(tools s del)" ]`, `case $(tools s del) in *) ;; esac`, `for i in $(tools s del); do :; done`,
	`for ((i=$(tools s del | wc -c);i<1;i++)); do :; done`, `a[$(tools s del)]=1`, `a=($(tools s del))`, `a=([$(tools s del | wc -c)]=1)`, `echo > "$(tools s del)"`, `printf '%s' "$(tools s del)"`, `l() { local x=$(tools s del); }; l`, `export X=$(tools s del)`, `readonly X=$(tools s del)`, `tools s get a="$(tools s del)"`, `return $(tools s del | wc -c)`, `exit $(tools s del | wc -c)`,
	`let x=$(tools s del | wc -c)`, `echo {a,$(tools s del)}`, `[[ -f $(tools s del) || 1 == 1 ]]`, `select x in a; do tools s del; done <<< 1`, `set -x; tools s del`, `set -e; tools s del a=$$ || :`, `set -o pipefail; tools s del a=$$ | true`, `PROMPT_COMMAND='tools s del'; tools s del a=$$`,
	`if false; then tools s del; else tools s del a=$$; fi`, `case a in b) ;; *) tools s del;; esac`, `cd /tmp; tools s del`, `HOME=/ tools s del`, `PATH= tools s del`, `PATH=.; tools s del`, `declare -f x; tools s del`, `exec > out; tools s del a=$$`, `exec 2>/dev/null; tools s del`, `hash -r; tools s del`, `unset PATH; tools s del`, `cp /bin/true tools; ./tools s del; tools s del a=$$`,
	// many, and racing
	`for i in 1 2 3; do tools s del i=$i; done`, `seq 100 | while read i; do tools s del i=$i & done; wait`, `for i in {1..100}; do tools s del i=$i & done; wait`, strings.Repeat("tools s del a=$$ | ", 99) + "tools s del a=$$", strings.Repeat("tools s get | ", 40) + "tools s del -", `tools s get & tools s del a=$$ & tools s get & wait`,
	`tools s get; tools s del a=$$; tools s put`, `tools s get | tools s del -`, `tools s put && tools s del x=$RANDOM`, `tools s put | tools s del - | tools s put`, `x=1; tools s del a=$x; tools s del a=$x`, `tools s del a=1; tools s del a=1; tools s del a=2`, `tools s del a=$$; while :; do tools s del a=$$; done`, `(while :; do tools s del a=$$; done) & sleep 5`,
	`tools s put do=slow ms=100 & tools s del a=$$; wait`, `f() { tools s del a=$$ | f; }; f`, `bomb() { bomb | bomb & tools s del a=$$; }; bomb`,
}
