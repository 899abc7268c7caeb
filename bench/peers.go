package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/tools-in-shell/tis/analyze"
	"github.com/tools-in-shell/tis/approvals"
	"github.com/tools-in-shell/tis/catalog"
)

// The files that the rows are about, in the scratch folder.
const (
	emptyConfig      = "empty.json"
	everythingConfig = "everything.json"
	mcporterConfig   = "mcporter.json"
	longScript       = "long.sh"
	manyJq           = "jq.sh"
	manyEchoes       = "echoes.sh"
	oneEcho          = "echo.sh"
	stream           = "work/stream.json"
	truth            = "true.sh"
)

func (p *peers) file(name string) string { return filepath.Join(p.dir, name) }

func (p *peers) review() string { return filepath.Join(p.root, "bench/testdata/review.sh") }

// write makes the files of the rows.
func (p *peers) write() error {
	everything := filepath.Join(p.root, "testdata/npm/node_modules/.bin/mcp-server-everything")
	servers, err := json.Marshal(map[string]any{"mcpServers": map[string]any{"everything": map[string]any{"command": everything, "args": []string{"stdio"}}}})
	if err != nil {
		return err
	}
	review, err := os.ReadFile(p.review())
	if err != nil {
		return err
	}
	value := `{"number":7,"title":"a title of some length","labels":["bug","api"],"author":{"name":"ann"}}` + "\n"
	if err := os.Mkdir(p.file("work"), 0o700); err != nil {
		return err
	}
	for name, text := range map[string]string{
		emptyConfig: "{}", everythingConfig: string(servers), mcporterConfig: string(servers), truth: "true\n",
		longScript: strings.Repeat(string(review), 10_000/strings.Count(string(review), "\n")),
		manyJq:     strings.Repeat("echo '{\"a\":1}' | jq .a\n", 100),
		manyEchoes: "i=0; while ((i++ < 50)); do tools everything echo message=hi; done\n",
		oneEcho:    "tools everything echo message=hi\n",
		stream:     strings.Repeat(value, 50<<20/len(value)),
	} {
		if err := os.WriteFile(p.file(name), []byte(text), 0o600); err != nil {
			return err
		}
	}
	return nil
}

// rows are the comparisons.
func (p *peers) rows() []row {
	tis := func(name string, args ...string) measure {
		return p.process(name, p.tis, append([]string{"run", "-c"}, args...)...)
	}
	lint := func(script string) measure {
		args := []string{"-f", "json"}
		for _, c := range p.catalogs {
			args = append(args, "--catalog", c)
		}
		return p.linter("tis-lint", p.tisLint, append(args, script)...)
	}
	once, hundred := p.preflight(1), p.preflight(100)
	return []row{
		{"pre-flight of 31 lines, against parsing alone", 2, once, p.parse()},
		{"pre-flight of 31 lines, against bashkit's analysis", 0.4, once, p.bashkit()},
		{"pre-flight of 3,100 lines, against a hundred of 31", 1.1, hundred, times(once, 100)},
		{"tis run true, against bash", 3, tis("tis", p.file(emptyConfig), p.file(truth)), p.process("bash", p.bash, p.file(truth))},
		{"tis run true, against bubblewrap and bash", 1, tis("tis", p.file(emptyConfig), p.file(truth)),
			p.process("bwrap", p.bwrap, "--ro-bind", "/", "/", "--unshare-all", "--die-with-parent", p.bash, p.file(truth))},
		{"tis run true, against just-bash", 1, tis("tis", p.file(emptyConfig), p.file(truth)), p.process("just-bash", filepath.Join(p.npm, "just-bash"), "-c", "true")},
		{"100 pipelines with jq, against bash and jq", 0.05, tis("tis", p.file(emptyConfig), p.file(manyJq)), p.process("bash", p.bash, p.file(manyJq))},
		{"jq over 50 MB, against jq", 2, tis("tis", p.file(emptyConfig), p.script("jq -c .author.name < stream.json")), p.process("jq", p.jq, "-c", ".author.name", p.file(stream))},
		{"tis-lint of 31 lines, against shellcheck", 0.5, lint(p.review()), p.linter("shellcheck", p.shellcheck, p.review())},
		{"tis-lint of 10,000 lines, against shellcheck", 1.0 / 30, lint(p.file(longScript)), p.linter("shellcheck", p.shellcheck, p.file(longScript))},
		{"one call of server-everything, against mcporter", 0.5, tis("tis", p.file(everythingConfig), p.file(oneEcho)),
			p.process("mcporter", filepath.Join(p.npm, "mcporter"), "--config", p.file(mcporterConfig), "call", "everything.echo", "message=hi")},
		{"50 calls of server-everything, against one", 1.5, tis("tis", p.file(everythingConfig), p.file(manyEchoes)), tis("tis", p.file(everythingConfig), p.file(oneEcho))},
	}
}

