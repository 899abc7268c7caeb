package mcpsource

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/tools-in-shell/tis/catalog"
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
	Headers     map[string]string
	OnDemand    bool // started when it is first needed
	Description string
	// Err is why the config of this server cannot be used; empty when it can.
	Err          string
	StartTimeout time.Duration // default 30 seconds
	CallTimeout  time.Duration // default 60 seconds
}

// Options of a Pool.
type Options struct {
	// Version names this program to servers.
	Version string
	// Getenv reads the environment that programs start in; default os.LookupEnv.
	Getenv func(string) (string, bool)
}

// Pool holds the servers of one config. It is safe for concurrent use.
type Pool struct {
	servers []*server
}

// NewPool makes a pool; nothing is started.
func NewPool(servers []ServerConfig, opts Options) *Pool {
	p := &Pool{}
	for _, cfg := range servers {
		if cfg.StartTimeout == 0 {
			cfg.StartTimeout = 30 * time.Second
		}
		if cfg.CallTimeout == 0 {
			cfg.CallTimeout = time.Minute
		}
		p.servers = append(p.servers, newServer(cfg, opts))
	}
	return p
}

// Start starts every server that is not loaded on demand, side by side, and
// waits until each has listed its tools or failed. One server's failure is its
// own: it stands in Sources.
func (p *Pool) Start(ctx context.Context) {
	var wg sync.WaitGroup
	for _, s := range p.servers {
		if !s.cfg.OnDemand {
			wg.Go(func() { s.list(ctx) })
		}
	}
	wg.Wait()
}

// Sources are the servers as they are now. A server that said its tools have
// changed is asked again first.
func (p *Pool) Sources() []catalog.Source {
	var wg sync.WaitGroup
	out := make([]catalog.Source, len(p.servers))
	for i, s := range p.servers {
		if s.stale.Swap(false) {
			wg.Go(func() {
				ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
				defer cancel()
				s.refresh(ctx)
				out[i] = s.source()
			})
			continue
		}
		out[i] = s.source()
	}
	wg.Wait()
	return out
}

// Close ends every server and waits for it.
func (p *Pool) Close() error {
	var wg sync.WaitGroup
	errs := make([]error, len(p.servers))
	for i, s := range p.servers {
		wg.Go(func() { errs[i] = s.close() })
	}
	wg.Wait()
	return errors.Join(errs...)
}

// Status of one server, for people.
type Status struct {
	Name   string
	State  string // "running", "not loaded" or "failed"
	Err    error
	Tools  int
	Stderr string // the last of what it wrote there
}

// Status lists the servers' states.
func (p *Pool) Status() []Status {
	var out []Status
	for _, s := range p.servers {
		out = append(out, s.status())
	}
	return out
}

// Raw is a server's tools as it sent them. The server is started when it is
// loaded on demand and not running.
func (p *Pool) Raw(ctx context.Context, name string) ([]json.RawMessage, error) {
	for _, s := range p.servers {
		if s.cfg.Name == name {
			if _, err := s.list(ctx); err != nil {
				return nil, err
			}
			s.mu.Lock()
			defer s.mu.Unlock()
			return s.raw, nil
		}
	}
	return nil, fmt.Errorf("no such server: %s", name)
}
