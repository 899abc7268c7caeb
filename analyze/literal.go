package analyze

import (
	"strings"
	"unicode/utf8"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/syntax"
)

// Bounds on brace expansion: past them a command's words count as not known.
const (
	maxFields     = 256     // words that one command line may expand to by braces
	maxFieldBytes = 8 << 20 // bytes of all expanded words of a script
	maxWordBraces = 64      // unquoted braces in a word
	maxBraceWords = 20_000  // words that all braces of a script expand to
)

// line is what is known of a command's words before it runs.
type line struct {
	// fields are the words after expansion, up to the first that is not known.
	fields []string
	// known says that fields are all of them.
	known bool
	// rest are the words from the first unknown one on; nil when known.
	rest []*syntax.Word
	// tail holds what is literal in rest, words separated by spaces, with NUL
	// for every part that is not known. It is only ever searched for names.
	tail string
}

// expander expands literal words and keeps count of what that costs.
type expander struct {
	bytes  int
	braces int // words made by brace expansion
}

// special are the bytes of unquoted text that may mean more than themselves.
const special = "\\*?[~{\x00"

// line expands words as far as they are known.
func (x *expander) line(words []*syntax.Word, posix bool) line {
	l := line{fields: make([]string, 0, len(words))}
	for i, w := range words {
		fields, ok := x.word(l.fields, w, posix)
		if !ok || len(fields) > max(maxFields, len(words)) {
			l.rest = words[i:]
			var b strings.Builder
			for _, w := range l.rest {
				literalParts(&b, w.Parts)
				b.WriteByte(' ')
			}
			l.tail = b.String()
			return l
		}
		l.fields = fields
	}
	l.known = true
	return l
}

// word expands one word and appends it to fields, unless a parameter, a
// substitution, a tilde or a pathname pattern takes part. posix refuses what
// only bash expands.
func (x *expander) word(fields []string, w *syntax.Word, posix bool) ([]string, bool) {
	if s := w.Lit(); s != "" && !strings.ContainsAny(s, special) {
		x.bytes += len(s)
		return append(fields, s), x.bytes <= maxFieldBytes
	}
	braces := 0
	for _, part := range w.Parts {
		if lit, ok := part.(*syntax.Lit); ok {
			braces += strings.Count(lit.Value, "{")
		}
	}
	if braces == 0 {
		return x.flat(fields, w, posix)
	}
	if braces > maxWordBraces {
		return nil, false
	}
	split := *w
	if !syntax.SplitBraces(&split) {
		return x.flat(fields, w, posix)
	}
	if posix && hasBraceExp(&split) {
		return nil, false
	}
	before := len(fields)
	for one, err := range expand.BracesSeq(nil, &split) {
		if x.braces++; err != nil || len(fields)-before >= maxFields || x.braces > maxBraceWords {
			return nil, false
		}
		var ok bool
		if fields, ok = x.flat(fields, one, posix); !ok {
			return nil, false
		}
	}
	return fields, true
}

func hasBraceExp(w *syntax.Word) bool {
	for _, part := range w.Parts {
		if _, ok := part.(*syntax.BraceExp); ok {
			return true
		}
	}
	return false
}

// flat removes the quotes of a word that has no brace expansion left and
// appends it to fields. A word of no text and no quotes, as braces can leave
// it, is refused: bash drops it and the interpreter does not.
func (x *expander) flat(fields []string, w *syntax.Word, posix bool) ([]string, bool) {
	var b strings.Builder
	quoted := false
	for _, part := range w.Parts {
		switch part := part.(type) {
		case *syntax.Lit:
			// A lone [ is the command, not the beginning of a pattern.
			if len(w.Parts) == 1 && part.Value == "[" {
				b.WriteByte('[')
			} else if !unquoted(&b, part.Value) {
				return nil, false
			}
		case *syntax.SglQuoted:
			quoted = true
			if !single(&b, part, posix) {
				return nil, false
			}
		case *syntax.DblQuoted:
			quoted = true
			if part.Dollar && posix || !double(&b, part) {
				return nil, false
			}
		default:
			return nil, false
		}
	}
	s := b.String()
	if x.bytes += len(s); x.bytes > maxFieldBytes || strings.IndexByte(s, 0) >= 0 {
		return nil, false
	}
	if s == "" && !quoted {
		return nil, false
	}
	return append(fields, s), true
}

