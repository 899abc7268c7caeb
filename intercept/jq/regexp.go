package jq

import (
	"context"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/itchyny/gojq"
)

// maxEffort bounds one search: the bytes of the text times the instructions
// of the compiled expression, the longest that it can take.
const maxEffort = 1 << 32

// atOnce is the effort up to which a search is not worth a goroutine.
const atOnce = 1 << 24

const errEffort = fault("Regex failure: the expression takes too long on a text of this size")

// matcher is a compiled regular expression with its flags.
type matcher struct {
	*regexp.Regexp
	// probe matches one character and then the expression, at the beginning. It
	// finds an empty match right behind a match, which jq counts and Go skips,
	// and sees what stands before it.
	probe *regexp.Regexp
	size  int // instructions

	global, notEmpty bool
}

// regexps compiles expressions, each once in a run.
type regexps map[[2]string]*matcher

func (r regexps) compile(expr, flags string) (*matcher, error) {
	key := [2]string{expr, flags}
	if m, ok := r[key]; ok {
		return m, nil
	}
	m := &matcher{}
	mode, longest, extended := "", false, false
	for _, f := range flags {
		switch f {
		case 'g':
			m.global = true
		case 'i':
			mode += "i"
		case 'x':
			extended = true
		case 's': // ^ and $ are the ends of the text; they always are
		case 'p':
			mode += "s"
		case 'n':
			m.notEmpty = true
		case 'l':
			longest = true
		default:
			return nil, faultf("%s is not a valid modifier string", flags)
		}
	}
	text := translate(expr, extended)
	if mode != "" {
		text = "(?" + mode + ")" + text
	}
	parsed, err := syntax.Parse(text, syntax.Perl)
	if err != nil {
		return nil, faultf("Regex failure: %.100s: %v", expr, err)
	}
	prog, err := syntax.Compile(parsed.Simplify())
	if err != nil {
		return nil, faultf("Regex failure: %.100s: %v", expr, err)
	}
	m.size = len(prog.Inst)
	m.Regexp = regexp.MustCompile(text)
	m.probe, err = regexp.Compile(`\A(?s:.)(?:` + text + `)`)
	if err != nil { // one level of nesting too deep
		return nil, faultf("Regex failure: %.100s: %v", expr, err)
	}
	if longest {
		m.Longest()
		m.probe.Longest()
	}
	if len(r) > 1000 {
		clear(r)
	}
	r[key] = m
	return m, nil
}

// lineEnd is the name of a group that stands for $.
const lineEnd = "tisLineEnd"

// translate writes an expression of jq's kind as one of Go's: \w, \d, \s
// and [:alpha:] know all of Unicode, and $ and \Z match before a last newline
// too. extended drops white space and comments.
func translate(expr string, extended bool) string {
	var b strings.Builder
	class := 0 // 1 between [ and ]
	ends := 0
	for i := 0; i < len(expr); i++ {
		c := expr[i]
		switch {
		case c == '\\' && i+1 < len(expr):
			i++
			switch {
			case expr[i] == 'Q': // up to \E
				n := strings.Index(expr[i:], `\E`)
				if n < 0 {
					n = len(expr) - i
				}
				b.WriteString(regexp.QuoteMeta(expr[i+1 : i+n]))
				i += n + 1
			case expr[i] == 'Z' && class == 0:
				ends++
				b.WriteString(`(?P<` + lineEnd + strings.Repeat("_", ends) + `>\n?)\z`)
			default:
				b.WriteString(escape(expr[i], class > 0))
			}
		case class > 0:
			switch {
			case c == '[' && i+1 < len(expr) && expr[i+1] == ':':
				if n := strings.Index(expr[i+2:], ":]"); n >= 0 {
					name := expr[i+2 : i+2+n]
					if set, ok := posix[name]; ok {
						b.WriteString(set)
					} else {
						b.WriteString("[:" + name + ":]")
					}
					i += n + 3
				}
			case c == ']':
				class = 0
				b.WriteByte(c)
			case c == '[':
				b.WriteString(`\[`)
			default:
				b.WriteByte(c)
			}
		case c == '[':
			class = 1
			b.WriteByte(c)
			if i+1 < len(expr) && expr[i+1] == '^' {
				i++
				b.WriteByte('^')
			}
			if i+1 < len(expr) && expr[i+1] == ']' {
				i++
				b.WriteString(`\]`)
			}
		case c == '$':
			ends++
			b.WriteString(`(?P<` + lineEnd + strings.Repeat("_", ends) + `>\n?)\z`)
		case extended && strings.IndexByte(" \t\r\n\f\v", c) >= 0:
		case extended && c == '#':
			for i+1 < len(expr) && expr[i+1] != '\n' {
				i++
			}
		default:
			b.WriteByte(c)
		}
	}
	return b.String()
}

