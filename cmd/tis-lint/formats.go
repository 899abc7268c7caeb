package main

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"strings"

	"github.com/tools-in-shell/tis/analyze/lint"
	"github.com/tools-in-shell/tis/catalog"
)

// finding is one of the json and jsonl formats. Lines and columns count from 1,
// columns in bytes.
type finding struct {
	File     string        `json:"file"`
	Record   int           `json:"record,omitempty"` // the line of a transcript; line is the script's then
	Line     int           `json:"line"`
	Col      int           `json:"col"`
	EndLine  int           `json:"end_line"`
	EndCol   int           `json:"end_col"`
	Code     string        `json:"code"`
	Name     string        `json:"name"`
	Severity lint.Severity `json:"severity"`
	Message  string        `json:"message"`
	Notes    []note        `json:"notes,omitempty"`
	Fix      []edit        `json:"fix,omitempty"`
}

type note struct {
	Line    int    `json:"line"`
	Col     int    `json:"col"`
	Message string `json:"message"`
}

type edit struct {
	Line    int    `json:"line"`
	Col     int    `json:"col"`
	EndLine int    `json:"end_line"`
	EndCol  int    `json:"end_col"`
	Text    string `json:"text"`
}

func flat(results []found) []finding {
	out := []finding{}
	for _, r := range results {
		for _, f := range r.findings {
			x := finding{File: r.script.file, Record: r.script.record, Code: f.Rule.Code, Name: f.Rule.Name, Severity: f.Severity, Message: f.Message}
			x.Line, x.Col = r.script.at(f.Start)
			x.EndLine, x.EndCol = r.script.at(f.End)
			for _, n := range f.Notes {
				line, col := r.script.at(n.Start)
				x.Notes = append(x.Notes, note{line, col, n.Message})
			}
			if len(f.Fixes) > 0 {
				for _, e := range f.Fixes[0].Edits {
					var y edit
					y.Line, y.Col = r.script.at(e.Start)
					y.EndLine, y.EndCol = r.script.at(e.End)
					y.Text = e.Text
					x.Fix = append(x.Fix, y)
				}
			}
			out = append(out, x)
		}
	}
	return out
}

func writeJSONReport(out *bytes.Buffer, results []found, _ bool) error {
	return writeJSON(out, map[string]any{"version": 1, "findings": flat(results), "scripts": len(results)})
}

func writeJSONLines(out *bytes.Buffer, results []found, _ bool) error {
	for _, f := range flat(results) {
		if err := writeJSON(out, f); err != nil {
			return err
		}
	}
	return nil
}

// writeGitHub prints workflow commands.
func writeGitHub(out *bytes.Buffer, results []found, _ bool) error {
	data := strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A")
	property := strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C")
	for _, f := range flat(results) {
		level := string(f.Severity)
		if f.Severity == lint.Info {
			level = "notice"
		}
		fmt.Fprintf(out, "::%s file=%s,line=%d,col=%d,endLine=%d,endColumn=%d,title=%s::%s\n",
			level, property.Replace(catalog.Visible(f.File)), max(f.Record, f.Line), f.Col, f.EndLine, f.EndCol, property.Replace(f.Code+" "+f.Name), data.Replace(catalog.Visible(f.Message)))
	}
	return nil
}

func writeGCC(out *bytes.Buffer, results []found, _ bool) error {
	for _, f := range flat(results) {
		level := string(f.Severity)
		if f.Severity == lint.Info {
			level = "note"
		}
		fmt.Fprintf(out, "%s:%d:%d: %s: %s [%s]\n", catalog.Visible(f.File), max(f.Record, f.Line), f.Col, level, catalog.Visible(f.Message), f.Code)
	}
	return nil
}

type checkstyle struct {
	XMLName xml.Name         `xml:"checkstyle"`
	Version string           `xml:"version,attr"`
	Files   []checkstyleFile `xml:"file"`
}

type checkstyleFile struct {
	Name   string            `xml:"name,attr"`
	Errors []checkstyleError `xml:"error"`
}

type checkstyleError struct {
	Line     int    `xml:"line,attr"`
	Column   int    `xml:"column,attr"`
	Severity string `xml:"severity,attr"`
	Message  string `xml:"message,attr"`
	Source   string `xml:"source,attr"`
}

