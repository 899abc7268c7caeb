package mcpsource_test

import (
	"context"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tools-in-shell/tis/catalog"
	"github.com/tools-in-shell/tis/mcpsource"
)

func TestAServerThatNeverComesUpSaysWhy(t *testing.T) {
	const secret = "s3cr3t-token"
	for _, tc := range []struct {
		name string
		cfg  func(*testing.T) mcpsource.ServerConfig
		want []string
	}{
		{"no such command", func(*testing.T) mcpsource.ServerConfig {
			return mcpsource.ServerConfig{Command: "no-such-program-anywhere"}
		}, []string{`its command "no-such-program-anywhere" was not found`}},
		{"no such file", func(*testing.T) mcpsource.ServerConfig { return mcpsource.ServerConfig{Command: "/no/such/program"} },
			[]string{`its command "/no/such/program" was not found`}},
		{"not executable", func(t *testing.T) mcpsource.ServerConfig {
			f := filepath.Join(t.TempDir(), "server")
			require.NoError(t, os.WriteFile(f, nil, 0o600))
			return mcpsource.ServerConfig{Command: f}
		}, []string{"permission denied"}},
		{"no such folder", func(t *testing.T) mcpsource.ServerConfig {
			cfg := program(t, "plain")
			cfg.Dir = "/no/such/folder"
			return cfg
		}, []string{"its folder /no/such/folder does not exist"}},
		{"exits", func(t *testing.T) mcpsource.ServerConfig { return program(t, "dies", "API_TOKEN", secret) },
			[]string{"it exited with status 3", "its last words: cannot sign in with ***"}},
		{"killed", func(*testing.T) mcpsource.ServerConfig {
			return mcpsource.ServerConfig{Command: "sh", Args: []string{"-c", "kill -9 $$"}}
		}, []string{"it was ended by a signal: killed"}},
		{"exits with 0", func(*testing.T) mcpsource.ServerConfig { return mcpsource.ServerConfig{Command: "true"} },
			[]string{"it exited with status 0"}},
		{"never answers", func(t *testing.T) mcpsource.ServerConfig { return program(t, "silent") },
			[]string{"it did not answer in 500ms"}},
		{"prints garbage and waits", func(t *testing.T) mcpsource.ServerConfig { return program(t, "garbage") },
			[]string{"it did not answer in 500ms", `it printed what is no MCP message: "Usage: server [options]"`}},
		{"prints garbage for ever", func(t *testing.T) mcpsource.ServerConfig {
			cfg := program(t, "flood")
			cfg.StartTimeout = 30 * time.Second
			return cfg
		}, []string{"what it prints on its stdout is no MCP message", "xxxx"}},
		{"prints a line without end", func(t *testing.T) mcpsource.ServerConfig {
			cfg := program(t, "long line")
			cfg.StartTimeout = 30 * time.Second
			return cfg
		}, []string{"over the limit of 64 MiB"}},
		{"refuses the handshake", func(t *testing.T) mcpsource.ServerConfig { return program(t, "refuses", "API_TOKEN", secret) },
			[]string{"it refused the handshake: wrong key ***"}},
		{"answers something strange", func(t *testing.T) mcpsource.ServerConfig { return program(t, "strange answer") }, nil},
		{"never lists its tools", func(t *testing.T) mcpsource.ServerConfig { return program(t, "never lists") },
			[]string{"it did not answer tools/list in"}},
		{"lists no list", func(t *testing.T) mcpsource.ServerConfig { return program(t, "no_list") },
			[]string{"its answer to tools/list has no list of tools"}},
		{"its config is wrong", func(*testing.T) mcpsource.ServerConfig {
			return mcpsource.ServerConfig{Command: "true", Err: "the environment variable X is not set"}
		}, []string{"the environment variable X is not set"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			cfg := tc.cfg(t)
			cfg.Name = "my_server"
			if cfg.StartTimeout != 30*time.Second {
				cfg.StartTimeout = 500 * time.Millisecond
			}
			if cfg.Env != nil && (cfg.Env[serverVar] == "dies" || cfg.Env[serverVar] == "refuses") {
				cfg.StartTimeout = 10 * time.Second
			}
			p := startPool(t, cfg)
			src := source(t, p, "my_server")
			require.NotNil(t, src.Unavailable)
			assert.Equal(t, catalog.Unavailable, src.Unavailable.Code)
			assert.True(t, src.Unavailable.Retryable)
			assert.False(t, src.Loaded)
			for _, want := range append(tc.want, "the server my-server could not be started") {
				assert.Contains(t, src.Unavailable.Message, want)
			}
			assert.NotContains(t, src.Unavailable.Message, secret)
			st := p.Status()[0]
			assert.Equal(t, "failed", st.State)
			assert.ErrorContains(t, st.Err, src.Unavailable.Message)
			assert.NotContains(t, st.Stderr, secret)
		})
	}
}

func TestOneServersFailureIsItsOwn(t *testing.T) {
	good, slow, silent := program(t, "plain"), program(t, "slow"), program(t, "silent")
	slow.Name, silent.Name, silent.StartTimeout = "slow", "silent", 1500*time.Millisecond
	p := newPool(t, good, slow, silent, mcpsource.ServerConfig{Name: "missing", Command: "/no/such/program"})
	quickly(t, 4*time.Second, func() { p.Start(t.Context()) }) // side by side: slow takes 1 s, silent 1.5 s and its end
	assert.Nil(t, source(t, p, "x").Unavailable)
	assert.Nil(t, source(t, p, "slow").Unavailable)
	assert.NotNil(t, source(t, p, "silent").Unavailable)
	assert.NotNil(t, source(t, p, "missing").Unavailable)
	out, err := call(t, p, "echo", `{"a":1}`)
	require.NoError(t, err)
	assert.Equal(t, `{"a":1}`, out.Parts[0].Text)
}