// unquoted appends unquoted text. A tilde is refused where some shell expands
// it: at the start and after = or :, whether or not these are quoted.
func unquoted(b *strings.Builder, s string) bool {
	if !strings.ContainsAny(s, special) {
		b.WriteString(s)
		return true
	}
	for i := 0; i < len(s); i++ {
		switch c := s[i]; c {
		case '\\':
			if i++; i == len(s) || s[i] == '\n' {
				return false
			}
			b.WriteByte(s[i])
		case '*', '?', '[':
			return false
		case '~':
			if b.Len() == 0 {
				return false
			}
			if last := b.String()[b.Len()-1]; last == '=' || last == ':' {
				return false
			}
			b.WriteByte(c)
		default:
			b.WriteByte(c)
		}
	}
	return true
}

func double(b *strings.Builder, q *syntax.DblQuoted) bool {
	for _, part := range q.Parts {
		lit, ok := part.(*syntax.Lit)
		if !ok {
			return false
		}
		s := lit.Value
		if !strings.Contains(s, `\`) {
			b.WriteString(s)
			continue
		}
		for i := 0; i < len(s); i++ {
			if s[i] == '\\' && i+1 < len(s) {
				switch s[i+1] {
				case '"', '\\', '$', '`':
					i++
				case '\n':
					return false
				}
			}
			b.WriteByte(s[i])
		}
	}
	return true
}

func single(b *strings.Builder, q *syntax.SglQuoted, posix bool) bool {
	if !q.Dollar {
		b.WriteString(q.Value)
		return true
	}
	return !posix && ansiC(b, q.Value)
}

// ansiC appends the text of $'...'. It refuses the escapes on which shells
// differ, and NUL, at which they cut the text off.
func ansiC(b *strings.Builder, s string) bool {
	const plain = `abefnrtv\'"?E`
	const meant = "\a\b\x1b\f\n\r\t\v\\'\"?\x1b"
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' {
			b.WriteByte(s[i])
			continue
		}
		if i++; i == len(s) {
			return false
		}
		if at := strings.IndexByte(plain, s[i]); at >= 0 {
			b.WriteByte(meant[at])
			continue
		}
		base, most, from := rune(16), 0, i+1
		switch s[i] {
		case 'x':
			most = 2
		case 'u':
			most = 4
		case 'U':
			most = 8
		case '0', '1', '2', '3', '4', '5', '6', '7':
			base, most, from = 8, 3, i
		}
		value, end := rune(0), from
		for ; end < len(s) && end < from+most; end++ {
			d := strings.IndexByte("0123456789abcdef", lower(s[end]))
			if d < 0 || rune(d) >= base {
				break
			}
			value = value*base + rune(d)
		}
		if end == from || value <= 0 || !utf8.ValidRune(value) {
			return false
		}
		if most <= 3 {
			if value > 0xff {
				return false
			}
			b.WriteByte(byte(value))
		} else {
			b.WriteRune(value)
		}
		i = end - 1
	}
	return true
}

func lower(c byte) byte {
	if c >= 'A' && c <= 'Z' {
		c += 'a' - 'A'
	}
	return c
}

// literalParts writes the text that stands in parts, quotes and backslashes
// removed, and NUL for each part that is no text.
func literalParts(b *strings.Builder, parts []syntax.WordPart) {
	for _, part := range parts {
		switch part := part.(type) {
		case *syntax.Lit:
			b.WriteString(strings.ReplaceAll(part.Value, `\`, ""))
		case *syntax.SglQuoted:
			b.WriteString(part.Value)
		case *syntax.DblQuoted:
			literalParts(b, part.Parts)
		default:
			b.WriteByte(0)
		}
	}
}
