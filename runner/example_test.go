package runner_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"

	"github.com/tools-in-shell/tis/approvals"
	"github.com/tools-in-shell/tis/catalog"
	"github.com/tools-in-shell/tis/runner"
)

// An agent's runtime asks before it starts the shell. A held script has done
// nothing, and the same script starts once the person has answered.
func ExampleRunner_Preflight() {
	yes := true
	tools := []*catalog.Tool{{Server: "github", Name: "delete_branch", Hints: catalog.Hints{Destructive: &yes},
		Executor: catalog.ExecutorFunc(func(context.Context, json.RawMessage) (catalog.Output, error) {
			return catalog.TextOutput("deleted"), nil
		})}}
	dir, err := os.MkdirTemp("", "example-")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	gate := approvals.NewGate(approvals.NewMemory(), approvals.Config{})
	r, err := runner.New(runner.Options{Dir: dir, Gate: gate, Catalog: func(context.Context) *catalog.Catalog {
		return catalog.New([]catalog.Source{{Name: "github", Loaded: true, Tools: tools}}, nil, catalog.Options{})
	}})
	if err != nil {
		panic(err)
	}

	ctx := context.Background()
	script := runner.Script{Text: "tools github delete-branch branch=fix-x", Session: "chat 17"}
	held := r.Preflight(ctx, script)
	stopped := held.Tools.Stopped
	fmt.Println(stopped.Reason, stopped.BeforeStart, stopped.Call.Tool, string(stopped.Call.Input))

	for _, request := range held.ApprovalRequests {
		if _, err := gate.Answer(ctx, request.ID, approvals.Allow, "ana"); err != nil {
			panic(err)
		}
	}
	fmt.Println("held:", r.Preflight(ctx, script) != nil)
	result, err := r.Run(ctx, script)
	fmt.Print(result.Stdout, err, "\n")
	fmt.Println("held again:", r.Preflight(ctx, script) != nil)
	// Output:
	// needs_approval true tools github delete-branch {"branch":"fix-x"}
	// held: false
	// deleted
	// <nil>
	// held again: true
}