// posix are the classes whose names mean all of Unicode.
var posix = map[string]string{
	"alpha": `\pL\pM`, "digit": `\p{Nd}`, "alnum": `\pL\pM\p{Nd}`, "word": `\pL\pM\pN\p{Pc}`,
	"upper": `\p{Lu}`, "lower": `\p{Ll}`, "space": `\t-\r\x{85}\pZ`, "punct": `\pP\pS`,
}

// escape is a backslash and c.
func escape(c byte, inClass bool) string {
	set := ""
	switch c {
	case 'w', 'W':
		set = `\pL\pM\pN\p{Pc}`
	case 'd', 'D':
		set = `\p{Nd}`
	case 's', 'S':
		set = `\t-\r\x{85}\pZ`
	case 'h', 'H': // nothing special
		return string(c)
	case '/', '"', '\'', '`', ' ', '#', '@', '%', '&', ',', ':', ';', '<', '=', '>', '~', '!', '-', '_':
		return regexp.QuoteMeta(string(c))
	}
	switch {
	case set == "":
		return `\` + string(c)
	case inClass && c >= 'a':
		return set
	case inClass: // a class in a class can't be negated but by its own letter
		return `\` + string(c)
	case c >= 'a':
		return "[" + set + "]"
	}
	return "[^" + set + "]"
}

// find gives the places of the matches in s, as regexp does. It returns soon
// after ctx is done; the search itself is bounded and left behind.
func (m *matcher) find(ctx context.Context, s string, n int) ([][]int, error) {
	effort := (len(s) + 1) * m.size
	switch {
	case effort > maxEffort:
		return nil, errEffort
	case effort <= atOnce:
		return m.search(s, n), nil
	}
	found := make(chan [][]int, 1)
	go func() { found <- m.search(s, n) }()
	select {
	case list := <-found:
		return list, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (m *matcher) search(s string, n int) [][]int {
	found := m.FindAllStringSubmatchIndex(s, n)
	list := make([][]int, 0, len(found))
	keep := func(x []int) {
		if x = m.withoutLineEnd(s, x); !m.notEmpty || x[0] < x[1] {
			list = append(list, x)
		}
	}
	for i, x := range found {
		end := x[1]
		empty := x[0] == end
		keep(x)
		if n == 1 || empty || i+1 < len(found) && found[i+1][0] == end {
			continue
		}
		_, w := utf8.DecodeLastRuneInString(s[:end])
		if y := m.probe.FindStringSubmatchIndex(s[end-w:]); y != nil && y[1] == w {
			y[0] = w
			for j := range y {
				if y[j] >= 0 {
					y[j] += end - w
				}
			}
			keep(y)
		}
	}
	return list
}

// withoutLineEnd takes the newline that $ stands before out of a match.
func (m *matcher) withoutLineEnd(s string, x []int) []int {
	for i, name := range m.SubexpNames() {
		if strings.HasPrefix(name, lineEnd) && x[2*i] >= 0 && x[2*i] < x[2*i+1] {
			for j := range x {
				x[j] = min(x[j], len(s)-1)
			}
			return x
		}
	}
	return x
}

// matchKeys are the keys of a match and of a capture, in their order.
var (
	matchKeys   = []string{"offset", "length", "string", "captures"}
	captureKeys = []string{"offset", "length", "string", "name"}
	// of a group that took no part
	absentKeys = []string{"offset", "string", "length", "name"}
)

// matches finds expr in v and gives the matcher and the places.
func (r *run) matches(v, expr, flags any) (*matcher, string, [][]int, error) {
	s, ok := v.(string)
	if !ok {
		return nil, "", nil, faultf("%s cannot be matched, as it is not a string", r.order.describe(v))
	}
	e, ok := expr.(string)
	if !ok {
		return nil, "", nil, faultf("%s is not a string", r.order.describe(expr))
	}
	f, ok := flags.(string)
	if !ok && flags != nil {
		return nil, "", nil, faultf("%s is not a string", r.order.describe(flags))
	}
	m, err := r.regexps.compile(e, f)
	if err != nil {
		return nil, "", nil, err
	}
	n := 1
	if m.global {
		n = -1
	}
	found, err := m.find(r.ctx, s, n)
	return m, s, found, err
}

// pattern is what match takes as its one argument: an expression, or an array
// of it and its flags. It gives both.
func pattern(v, re any) any {
	switch re := re.(type) {
	case string:
		return []any{re, nil}
	case []any:
		if len(re) > 0 {
			return append(slices.Clone(re), nil)[:2]
		}
	}
	return faultf("%s not a string or array", gojq.TypeOf(re))
}

// pieces are what stands between the matches.
func (r *run) pieces(v, expr, flags any) any {
	_, s, found, err := r.matches(v, expr, flags)
	if err != nil {
		return err
	}
	list, from := make([]any, 0, len(found)+1), 0
	for _, x := range found {
		list = append(list, s[from:x[0]])
		from = x[1]
	}
	return append(list, s[from:])
}

// test is whether there is a match.
func (r *run) test(v, expr, flags any) any {
	_, _, found, err := r.matches(v, expr, flags)
	if err != nil {
		return err
	}
	return len(found) > 0
}

// matchList is an array of the matches.
func (r *run) matchList(v, expr, flags any) any {
	m, s, found, err := r.matches(v, expr, flags)
	if err != nil {
		return err
	}
	list := make([]any, len(found))
	at := runes{s: s}
	for i, x := range found {
		list[i] = r.describeMatch(m, &at, x)
	}
	return list
}

func (r *run) describeMatch(m *matcher, at *runes, x []int) any {
	offset := at.count(x[0])
	inner := *at // captures lie anywhere inside
	captures := []any{}
	for i, name := range m.SubexpNames() {
		if i == 0 || strings.HasPrefix(name, lineEnd) {
			continue
		}
		var n any
		if name != "" {
			n = name
		}
		from, to := x[2*i], x[2*i+1]
		c := map[string]any{"offset": -1, "length": 0, "string": nil, "name": n}
		switch {
		case from >= 0:
			begin := inner
			c["offset"], c["string"] = begin.count(from), at.s[from:to]
			c["length"] = utf8.RuneCountInString(at.s[from:to])
			r.order.remember(c, captureKeys)
		case x[0] == x[1]:
			c["offset"], c["string"] = offset, ""
			r.order.remember(c, absentKeys)
		default:
			r.order.remember(c, absentKeys)
		}
		captures = append(captures, c)
	}
	found := map[string]any{"offset": offset, "length": utf8.RuneCountInString(at.s[x[0]:x[1]]), "string": at.s[x[0]:x[1]], "captures": captures}
	r.order.remember(found, matchKeys)
	return found
}

// runes counts the characters of a text up to places that mostly go forward.
type runes struct {
	s    string
	at   int // in bytes
	seen int // characters before it
}

func (r *runes) count(offset int) int {
	if offset < r.at {
		r.at, r.seen = 0, 0
	}
	r.seen += utf8.RuneCountInString(r.s[r.at:offset])
	r.at = offset
	return r.seen
}

// named makes an object of the named groups of a match.
func (o *order) named(m *matcher, s string, x []int) map[string]any {
	groups, keys := map[string]any{}, []string{}
	for i, name := range m.SubexpNames() {
		if name == "" || strings.HasPrefix(name, lineEnd) {
			continue
		}
		if !slices.Contains(keys, name) {
			keys = append(keys, name)
		}
		switch {
		case x[2*i] >= 0:
			groups[name] = s[x[2*i]:x[2*i+1]]
		case x[0] == x[1]:
			groups[name] = ""
		default:
			groups[name] = nil
		}
	}
	o.remember(groups, keys)
	return groups
}
