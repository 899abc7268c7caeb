package main

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/tools-in-shell/tis/analyze/lint"
)

type explainCommand struct {
	Code string `arg:"" help:"The rule's code or name, as in TIS101 or unknown-tool."`
}

func (c *explainCommand) Run(p *program) error {
	r := lint.Find(c.Code)
	if r == nil {
		r = lint.Find(strings.ToUpper(c.Code))
	}
	if r == nil {
		return usagef("there is no rule %q; tis-lint rules lists them", c.Code)
	}
	io.WriteString(p.stdout, lint.Page(r))
	return nil
}

type rulesCommand struct {
	JSON bool `name:"json" help:"Print JSON."`
}

func (c *rulesCommand) Run(p *program) error {
	type rule struct {
		Code     string        `json:"code"`
		Name     string        `json:"name"`
		Severity lint.Severity `json:"severity"`
		Title    string        `json:"title"`
	}
	var list []rule
	for _, r := range lint.Rules() {
		list = append(list, rule{r.Code, r.Name, r.Severity, r.Title})
	}
	if c.JSON {
		return writeJSON(p.stdout, list)
	}
	w := tabwriter.NewWriter(p.stdout, 0, 0, 2, ' ', 0)
	for _, r := range list {
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", r.Code, r.Severity, r.Name, r.Title)
	}
	return w.Flush()
}
