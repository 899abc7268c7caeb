// Package capability is the agent's side of tis: the configuration of the
// capabilities tools_in_shell and tool_approval, which tools leave the model's
// direct list, and what the model is told instead.
//
// It runs nothing. Start reading at Transform; Assign and Superseded are for a
// platform that gives capabilities to agents.
package capability

import (
	"fmt"
	"strings"
	"time"

	"github.com/tools-in-shell/tis/approvals"
	"github.com/tools-in-shell/tis/catalog"
)

// ToolsConfig is the config of tools_in_shell.
type ToolsConfig struct {
	// KeepVisible are tools that the model can still call directly.
	KeepVisible []string `json:"keep_visible"`
}

// ApprovalConfig is the config of tool_approval.
type ApprovalConfig struct {
	Mode           approvals.Mode `json:"mode"`
	TimeoutSeconds int            `json:"timeout_seconds"`
}

// The bounds of a request's time, in seconds.
const (
	MinTimeout     = 60
	MaxTimeout     = 86400
	DefaultTimeout = 900
)

// Check fills in defaults and checks the bounds. The error begins with the field.
func (c *ApprovalConfig) Check() error {
	switch c.Mode {
	case "":
		c.Mode = approvals.Normal
	case approvals.Off, approvals.Normal, approvals.Protective:
	default:
		return fmt.Errorf("mode: it is %q; want off, normal or protective", c.Mode)
	}
	if c.TimeoutSeconds == 0 {
		c.TimeoutSeconds = DefaultTimeout
	}
	if c.TimeoutSeconds < MinTimeout || c.TimeoutSeconds > MaxTimeout {
		return fmt.Errorf("timeout_seconds: it is %d; want %d to %d", c.TimeoutSeconds, MinTimeout, MaxTimeout)
	}
	return nil
}

// Timeout is how long a request waits.
func (c ApprovalConfig) Timeout() time.Duration { return time.Duration(c.TimeoutSeconds) * time.Second }

// Transform returns the tools that stay in the model's direct list. The
// description of bash gets a block that names what is behind `tools`.
func Transform(cat *catalog.Catalog) []*catalog.Tool {
	var out []*catalog.Tool
	for _, t := range cat.Direct() {
		if t.Name == "bash" && t.Server == "" {
			t = &catalog.Tool{Name: t.Name, InputSchema: t.InputSchema, Hints: t.Hints, Policy: t.Policy, Executor: t.Executor,
				Description: Describe(t.Description, cat)}
		}
		out = append(out, t)
	}
	return out
}

// Describe is a description of bash with a block that names what is behind
// `tools`, when anything is.
func Describe(bash string, cat *catalog.Catalog) string {
	behind := Behind(cat)
	if behind == "" {
		return bash
	}
	return strings.TrimSpace(bash) + "\n\nBehind the `tools` command: " + behind + ". Run `tools --help` to look around."
}

// Behind names what is behind `tools`: github (26), docs (not loaded), web-fetch.
func Behind(cat *catalog.Catalog) string {
	var names []string
	for _, s := range cat.Servers() {
		switch {
		case s.Unavailable != nil:
			names = append(names, catalog.Shown(s.Name)+" (unavailable)")
		case !s.Loaded:
			names = append(names, catalog.Shown(s.Name)+" (not loaded)")
		default:
			names = append(names, fmt.Sprintf("%s (%d)", catalog.Shown(s.Name), len(s.Tools)))
		}
	}
	for _, t := range cat.Top() {
		names = append(names, catalog.Shown(t.Name))
	}
	return strings.Join(names, ", ")
}

// Prompt is the addition to the system prompt.
const Prompt = `Most of your tools are commands of one shell command, ` + "`tools`" + `, inside the bash tool. Prefer one script that calls several tools and prints only what you need over many single calls.
- Find: tools --help, tools SERVER --help, tools search WORDS, tools SERVER TOOL --help (the input schema).
- Call: tools SERVER TOOL '{"key":"value"}', or key=value pairs, or JSON on stdin through a pipe. Results are text or JSON on stdout; filter them with jq.
- Errors are one JSON line on stderr with exit code 1: {"error":{"code","message","retryable"}}.
- Some calls need a person's approval. Write such a call out in full, with literal arguments, and put it first: then the script is held before anything has run, and you run the same script again after the answer. A script that is stopped while it runs is never resumed: read done in the report and write a new script for what is left.`
