package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/tools-in-shell/tis/approvals"
	"github.com/tools-in-shell/tis/catalog"
)

// askAll puts each request to the person at the terminal. It reports whether
// every one of them got an answer.
func (p *program) askAll(ctx context.Context, gate *approvals.Gate, cat *catalog.Catalog, requests []approvals.Request) (bool, error) {
	in := bufio.NewReader(p.stdin)
	for i, r := range requests {
		fmt.Fprintf(p.stderr, "\nApproval %d of %d: %s", i+1, len(requests), gate.Question(ctx, r, cat.Tool(r.Tool)))
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

// visible is a text from outside as a person may safely see it.
func visible(s string) string { return catalog.Visible(s) }
