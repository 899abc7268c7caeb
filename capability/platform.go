package capability

import (
	"errors"
	"fmt"
	"slices"
)

// The capabilities, and what a platform has to know of tools_in_shell.
const (
	ToolsInShell = "tools_in_shell"
	ToolApproval = "tool_approval"

	Name      = "Tools in Shell"
	Category  = "Execution"
	Risk      = "high" // an admin of the organisation has to assign it
	DependsOn = "bashkit_shell"
	Flag      = "FEATURE_TOOLS_IN_SHELL"
	// Grade is how far the rollout has come where the flag does not say otherwise.
	Grade = "adoption"
)

// Rollout is the grade that the flag sets, or the default.
func Rollout(getenv func(string) (string, bool)) string {
	if grade, ok := getenv(Flag); ok && grade != "" {
		return grade
	}
	return Grade
}

// What Assign can fail with.
var (
	ErrNotAdmin = errors.New("its risk is high, so an admin of the organisation has to assign it")
	ErrNoShell  = errors.New("it depends on " + DependsOn + ", which the agent does not have")
)

// Assign checks whether a person may give an agent tools_in_shell beside the
// capabilities that it has.
func Assign(has []string, orgAdmin bool) error {
	var err error
	if !orgAdmin {
		err = errors.Join(err, fmt.Errorf("%s: %w", ToolsInShell, ErrNotAdmin))
	}
	if !slices.Contains(has, DependsOn) {
		err = errors.Join(err, fmt.Errorf("%s: %w", ToolsInShell, ErrNoShell))
	}
	return err
}

// supersedes are the capabilities that tools_in_shell replaces.
var supersedes = []string{"tool_search", "auto_tool_search", "openai_tool_search", "claude_tool_search"}

// Suggestion is a finding of an agent check.
type Suggestion struct {
	Code       string `json:"code"`
	Capability string `json:"capability"`
	Message    string `json:"message"`
}

// Superseded lists, of the capabilities of an agent, those that contribute
// nothing because tools_in_shell is enabled too, each once.
func Superseded(refs []string) []Suggestion {
	var out []Suggestion
	for i, ref := range refs {
		if superseded(ref, refs) && !slices.Contains(refs[:i], ref) {
			out = append(out, Suggestion{Code: "capabilities.superseded", Capability: ref,
				Message: fmt.Sprintf("%s contributes nothing while %s is enabled; remove it", ref, ToolsInShell)})
		}
	}
	return out
}

// Contributing are the capabilities of an agent without the superseded ones.
func Contributing(refs []string) []string {
	return slices.DeleteFunc(slices.Clone(refs), func(ref string) bool { return superseded(ref, refs) })
}

func superseded(ref string, refs []string) bool {
	return slices.Contains(refs, ToolsInShell) && slices.Contains(supersedes, ref)
}
