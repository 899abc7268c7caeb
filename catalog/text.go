package catalog

import (
	"fmt"
	"strings"
	"unicode"
)

// fault is Errorf for messages that carry names or words from outside: the
// message is one line and steers no terminal.
func fault(code Code, format string, args ...any) *Error {
	return &Error{Code: code, Message: OneLine(printable(fmt.Sprintf(format, args...)))}
}

// printable takes out what would steer a terminal; line breaks and tabs stay.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if r != '\n' && r != '\t' && (unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r)) {
			return -1
		}
		return r
	}, s)
}

// Visible spells out control, formatting, private and other invisible
// characters, line breaks and bidirectional overrides among them, so that a text
// from outside shows a person exactly what it holds.
func Visible(s string) string {
	var b strings.Builder
	for _, r := range s {
		switch {
		case r == '\t':
			b.WriteString(`\t`)
		case r == ' ' || unicode.IsGraphic(r) && !unicode.In(r, unicode.Cf, unicode.Co, unicode.Zs, unicode.Zl, unicode.Zp, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector):
			b.WriteRune(r)
		case r < 0x10000:
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			fmt.Fprintf(&b, `\U%08x`, r)
		}
	}
	return b.String()
}

// cut is s with at most n characters.
func cut(s string, n int) string {
	if len(s) <= n {
		return s
	}
	if r := []rune(s); len(r) > n {
		return string(r[:n-1]) + "…"
	}
	return s
}

// clip quotes hostile text for a message: on one line, cut when long.
func clip(s string) string {
	if len(s) > 400 {
		s = s[:400]
	}
	return string(quote(cut(OneLine(s), 60)))
}

// shellWord is a text as one word of a shell line, without line breaks.
func shellWord(s string) string {
	plain, control := s != "" && s[0] != '-', false
	for _, r := range s {
		control = control || unicode.IsControl(r) || unicode.In(r, unicode.Bidi_Control, unicode.Zl, unicode.Zp)
		plain = plain && (r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("_-.:@/+", r))
	}
	switch {
	case plain:
		return s
	case !control:
		return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
	}
	var b strings.Builder
	b.WriteString("$'")
	for i := range len(s) {
		if c := s[i]; c < ' ' || c >= 0x7f || c == '\'' || c == '\\' {
			fmt.Fprintf(&b, `\x%02x`, c)
		} else {
			b.WriteByte(c)
		}
	}
	b.WriteString("'")
	return b.String()
}
