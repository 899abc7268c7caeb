// Command embed runs a script with two tools that are Go functions.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"log"
	"os"

	"github.com/tools-in-shell/tis/catalog"
	"github.com/tools-in-shell/tis/runner"
)

const script = `
for city in Oslo Lima; do
  tools weather city=$city | jq -r '"\(.city): \(.degrees) degrees"'
done
tools note text="two cities checked"
`

func main() {
	yes := true
	weather := &catalog.Tool{
		Name: "weather", Description: "The weather of a city.", Hints: catalog.Hints{ReadOnly: &yes},
		InputSchema: json.RawMessage(`{"type":"object","properties":{"city":{"type":"string"}},"required":["city"]}`),
		Executor: catalog.ExecutorFunc(func(_ context.Context, input json.RawMessage) (catalog.Output, error) {
			var in struct{ City string }
			if err := json.Unmarshal(input, &in); err != nil {
				return catalog.Output{}, err
			}
			result, err := json.Marshal(map[string]any{"city": in.City, "degrees": len(in.City) * 4})
			return catalog.Output{Structured: result}, err
		}),
	}
	note := &catalog.Tool{
		Name: "note", Description: "Writes a note.",
		Executor: catalog.ExecutorFunc(func(_ context.Context, input json.RawMessage) (catalog.Output, error) {
			return catalog.TextOutput("noted " + string(input)), nil
		}),
	}
	r, err := runner.New(runner.Options{Dir: os.TempDir(), Catalog: func(context.Context) *catalog.Catalog {
		return catalog.New(nil, []*catalog.Tool{weather, note}, catalog.Options{})
	}})
	if err != nil {
		log.Fatal(err)
	}
	result, err := r.Run(context.Background(), runner.Script{Text: script, Session: "example"})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Print(result.Stdout, result.Stderr)
	os.Exit(result.ExitCode)
}
