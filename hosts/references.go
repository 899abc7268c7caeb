package hosts

import (
	"regexp"
	"strings"
)

// references is how a host writes that a value comes from elsewhere. A text in
// which tis would see other references than the host does has to stay there.
type references int

const (
	none        references = iota // texts are taken as they are
	plainNames                    // ${NAME}, ${NAME:-default}
	envNames                      // ${env:NAME}
	dollarNames                   // $NAME, ${NAME}
)

var (
	opening    = regexp.MustCompile(`\$\{[^}]*\}`)
	plainForm  = regexp.MustCompile(`^\$\{[A-Za-z_][A-Za-z0-9_]*(:-[^}]*)?\}$`)
	envForm    = regexp.MustCompile(`^\$\{env:[A-Za-z_][A-Za-z0-9_]*\}$`)
	dollarForm = regexp.MustCompile(`\$([A-Za-z_][A-Za-z0-9_]*)`)
)

// rewrite writes the references in a value as tis does.
func (r references) rewrite(v any) (any, error) {
	switch v := v.(type) {
	case ours:
		return string(v), nil
	case string:
		return r.text(v)
	case []any:
		out := make([]any, len(v))
		for i, x := range v {
			var err error
			if out[i], err = r.rewrite(x); err != nil {
				return nil, err
			}
		}
		return out, nil
	case map[string]any:
		out := make(map[string]any, len(v))
		for k, x := range v {
			var err error
			if out[k], err = r.rewrite(x); err != nil {
				return nil, err
			}
		}
		return out, nil
	case moved:
		out := make(map[string]any, len(v))
		for _, m := range v {
			var err error
			if out[m.key], err = r.rewrite(m.value); err != nil {
				return nil, err
			}
		}
		return out, nil
	}
	return v, nil
}

func (r references) text(s string) (string, error) {
	if r == dollarNames {
		s = dollarForm.ReplaceAllString(s, "$${$1}")
	}
	for _, ref := range opening.FindAllString(s, -1) {
		ok := false
		switch r {
		case plainNames:
			ok = plainForm.MatchString(ref)
		case envNames:
			ok = envForm.MatchString(ref)
		case dollarNames:
			ok = plainForm.MatchString(ref) && !strings.Contains(ref, ":-")
		}
		if !ok {
			return "", stays("it holds ${...} that tis would read otherwise than this host")
		}
	}
	return s, nil
}