func writeCheckstyle(out *bytes.Buffer, results []found, _ bool) error {
	doc := checkstyle{Version: "4.3"}
	for _, f := range flat(results) {
		if n := len(doc.Files); n == 0 || doc.Files[n-1].Name != f.File {
			doc.Files = append(doc.Files, checkstyleFile{Name: f.File})
		}
		last := &doc.Files[len(doc.Files)-1]
		last.Errors = append(last.Errors, checkstyleError{max(f.Record, f.Line), f.Col, string(f.Severity), f.Message, "tis-lint." + f.Code})
	}
	return writeXML(out, doc)
}

type junit struct {
	XMLName xml.Name    `xml:"testsuites"`
	Suites  []junitFile `xml:"testsuite"`
}

type junitFile struct {
	Name     string      `xml:"name,attr"`
	Tests    int         `xml:"tests,attr"`
	Failures int         `xml:"failures,attr"`
	Cases    []junitCase `xml:"testcase"`
}

type junitCase struct {
	Class   string        `xml:"classname,attr"`
	Name    string        `xml:"name,attr"`
	Failure *junitFailure `xml:"failure"`
}

type junitFailure struct {
	Message string `xml:"message,attr"`
	Type    string `xml:"type,attr"`
	Text    string `xml:",chardata"`
}

// writeJUnit prints a suite for each script, with a case for each finding, and
// one that passes for a script without any.
func writeJUnit(out *bytes.Buffer, results []found, _ bool) error {
	doc := junit{}
	for _, r := range results {
		suite := junitFile{Name: r.script.file}
		for _, f := range flat([]found{r}) {
			suite.Cases = append(suite.Cases, junitCase{f.File, fmt.Sprintf("%s %d:%d", f.Code, f.Line, f.Col),
				&junitFailure{f.Message, f.Code, fmt.Sprintf("%s:%d:%d: %s", f.File, f.Line, f.Col, f.Message)}})
		}
		suite.Failures = len(suite.Cases)
		if suite.Failures == 0 {
			suite.Cases = []junitCase{{r.script.file, "clean", nil}}
		}
		suite.Tests = len(suite.Cases)
		doc.Suites = append(doc.Suites, suite)
	}
	return writeXML(out, doc)
}

// writeXML prints a document. What no XML may hold is replaced.
func writeXML(out *bytes.Buffer, v any) error {
	out.WriteString(xml.Header)
	enc := xml.NewEncoder(out)
	enc.Indent("", "  ")
	if err := enc.Encode(v); err != nil {
		return err
	}
	out.WriteByte('\n')
	return nil
}

// The parts of SARIF 2.1.0 that are written.
type (
	sarifLog struct {
		Schema  string     `json:"$schema"`
		Version string     `json:"version"`
		Runs    []sarifRun `json:"runs"`
	}
	sarifRun struct {
		Tool       sarifTool     `json:"tool"`
		ColumnKind string        `json:"columnKind"`
		Results    []sarifResult `json:"results"`
	}
	sarifTool struct {
		Driver sarifDriver `json:"driver"`
	}
	sarifDriver struct {
		Name    string      `json:"name"`
		Version string      `json:"version"`
		URI     string      `json:"informationUri"`
		Rules   []sarifRule `json:"rules"`
	}
	sarifRule struct {
		ID      string       `json:"id"`
		Name    string       `json:"name"`
		Short   sarifText    `json:"shortDescription"`
		Full    sarifText    `json:"fullDescription"`
		Help    sarifText    `json:"help"`
		Default sarifDefault `json:"defaultConfiguration"`
	}
	sarifDefault struct {
		Level string `json:"level"`
	}
	sarifText struct {
		Text     string `json:"text"`
		Markdown string `json:"markdown,omitempty"`
	}
	sarifResult struct {
		RuleID    string          `json:"ruleId"`
		RuleIndex int             `json:"ruleIndex"`
		Level     string          `json:"level"`
		Message   sarifText       `json:"message"`
		Locations []sarifLocation `json:"locations"`
		Related   []sarifLocation `json:"relatedLocations,omitempty"`
		Fixes     []sarifFix      `json:"fixes,omitempty"`
	}
	sarifLocation struct {
		Physical sarifPhysical `json:"physicalLocation"`
		Message  *sarifText    `json:"message,omitempty"`
	}
	sarifPhysical struct {
		Artifact sarifArtifact `json:"artifactLocation"`
		Region   sarifRegion   `json:"region"`
	}
	sarifArtifact struct {
		URI string `json:"uri"`
	}
	sarifRegion struct {
		StartLine   int `json:"startLine"`
		StartColumn int `json:"startColumn"`
		EndLine     int `json:"endLine"`
		EndColumn   int `json:"endColumn"`
	}
	sarifFix struct {
		Description sarifText     `json:"description"`
		Changes     []sarifChange `json:"artifactChanges"`
	}
	sarifChange struct {
		Artifact     sarifArtifact      `json:"artifactLocation"`
		Replacements []sarifReplacement `json:"replacements"`
	}
	sarifReplacement struct {
		Deleted  sarifRegion `json:"deletedRegion"`
		Inserted sarifText   `json:"insertedContent"`
	}
)

