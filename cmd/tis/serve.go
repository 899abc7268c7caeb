package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"strings"
	"time"

	"github.com/tools-in-shell/tis/catalog"
	"github.com/tools-in-shell/tis/mcpsource"
	"github.com/tools-in-shell/tis/runner"
	"github.com/tools-in-shell/tis/serve"
	"github.com/tools-in-shell/tis/telemetry"
)

// serveCommand is `tis serve`.
type serveCommand struct {
	configFlag
	Session string `placeholder:"NAME" help:"Session whose answers count; default one of its own for each client."`
	Store   string `placeholder:"DSN" help:"Approvals store, sqlite:PATH."`

	HTTP        string        `name:"http" placeholder:"ADDR" help:"Serve streamable HTTP at ADDR (127.0.0.1:8383) and not stdio."`
	TokenFile   string        `name:"http-token-file" placeholder:"FILE" help:"File with the bearer token; else the environment's TIS_HTTP_TOKEN."`
	AllowHost   []string      `placeholder:"NAME" help:"Host name under which the server may be reached; repeatable."`
	AllowOrigin []string      `placeholder:"ORIGIN" help:"Web origin whose pages may connect; repeatable."`
	Idle        time.Duration `placeholder:"DUR" help:"End an HTTP session that is idle for so long; default 30m."`

	Dir     string `placeholder:"DIR" help:"Make the sessions' working directories below DIR; default the temp folder."`
	InRoots bool   `help:"Make a session's working directory below the client's first root."`
	MaxDir  int64  `placeholder:"BYTES" help:"How much a working directory may hold; default 256 MiB."`

	LogLevel string `enum:"debug,info,warn,error" default:"warn" help:"What is logged on stderr: debug, info, warn or error."`
}

func (c *serveCommand) Run(ctx context.Context, p *program) error {
	token, err := c.token(p)
	if err != nil {
		return err
	}
	// A client waits for its answer to initialize. What is not there by then is
	// told to it as soon as it is.
	starting, started := context.WithTimeout(ctx, startPatience)
	t, err := p.openTools(starting, c.Config)
	started()
	if err != nil {
		return err
	}
	defer t.Close()
	if err := checkSandbox(t.cfg.Sandbox); err != nil {
		return err
	}
	gate, store, err := p.openGate(ctx, t.cfg, c.Store)
	if err != nil {
		return err
	}
	defer store.Close()
	log := c.logger(p.stderr, redactor(t, token))
	observer, err := telemetry.Start(ctx, p.getenv, version())
	if err != nil {
		return usageError{err}
	}
	options := serve.Options{
		Version: version(), Tools: t.offer, Definition: t.definition, Gate: gate, Session: c.Session, Runner: serveRunner(t, p.protected("", c.Store)), Logger: log,
		Folders: serve.Folders{Dir: c.Dir, InRoots: c.InRoots, MaxBytes: c.MaxDir},
	}
	if observer != nil {
		options.Observer = observer
		defer observer.Close()
	}
	server, err := serve.New(options)
	if err != nil {
		return usageError{err}
	}
	defer server.Close()
	if c.HTTP == "" {
		if onTerminal(p.stdin) {
			fmt.Fprintln(p.stderr, "tis: speaking MCP on stdin and stdout; an MCP host starts this (docs/serve.md)")
		}
		return server.Stdio(ctx, p.stdin, p.stdout)
	}
	ln, err := net.Listen("tcp", c.HTTP)
	if err != nil {
		return usagef("--http %s: %w", c.HTTP, err)
	}
	fmt.Fprintf(p.stderr, "tis: serving http://%s\n", ln.Addr())
	err = server.HTTP(ctx, ln, serve.HTTPOptions{Token: token, Hosts: c.AllowHost, Origins: c.AllowOrigin, Idle: c.Idle})
	if err != nil {
		return usagef("--http %s: %w", c.HTTP, err)
	}
	return nil
}

// startPatience is how long the servers may take before clients are served
// without them.
const startPatience = 5 * time.Second

// serveRunner is what each script's runner begins with: its limits, and how it
// is confined.
func serveRunner(t *tools, storeFiles []string) runner.Options {
	l := t.cfg.Limits
	return runner.Options{
		Private: t.private, Protected: append(t.protected, storeFiles...), Utilities: true, Timeout: time.Duration(l.TimeoutSeconds) * time.Second,
		MaxCalls: l.Calls, MaxOutput: l.OutputBytes, MaxResult: l.ResultBytes, MaxMemory: 2 << 30,
	}
}

// token is the bearer token of the file or the environment; empty without one.
func (c *serveCommand) token(p *program) (string, error) {
	if c.TokenFile == "" {
		token, _ := p.getenv("TIS_HTTP_TOKEN")
		return strings.TrimSpace(token), nil
	}
	f, err := os.Open(c.TokenFile)
	if err != nil {
		return "", usagef("token file %s: %w", c.TokenFile, reason(err))
	}
	defer f.Close()
	if fi, err := f.Stat(); err == nil && exposed(fi) {
		return "", usagef("token file %s: others can read it; chmod 600 it", c.TokenFile)
	}
	b, err := io.ReadAll(io.LimitReader(f, 4096))
	if err != nil {
		return "", usagef("token file %s: %w", c.TokenFile, reason(err))
	}
	token := strings.TrimSpace(string(b))
	if token == "" {
		return "", usagef("token file %s: it is empty", c.TokenFile)
	}
	return token, nil
}

// logger writes lines of JSON without secrets.
func (c *serveCommand) logger(w io.Writer, redact func(string) string) *slog.Logger {
	var level slog.Level
	if err := level.UnmarshalText([]byte(c.LogLevel)); err != nil { // kong has checked it
		panic(err)
	}
	return slog.New(slog.NewJSONHandler(redacting{w, redact}, &slog.HandlerOptions{Level: level}))
}

// redacting takes secrets out of whole lines.
type redacting struct {
	w      io.Writer
	redact func(string) string
}

func (r redacting) Write(p []byte) (int, error) {
	if _, err := io.WriteString(r.w, r.redact(string(p))); err != nil {
		return 0, err
	}
	return len(p), nil
}

// redactor takes what the config keeps secret, and the token, out of a line of
// JSON.
func redactor(t *tools, token string) func(string) string {
	var servers []mcpsource.ServerConfig
	for _, s := range t.cfg.Servers {
		servers = append(servers, serverConfig(s))
	}
	return mcpsource.Redactor(servers, token)
}

// offer is what there is to call now.
func (t *tools) offer(context.Context) serve.Tools {
	out := serve.Tools{Sources: t.pool.Sources(), Top: t.top, KeepVisible: t.cfg.KeepVisible}
	for _, s := range t.cfg.Servers {
		if s.OnDemand {
			out.OnDemand = append(out.OnDemand, s.Name)
		}
	}
	return out
}

// definition is a tool as its server listed it.
func (t *tools) definition(ctx context.Context, tool *catalog.Tool) json.RawMessage {
	if tool.Server == "" {
		return nil
	}
	raw, err := t.pool.Raw(ctx, tool.Server)
	if err != nil {
		return nil
	}
	for _, r := range raw {
		var named struct {
			Name string `json:"name"`
		}
		if json.Unmarshal(r, &named) == nil && named.Name == tool.Name {
			return r
		}
	}
	return nil
}
