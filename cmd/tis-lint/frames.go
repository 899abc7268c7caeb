package main

import (
	"bytes"
	"fmt"
	"strings"
	"unicode"

	"golang.org/x/text/width"

	"github.com/tools-in-shell/tis/analyze/lint"
	"github.com/tools-in-shell/tis/catalog"
)

// formats write findings; colored is for text alone.
var formats = map[string]func(out *bytes.Buffer, results []found, colored bool) error{
	"text": writeText, "json": writeJSONReport, "jsonl": writeJSONLines, "sarif": writeSARIF,
	"github": writeGitHub, "gcc": writeGCC, "checkstyle": writeCheckstyle, "junit": writeJUnit,
}

// The colours of the text format.
const (
	bold   = "\x1b[1m"
	dim    = "\x1b[2m"
	red    = "\x1b[31m"
	yellow = "\x1b[33m"
	blue   = "\x1b[34m"
	reset  = "\x1b[0m"
)

// painter colours a text, or not.
type painter bool

func (on painter) paint(color, text string) string {
	if !on {
		return text
	}
	return color + text + reset
}

func colorOf(s lint.Severity) string {
	switch s {
	case lint.Error:
		return red
	case lint.Warning:
		return yellow
	}
	return blue
}

// writeText prints each finding with its line and a caret below.
func writeText(out *bytes.Buffer, results []found, colored bool) error {
	paint := painter(colored)
	counts := map[lint.Severity]int{}
	for _, r := range results {
		lines := strings.Split(r.script.text, "\n")
		for _, f := range r.findings {
			counts[f.Severity]++
			fmt.Fprintf(out, "%s %s %s\n", paint.paint(bold, r.script.place(f.Start)+":"),
				paint.paint(colorOf(f.Severity), string(f.Severity)+"["+f.Rule.Code+"]"), catalog.Visible(f.Message))
			line, _ := r.script.at(f.Start)
			frame(out, paint, line, lines[f.Start.Line-1], f.Start.Col-1, endOn(f, lines), colorOf(f.Severity))
			for _, n := range f.Notes {
				fmt.Fprintf(out, "  %s %s: %s\n", paint.paint(dim, "="), r.script.place(n.Start), catalog.Visible(n.Message))
			}
			for _, x := range f.Fixes {
				fmt.Fprintf(out, "  %s --fix: %s\n", paint.paint(dim, "="), catalog.Visible(x.Message))
			}
			out.WriteByte('\n')
		}
	}
	if n := counts[lint.Error] + counts[lint.Warning] + counts[lint.Info]; n > 0 {
		fmt.Fprintf(out, "%s, %s, %d for information\n", many(counts[lint.Error], "error"), many(counts[lint.Warning], "warning"), counts[lint.Info])
	}
	return nil
}

func many(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// place is where a position is, as a terminal or an editor takes it.
func (s *script) place(p lint.Position) string {
	line, col := s.at(p)
	if s.record > 0 {
		return fmt.Sprintf("%s:%d (script %d:%d)", catalog.Visible(s.file), s.record, line, col)
	}
	return fmt.Sprintf("%s:%d:%d", catalog.Visible(s.file), line, col)
}

// endOn is where a finding ends on its first line, in bytes.
func endOn(f lint.Finding, lines []string) int {
	if f.End.Line > f.Start.Line {
		return len(lines[f.Start.Line-1])
	}
	return f.End.Col - 1
}

// Of a long line this much is shown before and after the place, in columns.
const (
	shownBefore = 40
	shownAfter  = 60
)

// frame prints a line of the script with a caret below what is meant.
func frame(out *bytes.Buffer, paint painter, n int, line string, start, end int, color string) {
	line = strings.TrimSuffix(line, "\r")
	start, end = min(start, len(line)), min(max(end, start), len(line))
	before, meant, after := shown(line[:start]), shown(line[start:end]), shown(line[end:])
	if columns(before) > shownBefore+10 {
		before = "…" + tail(before, shownBefore)
	}
	if columns(meant) > shownAfter {
		meant, after = head(meant, shownAfter-1)+"…", ""
	}
	if room := max(shownAfter-columns(meant), 10); columns(after) > room {
		after = head(after, room) + "…"
	}
	number := fmt.Sprint(n)
	gap := strings.Repeat(" ", len(number))
	fmt.Fprintf(out, "%s\n", paint.paint(dim, gap+" |"))
	fmt.Fprintf(out, "%s %s%s%s\n", paint.paint(dim, number+" |"), before, meant, after)
	fmt.Fprintf(out, "%s %s%s\n", paint.paint(dim, gap+" |"), strings.Repeat(" ", columns(before)), paint.paint(color, "^"+strings.Repeat("~", max(columns(meant)-1, 0))))
}

// shown is a piece of a line as it is printed: tabs as spaces, and what steers
// a terminal spelled out.
func shown(s string) string {
	return catalog.Visible(strings.ReplaceAll(s, "\t", "    "))
}

// columns is how wide a text is on a terminal.
func columns(s string) (n int) {
	for _, r := range s {
		n += runeColumns(r)
	}
	return n
}

func runeColumns(r rune) int {
	if unicode.In(r, unicode.Mn, unicode.Me) {
		return 0
	}
	switch width.LookupRune(r).Kind() {
	case width.EastAsianWide, width.EastAsianFullwidth:
		return 2
	}
	return 1
}

func head(s string, n int) string {
	for i, r := range s {
		if n -= runeColumns(r); n < 0 {
			return s[:i]
		}
	}
	return s
}

func tail(s string, n int) string {
	r := []rune(s)
	at := len(r)
	for at > 0 && n-runeColumns(r[at-1]) >= 0 {
		at--
		n -= runeColumns(r[at])
	}
	return string(r[at:])
}
