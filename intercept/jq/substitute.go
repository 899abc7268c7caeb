package jq

import "strings"

// substitution is sub or gsub under way. The replacement is an expression and
// may give several values: each of them leads to a text of its own.
type substitution struct {
	in    string
	spots []spot
	next  int // the spot that is being replaced
	from  int // where the text before it begins
	texts []*strings.Builder
	given int // values of the replacement at this spot
	size  int // bytes in all texts
}

// spot is a match: where it stands and its named groups.
type spot struct {
	from, to int
	groups   map[string]any
}

func (r *run) substitution(v, expr, flags any) any {
	m, s, found, err := r.matches(v, expr, flags)
	if err != nil {
		return err
	}
	sub := &substitution{in: s, spots: make([]spot, len(found))}
	for i, x := range found {
		sub.spots[i] = spot{x[0], x[1], r.order.named(m, s, x)}
	}
	return sub
}

// groupsIter goes from spot to spot and gives the groups of each.
type groupsIter struct{ sub *substitution }

func (g *groupsIter) Next() (any, bool) {
	s := g.sub
	if s.next > 0 {
		s.from = s.spots[s.next-1].to
	}
	if s.next == len(s.spots) {
		return nil, false
	}
	s.next++
	s.given = 0
	return s.spots[s.next-1].groups, true
}

// replace adds one value of the replacement at this spot.
func (s *substitution) replace(o *order, v any) any {
	gap := s.in[s.from:s.spots[s.next-1].from]
	text, ok := v.(string)
	if !ok && v != nil {
		return faultf("%s and %s cannot be added", o.describe(gap), o.describe(v))
	}
	if s.given == len(s.texts) {
		s.texts = append(s.texts, &strings.Builder{})
	}
	b := s.texts[s.given]
	s.given++
	b.WriteString(gap)
	b.WriteString(text)
	if s.size += len(gap) + len(text); s.size > maxText {
		return errTextTooLong
	}
	return s
}

// results are the texts, each with what follows the last spot; the text as it
// was when nothing was replaced.
func (s *substitution) results() any {
	if len(s.texts) == 0 {
		return []any{s.in}
	}
	list := make([]any, len(s.texts))
	for i, b := range s.texts {
		b.WriteString(s.in[s.from:])
		list[i] = b.String()
	}
	return list
}
