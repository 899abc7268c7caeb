package jq

import (
	"fmt"
	"regexp"
	"strings"
	"sync"

	"github.com/itchyny/gojq"
)

// fault is a runtime error in jq's words. try and catch see its text.
type fault string

func (f fault) Error() string { return string(f) }

func faultf(format string, args ...any) error { return fault(fmt.Sprintf(format, args...)) }

func isError(v any) bool {
	_, bad := v.(error)
	return bad
}

// describe is a value as messages show it: its type and how it begins.
func (o *order) describe(v any) string {
	text, _ := o.text(v, 16)
	return gojq.TypeOf(v) + " (" + shorten(text) + ")"
}

func shorten(s string) string {
	if len(s) > 14 {
		s = strings.ToValidUTF8(s[:11], "") + "..."
	}
	return s
}

func cannotIndex(v, key any) error {
	if s, ok := key.(string); ok && len(s) < 30 {
		return faultf("Cannot index %s with string \"%s\"", gojq.TypeOf(v), s)
	}
	return faultf("Cannot index %s with %s", gojq.TypeOf(v), gojq.TypeOf(key))
}

// What gojq says of a value: its type and how it begins, null alone.
const said = `(null|(\w+) \((.*)\))`

type wordingRule struct {
	gojq *regexp.Regexp
	jq   string
}

// wordings are gojq's messages and jq's for the same. In the latter $A and $B
// are values in full, $a and $b their types, $x how the first begins.
var wordings = sync.OnceValue(func() []wordingRule {
	return []wordingRule{
		{match(`expected an object but got: ` + said), "Cannot index $a with string"},
		{match(`expected an array but got: ` + said), "Cannot index $a with number"},
		{match(`expected a number for indexing an array but got: ` + said), "Cannot index array with $a"},
		{match(`expected a number for indexing a string but got: ` + said), "Cannot index string with $a"},
		{match(`expected "start" and "end" for slicing but got: ` + said), "Start and end indices of an array slice must be numbers"},
		{match(`array index should not be negative: .*`), "Out of bounds negative array index"},
		{match(`array index too large: .*`), "Array index too large"},
		{match(`cannot iterate over: ` + said), "Cannot iterate over $A"},
		{match(`cannot add: ` + said + ` and ` + said), "$A and $B cannot be added"},
		{match(`cannot subtract: ` + said + ` and ` + said), "$A and $B cannot be subtracted"},
		{match(`cannot multiply: ` + said + ` and ` + said), "$A and $B cannot be multiplied"},
		{match(`cannot divide: ` + said + ` and ` + said), "$A and $B cannot be divided"},
		{match(`cannot modulo: ` + said + ` and ` + said), "$A and $B cannot be divided"},
		{match(`cannot divide ` + said + ` by: ` + said), "$A and $B cannot be divided because the divisor is zero"},
		{match(`cannot modulo ` + said + ` by: ` + said), "$A and $B cannot be divided (remainder) because the divisor is zero"},
		{match(`cannot negate: ` + said), "$A cannot be negated"},
		{match(`expected a string for object key but got: ` + said), "Cannot use $A as object key"},
		{match(`invalid path against: ` + said), "Invalid path expression with result $x"},
		{match(`invalid path on iterating against: ` + said), "Invalid path expression near attempt to iterate through $x"},
		{match(`flatten depth should not be negative: .*`), "flatten depth must not be negative"},
		{match(`length cannot be applied to: ` + said), "$A has no length"},
		{match(`(?:keys|to_entries) cannot be applied to: ` + said), "$A has no keys"},
		{match(`utf8bytelength cannot be applied to: ` + said), "$A only strings have UTF-8 byte length"},
		{match(`(?:sort|min|max|_?(?:sort|min|max)_by\(.*\)) cannot be applied to: ` + said), "$A cannot be sorted, as it is not an array"},
		{match(`_?(?:group_by|unique_by)\(.*\) cannot be applied to: ` + said), "$A cannot be grouped, as it is not an array"},
		{match(`unique cannot be applied to: ` + said), "$A cannot be sorted, as it is not an array"},
		{match(`(?:explode|ascii_downcase|ascii_upcase) cannot be applied to: ` + said), "explode input must be a string"},
		{match(`implode cannot be applied to: ` + said), "implode input must be an array"},
		{match(`split\(.*\) cannot be applied to: ` + said), "split input and separator must be strings"},
		{match(`(startswith|endswith)\(.*\) cannot be applied to: ` + said), "$1() requires string inputs"},
		{match(`(?:_?match|test|scan|splits?|sub|gsub|capture)\(.*\) cannot be applied to: ` + said), "$A cannot be matched, as it is not a string"},
		{match(`join\(.*\) cannot be applied to: ` + said), "Cannot iterate over $A"},
		{match(`(?:@csv|@tsv) cannot format an array including: ` + said), "$A is not valid in a csv row"},
		{match(`@sh cannot format an array including: ` + said), "$A can not be escaped for shell"},
		{match(`@sh cannot be applied to: ` + said), "$A can not be escaped for shell"},
		{match(`@(csv|tsv) cannot be applied to: ` + said), "$A cannot be $1-formatted, only array"},
		{match(`@base64d cannot be applied to ("?.*): .*`), "string ($1) is not valid base64 data"},
		{match(`format not defined: @?(.*)`), "$1 is not a valid format"},
		{match(`strptime\((.*?)\) cannot be applied to (".*?"): .*`), "date $2 does not match format $1"},
		{match(`halt_error cannot be applied to: ` + said), "halt_error/1: number required"},
		{match(`modulemeta cannot be applied to: .*`), "modulemeta input module name must be a string"},
		{match(`(\w+) cannot be applied to: ` + said), "$A number required"},
		{match(`label not defined: .*`), "break"},
	}
})

