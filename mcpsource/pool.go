package mcpsource

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/tools-in-shell/tis/catalog"
	"github.com/tools-in-shell/tis/signin"
)

// ServerConfig is one server: a program that speaks on its stdin and stdout, or
// a URL of the streamable HTTP transport.
type ServerConfig struct {
	Name        string
	Command     string
	Args        []string
	Env         map[string]string // added to a minimal environment
	Dir         string
	URL         string
	Headers     map[string]string // sent to the URL's own host only
	OAuth       signin.Client     // how to sign in; the zero value registers a client
	Roots       []string          // folders that the server may ask for; nil refuses to tell
	OnDemand    bool              // started when it is first needed
	Description string
	// Err is why the config of this server cannot be used; empty when it can.
	Err          string
	StartTimeout time.Duration // for the start and the list of tools; default 30 seconds
	CallTimeout  time.Duration // default 60 seconds
}

// Options of a Pool.
type Options struct {
	// Version names this program to servers.
	Version string
	// Getenv reads the environment that programs start in; default os.LookupEnv.
	Getenv func(string) (string, bool)
	// SignIns hold the tokens of servers that a person has signed in to; nil:
	// there are none.
	SignIns *signin.Store
}

// Pool holds the servers of one config. It is safe for concurrent use. What it
// starts lives until Close.
type Pool struct {
	servers []*server
	end     context.CancelCauseFunc
}

// NewPool makes a pool; nothing is started.
func NewPool(servers []ServerConfig, opts Options) *Pool {
	life, end := context.WithCancelCause(context.Background())
	p := &Pool{end: end}
	for _, cfg := range servers {
		if cfg.StartTimeout <= 0 {
			cfg.StartTimeout = 30 * time.Second
		}
		if cfg.CallTimeout <= 0 {
			cfg.CallTimeout = time.Minute
		}
		p.servers = append(p.servers, newServer(life, cfg, opts))
	}
	return p
}

// Start starts every server that is not loaded on demand, side by side, and
// waits until each has listed its tools or failed, or ctx is done. One server's
// failure is its own: it stands in Sources.
func (p *Pool) Start(ctx context.Context) {
	var wg sync.WaitGroup
	for _, s := range p.servers {
		if !s.cfg.OnDemand {
			wg.Go(func() { s.load(ctx) })
		}
	}
	wg.Wait()
}

// refreshWait is how long Sources waits for servers whose tools have changed.
const refreshWait = 3 * time.Second

// Sources are the servers as they are now. A server that said that its tools
// have changed is asked again, and one that failed to start is tried again from
// time to time; what is not there soon shows in a later call.
func (p *Pool) Sources() []catalog.Source {
	var pending []*flight
	for _, s := range p.servers {
		if f := s.refresh(); f != nil {
			pending = append(pending, f)
		}
	}
	if len(pending) > 0 {
		ctx, cancel := context.WithTimeout(context.Background(), refreshWait)
		defer cancel()
		for _, f := range pending {
			f.wait(ctx)
		}
	}
	out := make([]catalog.Source, len(p.servers))
	for i, s := range p.servers {
		out[i] = s.source()
	}
	return out
}

var errEnding = errors.New("tis is ending")

// Close ends calls at work and every server, and waits for them.
func (p *Pool) Close() error {
	p.end(errEnding)
	var wg sync.WaitGroup
	for _, s := range p.servers {
		wg.Go(s.close)
	}
	wg.Wait()
	return nil
}

// Status of one server, for people.
type Status struct {
	Name string
	// State is "running", "starting", "not loaded", "stopped" (it was there and
	// will be started again when needed) or "failed".
	State  string
	Err    error // why it failed
	Tools  int
	Stderr string // the last of what it wrote there, without secrets
}

// Status lists the servers' states.
func (p *Pool) Status() []Status {
	var out []Status
	for _, s := range p.servers {
		out = append(out, s.status())
	}
	return out
}

// Raw is a server's tools as it sent them. A server that has not listed them
// yet is started.
func (p *Pool) Raw(ctx context.Context, name string) ([]json.RawMessage, error) {
	for _, s := range p.servers {
		if s.cfg.Name == name {
			if _, err := s.load(ctx); err != nil {
				return nil, err
			}
			s.mu.Lock()
			defer s.mu.Unlock()
			return s.list.raw, nil
		}
	}
	return nil, fmt.Errorf("no such server: %s", name)
}
