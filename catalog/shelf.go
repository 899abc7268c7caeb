package catalog

import "slices"

// shelf is a list of tools sorted into what the shell reaches and what not.
type shelf struct {
	shell, hidden *index[*Tool]
	direct        []*Tool
	twice         []string
}

func shelve(tools []*Tool, keep keeper) *shelf {
	sh := &shelf{shell: newIndex[*Tool](len(tools)), hidden: newIndex[*Tool](0)}
	for _, t := range tools {
		direct := IsDirect(t)
		on := sh.shell
		if direct {
			on = sh.hidden
		}
		if !on.add(t.Name, t) {
			sh.twice = append(sh.twice, t.Name)
		} else if direct || keep.has(t) {
			sh.direct = append(sh.direct, t)
		}
	}
	return sh
}

// reachable are the tools that the shell reaches, in the order given.
func (sh *shelf) reachable() []*Tool {
	var out []*Tool
	for _, name := range sh.shell.names {
		out = append(out, sh.shell.exact[name])
	}
	return out
}

func (sh *shelf) all() []*Tool {
	out := sh.reachable()
	for _, name := range sh.hidden.names {
		out = append(out, sh.hidden.exact[name])
	}
	return out
}

// find looks a word up; hidden says that it only names tools that are called
// directly.
func (sh *shelf) find(word string) (found []*Tool, hidden bool) {
	if found = sh.shell.find(word); len(found) == 0 {
		return nil, len(sh.hidden.find(word)) > 0
	}
	return found, false
}

// keeper knows the names of keep_visible, by their normal spelling.
type keeper map[string]string

func newKeeper(names []string) keeper {
	k := make(keeper, len(names))
	for _, n := range names {
		k[normal(n)] = n
	}
	return k
}

func (k keeper) has(t *Tool) bool {
	if len(k) == 0 {
		return false
	}
	_, byName := k[normal(t.RegistryName())]
	_, byKey := k[normal(t.Key())]
	return byName || byKey
}

func (k keeper) names() []string {
	var out []string
	for _, n := range k {
		out = append(out, n)
	}
	slices.Sort(out)
	return out
}

func keeps(name string, t *Tool) bool {
	n := normal(name)
	return n == normal(t.RegistryName()) || n == normal(t.Key())
}
