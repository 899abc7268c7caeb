package analyze

import "mvdan.cc/sh/v3/syntax"

// Literal is what a word becomes when it is one word that is known before the
// run: quotes are removed, and no expansion takes part.
func Literal(w *syntax.Word) (string, bool) {
	var x expander
	fields, ok := x.word(nil, w, false)
	if !ok || len(fields) != 1 {
		return "", false
	}
	return fields[0], true
}

// BraceWords is how many words a word becomes by brace expansion alone, 0 when
// another expansion takes part or there are too many to tell.
func BraceWords(w *syntax.Word) int {
	var x expander
	fields, ok := x.word(nil, w, false)
	if !ok {
		return 0
	}
	return len(fields)
}
