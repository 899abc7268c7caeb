package corpus

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/tools-in-shell/tis/analyze"
	"github.com/tools-in-shell/tis/analyze/lint"
	"github.com/tools-in-shell/tis/report"
)

// planned is a plan with one line a call.
func planned(p analyze.Plan) string {
	var b strings.Builder
	for _, call := range p.Calls {
		input := "?"
		if call.Input != nil {
			input = compact(call.Input)
		}
		fmt.Fprintf(&b, "%d %s %s: %s, in %s\n", call.Line, call.Tool, input, call.Risk, call.Where)
	}
	if !p.Complete {
		b.WriteString("and maybe more\n")
	}
	return b.String()
}

func linted(found []lint.Finding) string {
	var b strings.Builder
	for _, f := range found {
		fmt.Fprintf(&b, "%d:%d %s %s: %s\n", f.Start.Line, f.Start.Col, f.Severity, f.Rule.Code, f.Message)
	}
	return b.String()
}

// ran is what a run did, without what differs from day to day: no identifiers
// of requests and no times.
func ran(r report.Result, calls []string, unordered bool) string {
	var b strings.Builder
	if unordered {
		slices.Sort(calls)
	}
	fmt.Fprintf(&b, "exit %d\n", r.ExitCode)
	stream(&b, "stdout", r.Stdout)
	stream(&b, "stderr", r.Stderr)
	if len(calls) > 0 {
		b.WriteString("calls\n")
		for _, c := range calls {
			fmt.Fprintf(&b, "  %s\n", c)
		}
	}
	if t := r.Tools; t != nil {
		b.WriteString("report\n")
		reported(&b, t, unordered)
	}
	if len(r.ApprovalRequests) > 0 {
		b.WriteString("asked\n")
		for _, q := range r.ApprovalRequests {
			fmt.Fprintf(&b, "  %s %s: %s\n", q.Command, compact(q.Arguments), q.Risk)
		}
	}
	return b.String()
}

// stream is a stream's lines, indented; a last line that does not end is marked.
func stream(b *strings.Builder, name, text string) {
	if text == "" {
		return
	}
	b.WriteString(name + "\n")
	for line := range strings.Lines(text) {
		line, ended := strings.CutSuffix(line, "\n")
		fmt.Fprintf(b, "  %s\n", escape(line))
		if !ended {
			b.WriteString("  (no newline at the end)\n")
		}
	}
}

// escape keeps a line on one line of the file, and txtar's markers out of it.
func escape(line string) string {
	return strings.NewReplacer("\r", `\r`, "\x00", `\0`, "\u2028", `\u2028`).Replace(line)
}

func reported(b *strings.Builder, t *report.Tools, unordered bool) {
	var done []string
	for _, d := range t.Done {
		result := "ok " + compact(d.Result)
		if !d.OK {
			result = "failed " + quoted(d.Error)
		}
		done = append(done, fmt.Sprintf("  done %s %s: %s\n", d.Tool, compact(d.Input), result))
	}
	if unordered {
		slices.Sort(done)
	}
	b.WriteString(strings.Join(done, ""))
	fmt.Fprintf(b, "  read-only calls: %d\n", t.ReadOnlyCalls)
	if s := t.Stopped; s != nil {
		words := []string{"stopped: " + string(s.Reason)}
		if s.Approval != "" {
			words = append(words, "approval "+s.Approval)
		}
		if s.BeforeStart {
			words = append(words, "before the start")
		}
		if s.Limit != "" {
			words = append(words, s.Limit)
		}
		if s.Call != nil {
			words = append(words, s.Call.Tool+" "+compact(s.Call.Input))
		}
		fmt.Fprintf(b, "  %s\n", strings.Join(slices.DeleteFunc(words, func(w string) bool { return w == "" }), ", "))
	}
	if t.NotReached != "" {
		fmt.Fprintf(b, "  not reached: %s\n", t.NotReached)
	}
}

func quoted(s string) string {
	raw, _ := json.Marshal(s) // a string always marshals
	return string(raw)
}
