package jq

import "github.com/itchyny/gojq"

// What one step of a program may handle. A step runs to its end whatever
// happens around it, and one step can do what no watch over the memory is fast
// enough for: ten values that hold each other twice print as a thousand, and
// forty as a million million.
const (
	maxText     = 128 << 20 // bytes of a string that is made
	maxElements = 1 << 24   // of an array that is made, or keys of an object
	maxVisited  = 1 << 24   // values that are gone through, as often as they are met

	errTooDeep     = fault("value nested too deeply")
	errTooLarge    = fault("value too large")
	errTextTooLong = fault("the string is too long")
	errListTooLong = fault("the array is too long")
)

// weight is what going through values comes to.
type weight struct {
	values int
	text   int // bytes of strings and keys
}

// weigh goes through values, or gives errTooDeep or errTooLarge for what
// cannot be gone through.
func weigh(values ...any) (weight, error) {
	var w weight
	for _, v := range values {
		if err := w.add(v, 1); err != nil {
			return w, err
		}
	}
	return w, nil
}

func (w *weight) add(v any, depth int) error {
	switch c := v.(type) {
	case string:
		w.text += len(c)
	case []any:
		if w.values += len(c); w.values > maxVisited {
			return errTooLarge
		}
		if depth > maxDepth+1 {
			return errTooDeep
		}
		for _, x := range c {
			if err := w.add(x, depth+1); err != nil {
				return err
			}
		}
	case map[string]any:
		if w.values += len(c); w.values > maxVisited {
			return errTooLarge
		}
		if depth > maxDepth+1 {
			return errTooDeep
		}
		for k, x := range c {
			w.text += len(k)
			if err := w.add(x, depth+1); err != nil {
				return err
			}
		}
	}
	return nil
}

// passable lets v through if what goes through all of it, as sort does, comes
// to an end.
func passable(v any) any {
	if _, err := weigh(v); err != nil {
		return err
	}
	return v
}

// shortText lets v through if its text is no longer than a string may be.
func shortText(v any) any {
	switch w, err := weigh(v); {
	case err != nil:
		return err
	case w.text > maxText:
		return errTextTooLong
	}
	return v
}

// splittable lets a string through if it has no more characters than an array
// has elements.
func splittable(v any) any {
	if s, ok := v.(string); ok && len(s) > maxElements {
		return errListTooLong
	}
	return v
}

// transposable lets rows through if the result is no larger than an array may
// be.
func transposable(v any) any {
	rows, _ := v.([]any)
	longest := 0
	for _, row := range rows {
		row, _ := row.([]any)
		longest = max(longest, len(row))
	}
	if len(rows)*longest > maxElements {
		return errListTooLong
	}
	return v
}

// comparable reports whether l and r can be compared. That goes through what
// both have, so it is enough that one of them is bounded.
func comparable(l, r any) error {
	if _, err := weigh(l); err == nil {
		return nil
	}
	_, err := weigh(r)
	return err
}

// compare gives what test says of the order of l and r.
func compare(l, r any, test func(order int) bool) any {
	if err := comparable(l, r); err != nil {
		return err
	}
	return test(gojq.Compare(l, r))
}

// joinable lets a list through if the text that joining it makes is no longer
// than a string may be.
func joinable(v, sep any) any {
	list, _ := v.([]any)
	s, _ := sep.(string)
	size := 0
	for _, x := range list {
		x, _ := x.(string)
		if size += len(x) + len(s); size > maxText {
			return errTextTooLong
		}
	}
	return v
}