func TestStartGivesUpWithItsContext(t *testing.T) {
	silent := program(t, "silent")
	p := newPool(t, silent)
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	quickly(t, 5*time.Second, func() { p.Start(ctx) })
	assert.Contains(t, source(t, p, "x").Unavailable.Message, "still starting")
	assert.Equal(t, "starting", p.Status()[0].State)
}

func TestABannerOnStdoutIsPassedOver(t *testing.T) {
	p := startPool(t, program(t, "banner"))
	assert.Nil(t, source(t, p, "x").Unavailable)
	assert.Equal(t, "running", p.Status()[0].State)
}

func TestTheEnvironmentIsMinimal(t *testing.T) {
	t.Setenv("TIS_TEST_PRIVATE", "private")
	file := filepath.Join(t.TempDir(), "env")
	cfg := mcpsource.ServerConfig{Name: "x", Command: "sh", Args: []string{"-c", "env > " + file}, Env: map[string]string{"MINE": "yes", "HOME": "/elsewhere"}}
	startPool(t, cfg)
	b, err := os.ReadFile(file)
	require.NoError(t, err)
	env := string(b)
	assert.Contains(t, env, "MINE=yes\n")
	assert.Contains(t, env, "HOME=/elsewhere\n")
	assert.Contains(t, env, "PATH=")
	assert.NotContains(t, env, "TIS_TEST_PRIVATE")
}

func TestTheCommandIsFoundOnTheConfigsPath(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Log("commands are found otherwise there")
		return
	}
	dir := t.TempDir()
	cfg := program(t, "plain")
	require.NoError(t, os.Symlink(cfg.Command, filepath.Join(dir, "my-mcp-server")))
	cfg.Command = "my-mcp-server"
	cfg.Env["PATH"] = "relative:" + dir
	p := startPool(t, cfg)
	assert.Nil(t, source(t, p, "x").Unavailable)
}

func TestOnDemandServersAreLoadedOnce(t *testing.T) {
	cfg := program(t, "plain")
	cfg.OnDemand = true
	p := startPool(t, cfg)
	src := source(t, p, "x")
	assert.Nil(t, src.Unavailable)
	assert.False(t, src.Loaded)
	assert.Equal(t, "not loaded", p.Status()[0].State)
	require.NotNil(t, src.Load)
	assert.NoFileExists(t, cfg.Env["TEST_LOG"], "it is not started before")

	type loaded struct {
		tools []*catalog.Tool
		err   error
	}
	got := make(chan loaded)
	for range 8 {
		go func() {
			tools, err := src.Load(context.Background())
			got <- loaded{tools, err}
		}()
	}
	for range 8 {
		l := <-got
		require.NoError(t, l.err)
		assert.NotEmpty(t, l.tools)
	}
	src = source(t, p, "x")
	assert.True(t, src.Loaded)
	assert.Nil(t, src.Load)
	_, err := call(t, p, "echo", `{}`)
	require.NoError(t, err)
	_, err = p.Raw(t.Context(), "x")
	require.NoError(t, err)
	assert.Equal(t, 1, asked(t, cfg, "tools/list"))
	assert.Equal(t, 1, asked(t, cfg, "initialize"))
}

func TestALoadThatFailsMayBeTriedAgain(t *testing.T) {
	cfg := program(t, "dies once")
	cfg.OnDemand = true
	p := startPool(t, cfg)
	load := source(t, p, "x").Load
	_, err := load(t.Context())
	assert.Equal(t, catalog.Unavailable, failure(t, err).Code)
	assert.Contains(t, err.Error(), "status 4")
	assert.NotNil(t, source(t, p, "x").Load, "it is not taken for loaded")
	tools, err := load(t.Context())
	require.NoError(t, err)
	assert.NotEmpty(t, tools)
	assert.NoError(t, p.Status()[0].Err)
}

func TestStartsThatFailAgainAndAgainAreSpacedOut(t *testing.T) {
	cfg := program(t, "dies")
	cfg.OnDemand = true
	load := source(t, startPool(t, cfg), "x").Load
	var err error
	for range 3 {
		_, err = load(t.Context())
	}
	assert.Equal(t, catalog.Unavailable, failure(t, err).Code)
	assert.Contains(t, err.Error(), "the next try is in")
	assert.True(t, failure(t, err).Retryable)
}

func TestALoadEndsWithItsContext(t *testing.T) {
	cfg := program(t, "silent")
	cfg.OnDemand = true
	load := source(t, startPool(t, cfg), "x").Load
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	quickly(t, 2*time.Second, func() {
		_, err := load(ctx)
		assert.Equal(t, catalog.Unavailable, failure(t, err).Code)
	})
}

func TestAServerThatEndsAtOtherRequestsBeforeTheHandshakeWorks(t *testing.T) {
	cfg := program(t, "plain") // it ends at server/discover
	startPool(t, cfg)
	first, _, _ := strings.Cut(received(t, cfg), "\n")
	assert.Contains(t, first, `"method":"initialize"`)
	for _, capability := range []string{"sampling", "elicitation", "roots"} {
		assert.NotContains(t, first, capability)
	}
}
