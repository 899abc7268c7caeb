package intercept

import (
	"context"
	"io"

	"github.com/tools-in-shell/tis/analyze"
	"github.com/tools-in-shell/tis/approvals"
	"github.com/tools-in-shell/tis/catalog"
)

// plan prints what the script on stdin would call. It runs nothing, asks nobody
// and counts for nothing.
func (i *Interceptor) plan(ctx context.Context, in io.Reader, std Stdio) int {
	if in == nil {
		return fail(std, catalog.Errorf(catalog.InvalidInput, "tools plan reads a script from stdin, as in tools plan <<'EOF'"))
	}
	text, err := io.ReadAll(io.LimitReader(in, analyze.MaxSize+1)) // Parse refuses what is longer
	if err != nil {
		return fail(std, catalog.Errorf(catalog.InvalidInput, "the script on stdin cannot be read: %v", err))
	}
	script, err := analyze.Parse(string(text), "stdin")
	if err != nil {
		return fail(std, catalog.Errorf(catalog.InvalidInput, "the script does not parse: %v", err))
	}
	gate := i.Gate
	if gate == nil {
		gate = approvals.NewGate(approvals.NewMemory(), approvals.Config{Mode: approvals.Off})
	}
	plan, err := script.Plan(i.Catalog, func(calls []catalog.Call) ([]approvals.Verdict, error) {
		return gate.Preview(ctx, i.Session, calls)
	})
	if err != nil {
		return fail(std, &catalog.Error{Code: catalog.Unavailable, Retryable: true, Message: "approvals cannot be checked: " + err.Error()})
	}
	return write(std, string(encode(plan))+"\n")
}
