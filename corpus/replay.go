package corpus

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/tools-in-shell/tis/analyze"
	"github.com/tools-in-shell/tis/analyze/lint"
	"github.com/tools-in-shell/tis/approvals"
	"github.com/tools-in-shell/tis/catalog"
	"github.com/tools-in-shell/tis/report"
)

// Shell runs one script. It is given to Replay, so that this package needs no
// interpreter.
type Shell func(ctx context.Context, job Job) (report.Result, error)

// Job is one run.
type Job struct {
	Script  string
	Name    string
	Session string
	// Dir is the working directory, made for this run.
	Dir     string
	Catalog *catalog.Catalog
	Gate    *approvals.Gate
	// MaxCalls is the call limit; 0 for the shell's own.
	MaxCalls int
}

// Outcome is what a case does now: the texts of its wants, by name.
type Outcome map[string]string

// session is the only one of a replay.
const session = "corpus"

// Replay says what the case does now. An error is a fault of the case or of the
// shell, not a difference.
func Replay(ctx context.Context, c *Case, shell Shell) (Outcome, error) {
	rules, err := approvals.CompileRules(c.Setting.Rules)
	if err != nil {
		return nil, fmt.Errorf("%s: case.json: %w", c.Path, err)
	}
	dir, err := os.MkdirTemp("", "tis-corpus-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	for name, data := range c.files {
		name = filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			return nil, err
		}
		if err := os.WriteFile(name, data, 0o600); err != nil {
			return nil, err
		}
	}
	s := newStage(c)
	gate := approvals.NewGate(approvals.NewMemory(), approvals.Config{Mode: c.Setting.Mode, Rules: rules})
	if err := c.answerBefore(ctx, s, gate); err != nil {
		return nil, fmt.Errorf("%s: case.json: %w", c.Path, err)
	}
	out := Outcome{}
	preview := func(calls []catalog.Call) ([]approvals.Verdict, error) { return gate.Preview(ctx, session, calls) }
	if out["lint"], err = findings(c.scripts[0], s.catalog, preview); err != nil {
		return nil, fmt.Errorf("%s: %w", c.Path, err)
	}
	if out["plan"], err = plan(c.scripts[0], s.catalog, preview); err != nil {
		return nil, fmt.Errorf("%s: %w", c.Path, err)
	}
	var last report.Result
	for i := range c.runs() {
		if i > 0 && i <= len(c.Setting.Then) {
			if err := answerAfter(ctx, gate, last, c.Setting.Then[i-1]); err != nil {
				return nil, fmt.Errorf("%s: after run %d: %w", c.Path, i, err)
			}
		}
		last, err = shell(ctx, Job{Script: c.scripts[min(i, len(c.scripts)-1)], Name: "script", Session: session, Dir: dir,
			Catalog: s.catalog, Gate: gate, MaxCalls: c.Setting.Calls})
		if err != nil {
			return nil, fmt.Errorf("%s: run %d: %w", c.Path, i+1, err)
		}
		out["run-"+strconv.Itoa(i+1)] = strings.ReplaceAll(ran(last, s.arrived(), c.Setting.Unordered), dir, "$PWD")
	}
	return out, nil
}

// answerBefore gives the answers that stand before the first run.
func (c *Case) answerBefore(ctx context.Context, s *stage, gate *approvals.Gate) error {
	for i, a := range c.Setting.Answers {
		call, err := s.find(ctx, a)
		if err != nil {
			return fmt.Errorf("$.answers[%d]: %w", i, err)
		}
		requests, err := gate.Ask(ctx, session, "before", []catalog.Call{call})
		if err != nil {
			return err
		}
		for _, r := range requests {
			if _, err := gate.Answer(ctx, r.ID, a.Decision, "corpus"); err != nil {
				return err
			}
		}
	}
	return nil
}

// answerAfter answers what a run asked.
func answerAfter(ctx context.Context, gate *approvals.Gate, r report.Result, decisions []approvals.Decision) error {
	if len(decisions) > 0 && len(r.ApprovalRequests) == 0 {
		return fmt.Errorf("there are answers for the next run, and this one asked nothing")
	}
	for i, request := range r.ApprovalRequests {
		if len(decisions) == 0 {
			return nil
		}
		if _, err := gate.Answer(ctx, request.ID, decisions[min(i, len(decisions)-1)], "corpus"); err != nil {
			return err
		}
	}
	return nil
}

func plan(text string, cat *catalog.Catalog, preview func([]catalog.Call) ([]approvals.Verdict, error)) (string, error) {
	script, err := analyze.Parse(text, "script")
	if err != nil {
		return "no plan: " + err.Error() + "\n", nil
	}
	p, err := script.Plan(cat, preview)
	if err != nil {
		return "", err
	}
	return planned(p), nil
}

func findings(text string, cat *catalog.Catalog, preview func([]catalog.Call) ([]approvals.Verdict, error)) (string, error) {
	found, err := lint.Check(text, lint.Options{Catalog: cat, Preview: preview})
	if err != nil {
		return "", err
	}
	return linted(found), nil
}
