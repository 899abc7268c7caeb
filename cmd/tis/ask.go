package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"unicode"

	"github.com/tools-in-shell/tis/approvals"
	"github.com/tools-in-shell/tis/catalog"
)

// askAll puts each request to the person at the terminal. It reports whether
// every one of them got an answer.
func (p *program) askAll(ctx context.Context, gate *approvals.Gate, cat *catalog.Catalog, requests []approvals.Request) (bool, error) {
	in := bufio.NewReader(p.stdin)
	for i, r := range requests {
		showRequest(p.stderr, r, find(cat, r.Tool), i+1, len(requests))
		decision, ok := readDecision(in, p.stderr)
		if !ok {
			fmt.Fprintln(p.stderr, "\nno answer; the request stays open")
			return false, nil
		}
		if _, err := gate.Answer(ctx, r.ID, decision, "terminal"); err != nil {
			return false, err
		}
	}
	return true, nil
}

// find looks a request's tool up by its registry name.
func find(cat *catalog.Catalog, registry string) *catalog.Tool {
	for _, s := range cat.Servers() {
		for _, t := range s.Tools {
			if t.RegistryName() == registry {
				return t
			}
		}
	}
	for _, t := range cat.Top() {
		if t.RegistryName() == registry {
			return t
		}
	}
	return nil
}

// maxShown is how much of an input the question shows, in bytes.
const maxShown = 4000

// showRequest prints one request so that nothing in it can pretend to be
// something else: every control or invisible character is spelled out.
func showRequest(w io.Writer, r approvals.Request, t *catalog.Tool, n, of int) {
	fmt.Fprintf(w, "\nApproval %d of %d: %s\n", n, of, visible(r.Command))
	if t != nil {
		fmt.Fprintf(w, "  what it does  %s\n", visible(catalog.Sentence(t.Description)))
	}
	fmt.Fprintf(w, "  why it asks   %s (mode %s)\n", visible(string(r.Risk)), visible(string(r.Mode)))
	var pretty bytes.Buffer
	if json.Indent(&pretty, r.Arguments, "  ", "  ") != nil {
		pretty.Reset()
		pretty.Write(r.Arguments)
	}
	text, cut := pretty.String(), 0
	if len(text) > maxShown {
		text, cut = strings.ToValidUTF8(text[:maxShown], ""), len(text)-maxShown
	}
	fmt.Fprintln(w, "  exact input")
	for line := range strings.SplitSeq(strings.TrimSpace(text), "\n") {
		fmt.Fprintf(w, "    %s\n", visible(strings.TrimPrefix(line, "  ")))
	}
	if cut > 0 {
		fmt.Fprintf(w, "    ... %d more bytes; see all of it with: tis approvals list --json\n", cut)
	}
}

func readDecision(in *bufio.Reader, w io.Writer) (approvals.Decision, bool) {
	for {
		fmt.Fprint(w, "Allow? y once / a always in this session / n reject / never: ")
		line, err := in.ReadString('\n')
		switch strings.TrimSpace(strings.ToLower(line)) {
		case "y", "yes", "once":
			return approvals.Allow, true
		case "a", "always":
			return approvals.AllowAlways, true
		case "n", "no":
			return approvals.Reject, true
		case "never":
			return approvals.RejectAlways, true
		}
		if err != nil {
			return "", false
		}
	}
}

// visible spells out control, formatting, private and other invisible
// characters, bidirectional overrides among them.
func visible(s string) string {
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