func sarifLevel(s lint.Severity) string {
	if s == lint.Info {
		return "note"
	}
	return string(s)
}

func writeSARIF(out *bytes.Buffer, results []found, _ bool) error {
	run := sarifRun{ColumnKind: "unicodeCodePoints", Results: []sarifResult{}}
	run.Tool.Driver = sarifDriver{Name: "tis-lint", Version: version(), URI: "https://github.com/tools-in-shell/tis"}
	index := map[string]int{}
	for i, r := range lint.Rules() {
		index[r.Code] = i
		run.Tool.Driver.Rules = append(run.Tool.Driver.Rules, sarifRule{r.Code, r.Name, sarifText{Text: r.Title}, sarifText{Text: r.Why},
			sarifText{lint.Page(r), lint.Page(r)}, sarifDefault{sarifLevel(r.Severity)}})
	}
	for _, r := range results {
		lines := strings.Split(r.script.text, "\n")
		place := func(start, end lint.Position) sarifRegion {
			return sarifRegion{start.Line + r.script.line, points(lines, start) + r.script.col, end.Line + r.script.line, points(lines, end) + r.script.col}
		}
		artifact := sarifArtifact{uri(r.script.file)}
		for _, f := range r.findings {
			res := sarifResult{RuleID: f.Rule.Code, RuleIndex: index[f.Rule.Code], Level: sarifLevel(f.Severity), Message: sarifText{Text: f.Message},
				Locations: []sarifLocation{{Physical: sarifPhysical{artifact, place(f.Start, f.End)}}}}
			if r.script.record > 0 { // the script is a value on one line of the file
				res.Locations[0].Physical.Region = sarifRegion{r.script.record, 1, r.script.record, 1}
				run.Results = append(run.Results, res)
				continue
			}
			for _, n := range f.Notes {
				res.Related = append(res.Related, sarifLocation{sarifPhysical{artifact, place(n.Start, n.End)}, &sarifText{Text: n.Message}})
			}
			for _, x := range f.Fixes {
				fix := sarifFix{Description: sarifText{Text: x.Message}, Changes: []sarifChange{{Artifact: artifact}}}
				for _, e := range x.Edits {
					fix.Changes[0].Replacements = append(fix.Changes[0].Replacements, sarifReplacement{place(e.Start, e.End), sarifText{Text: e.Text}})
				}
				res.Fixes = append(res.Fixes, fix)
			}
			run.Results = append(run.Results, res)
		}
	}
	return writeJSON(out, sarifLog{"https://json.schemastore.org/sarif-2.1.0.json", "2.1.0", []sarifRun{run}})
}

// points is a position's column in characters.
func points(lines []string, p lint.Position) int {
	line := lines[p.Line-1]
	return len([]rune(line[:min(p.Col-1, len(line))])) + 1
}

// uri is a file name as a URI reference.
func uri(name string) string {
	var b strings.Builder
	for i := range len(name) {
		switch c := name[i]; {
		case c == '\\':
			b.WriteByte('/')
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', strings.IndexByte("-._~/", c) >= 0:
			b.WriteByte(c)
		default:
			fmt.Fprintf(&b, "%%%02X", c)
		}
	}
	return b.String()
}
