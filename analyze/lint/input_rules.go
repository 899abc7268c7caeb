package lint

import "strings"

var ruleUnreadable = &Rule{
	Code: "TIS102", Name: "unreadable-input", Severity: Error,
	Title: "A word that is no input",
	Why:   "An input is a JSON object, `key=value`, `--key value` or JSON on stdin. Anything else fails with `invalid_input` before the tool is called.",
	Bad:   "tools github list-pulls acme/api\n",
	Good:  "tools github list-pulls repo=acme/api\n",
	check: func(p *pass) {
		for _, c := range p.calls {
			if c.tool == nil {
				continue
			}
			for _, v := range c.variants {
				if v.err != nil {
					i := c.named
					if v.input != nil && v.input.bad >= 0 {
						i = v.input.bad
					}
					c.onWord(i, "%s", v.err.Message)
					break
				}
			}
		}
	},
}

var ruleSchema = &Rule{
	Code: "TIS103", Name: "wrong-input", Severity: Error,
	Title: "An input that does not fit the tool's schema",
	Why: "The command fails with `invalid_input` before the tool is called. The rule looks at what is known: of `number=\"$n\"` the key, of `state=opened` the value too; " +
		"a missing key is reported when nothing that is not known could supply it.",
	Bad:  "tools github list-pulls repo=acme/api state=opened\n",
	Good: "tools github list-pulls repo=acme/api state=open\n",
	check: func(p *pass) {
		for _, c := range p.calls {
			if c.tool == nil {
				continue
			}
			for _, v := range c.variants {
				if v.err != nil || v.input == nil {
					continue
				}
				faults := v.faults()
				for _, f := range faults {
					i := -1
					switch {
					case len(f.Path) > 0:
						i = v.word(f.Path[0])
					case len(f.Extra) > 0:
						i = v.word(f.Extra[0])
					}
					found := c.onWord(i, "%s: %s", c.tool.Command(), f.Message)
					if i < 0 {
						start, end := c.name()
						found.Start, found.End = p.at(start), p.at(end)
					}
				}
				if len(faults) > 0 {
					break // the other turns of the loop are likely the same
				}
			}
		}
	},
}

// word is the word that gives a key its value; -1 when there is none.
func (v *variant) word(key string) int {
	if i, ok := v.input.from[key]; ok {
		return i
	}
	return -1
}

var ruleTwice = &Rule{
	Code: "TIS104", Name: "given-twice", Severity: Warning,
	Title: "A key that is given twice",
	Why:   "The later one wins and the earlier one is lost without a word: pairs beat JSON, and what is typed later beats what is typed earlier.",
	Bad:   "tools linear create-issue title='Broken build' title='Flaky test'\n",
	Good:  "tools linear create-issue title='Flaky test'\n",
	check: func(p *pass) {
		for _, c := range p.calls {
			if c.tool == nil || c.variants[0].input == nil {
				continue
			}
			for _, t := range c.variants[0].input.twice {
				if t.inJSON {
					c.onWord(t.second, "the key %q stands twice in this JSON; the last one counts", t.key)
					continue
				}
				f := c.onWord(t.second, "the key %q is given twice; %s", t.key, wins(c, t))
				if w := c.words[t.first]; w.node != nil {
					f.Notes = append(f.Notes, Note{p.at(w.start), p.at(w.end), "given here before"})
				}
			}
		}
	},
}

func wins(c *call, t twice) string {
	if strings.HasPrefix(strings.TrimSpace(c.variants[0].values[t.second]), "{") && !strings.HasPrefix(strings.TrimSpace(c.variants[0].values[t.first]), "{") {
		return "the pair counts, not the JSON"
	}
	return "this one counts"
}