// script is a script file with this text.
func (p *peers) script(text string) string {
	name := p.file("script-" + strconv.Itoa(len(text)) + ".sh")
	if err := os.WriteFile(name, []byte(text+"\n"), 0o600); err != nil {
		panic(err) // the folder was just made
	}
	return name
}

// process times a program from its start to its end.
func (p *peers) process(name, program string, args ...string) measure {
	return measure{name, func(ctx context.Context) (time.Duration, error) {
		return timed(ctx, 0, p.file("work"), program, args...)
	}}
}

// linter times a program that says with exit code 1 that it has found something.
func (p *peers) linter(name, program string, args ...string) measure {
	return measure{name, func(ctx context.Context) (time.Duration, error) {
		return timed(ctx, 1, p.file("work"), program, args...)
	}}
}

func (p *peers) parse() measure {
	text := p.read(p.review())
	return measure{"mvdan/sh", func(context.Context) (time.Duration, error) {
		return each(200, func() error { return parseAlone(text) })
	}}
}

func (p *peers) read(name string) string {
	raw, err := os.ReadFile(name)
	if err != nil {
		panic(err) // prepare has read it
	}
	return string(raw)
}

// preflight is the look before the start at the script times over, with the
// tools of ten servers whose schemas are compiled.
func (p *peers) preflight(n int) measure {
	text := strings.Repeat(p.read(p.review()), n)
	var c *catalog.Catalog
	gate := approvals.NewGate(approvals.NewMemory(), approvals.Config{})
	return measure{"tis", func(ctx context.Context) (time.Duration, error) {
		if c == nil {
			servers, top, err := readCatalogs(p.catalogs)
			if err != nil {
				return 0, err
			}
			c = catalog.New(servers, top, catalog.Options{})
			if _, err := preflight(ctx, c, gate, text); err != nil {
				return 0, err
			}
		}
		return each(max(1, 200/n), func() error {
			_, err := preflight(ctx, c, gate, text)
			return err
		})
	}}
}

// each is the time of one of n runs.
func each(n int, do func() error) (time.Duration, error) {
	from := time.Now()
	for range n {
		if err := do(); err != nil {
			return 0, err
		}
	}
	return time.Since(from) / time.Duration(n), nil
}

func times(m measure, n int) measure {
	return measure{fmt.Sprintf("%d times", n), func(ctx context.Context) (time.Duration, error) {
		d, err := m.once(ctx)
		return time.Duration(n) * d, err
	}}
}

// bashkit asks node how long bashkit takes.
func (p *peers) bashkit() measure {
	return measure{"bashkit", func(ctx context.Context) (time.Duration, error) {
		out, err := output(ctx, filepath.Join(p.root, "bench/peers"), p.node, "bashkit.mjs", p.review())
		if err != nil {
			return 0, err
		}
		ns, err := strconv.Atoi(strings.TrimSpace(out))
		return time.Duration(ns), err
	}}
}

func readCatalogs(names []string) (servers []catalog.Source, top []*catalog.Tool, err error) {
	for _, name := range names {
		f, err := os.Open(name)
		if err != nil {
			return nil, nil, err
		}
		s, t, err := catalog.ParseCatalogFile(f, name)
		f.Close()
		if err != nil {
			return nil, nil, err
		}
		servers, top = append(servers, s...), append(top, t...)
	}
	return servers, top, nil
}

// preflight is all that happens before a script starts.
func preflight(ctx context.Context, c *catalog.Catalog, g *approvals.Gate, text string) ([]approvals.Verdict, error) {
	script, err := analyze.Parse(text, "review")
	if err != nil {
		return nil, err
	}
	var calls []catalog.Call
	for _, v := range script.Visible(c) {
		if v.Call != nil {
			calls = append(calls, *v.Call)
		}
	}
	return g.Preview(ctx, "bench", calls)
}