func match(pattern string) *regexp.Regexp { return regexp.MustCompile(`(?s)^` + pattern + `$`) }

// wording gives a message of gojq in jq's words. Another text stays as it is.
func wording(text string) string {
	if !strings.Contains(text, ": ") || len(text) > 1000 {
		return text
	}
	if strings.HasPrefix(text, "has(") || strings.HasPrefix(text, "contains(") {
		return wordingOfTwo(text)
	}
	for _, w := range wordings() {
		if m := w.gojq.FindStringSubmatch(text); m != nil {
			return fill(w.jq, m)
		}
	}
	return text
}

// fill puts what a pattern found into a message.
func fill(message string, m []string) string {
	r := []string{}
	names := "AB"
	for i := 1; i < len(m); i++ {
		if i+2 < len(m) && (m[i] == "null" || m[i+1] != "" && strings.HasPrefix(m[i], m[i+1]+" (")) && names != "" {
			typ, begin := m[i+1], m[i+2]
			if m[i] == "null" {
				typ, begin = "null", "null"
			}
			r = append(r, "$"+names[:1], typ+" ("+shorten(begin)+")", "$"+strings.ToLower(names[:1]), typ, "$x", shorten(begin))
			names = names[1:]
			i += 2
			continue
		}
		r = append(r, fmt.Sprintf("$%d", i), m[i])
	}
	return strings.NewReplacer(r...).Replace(message)
}

var twoValues = sync.OnceValue(func() *regexp.Regexp {
	return match(`(has|contains)\((.*)\) cannot be applied to: ` + said)
})

// wordingOfTwo is wording for the messages that name an argument too.
func wordingOfTwo(text string) string {
	m := twoValues().FindStringSubmatch(text)
	if m == nil {
		return text
	}
	typ, begin := m[4], m[5]
	if m[3] == "null" {
		typ, begin = "null", "null"
	}
	if m[1] == "has" {
		return fmt.Sprintf("Cannot check whether %s has a %s key", typ, typeOf(m[2]))
	}
	return fmt.Sprintf("%s (%s) and %s (%s) cannot have their containment checked", typ, shorten(begin), typeOf(m[2]), shorten(m[2]))
}

// typeOf tells the type of a value by how its text begins.
func typeOf(text string) string {
	switch text[:min(1, len(text))] {
	case `"`:
		return "string"
	case "[":
		return "array"
	case "{":
		return "object"
	case "n":
		return "null"
	case "t", "f":
		return "boolean"
	}
	return "number"
}
