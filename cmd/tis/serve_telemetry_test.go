package main

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"
	metrics "go.opentelemetry.io/proto/otlp/collector/metrics/v1"
	traces "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	spans "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"

	"github.com/tools-in-shell/tis/config"
)

// collector is an OTLP collector.
type collector struct {
	*httptest.Server
	mu      sync.Mutex
	spans   []*spans.Span
	metrics map[string]bool
	raw     bytes.Buffer
}

func newCollector(t *testing.T) *collector {
	c := &collector{metrics: map[string]bool{}}
	c.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		c.mu.Lock()
		defer c.mu.Unlock()
		c.raw.Write(body)
		switch r.URL.Path {
		case "/v1/traces":
			var in traces.ExportTraceServiceRequest
			if proto.Unmarshal(body, &in) != nil {
				w.WriteHeader(http.StatusBadRequest)
				return
			}
			for _, rs := range in.ResourceSpans {
				for _, ss := range rs.ScopeSpans {
					c.spans = append(c.spans, ss.Spans...)
				}
			}
		case "/v1/metrics":
			var in metrics.ExportMetricsServiceRequest
			if proto.Unmarshal(body, &in) != nil {
				w.WriteHeader(http.StatusBadRequest)
				return
			}
			for _, rm := range in.ResourceMetrics {
				for _, sm := range rm.ScopeMetrics {
					for _, m := range sm.Metrics {
						c.metrics[m.Name] = true
					}
				}
			}
		}
	}))
	t.Cleanup(c.Close)
	return c
}

func attribute(s *spans.Span, key string) string {
	for _, a := range s.Attributes {
		if a.Key == key {
			return a.Value.GetStringValue()
		}
	}
	return ""
}

func TestServeSendsSpansAndMetricsWhenTheEnvironmentSaysSo(t *testing.T) {
	t.Parallel()
	c := newCollector(t)
	p := newPlace(t)
	p.keep("tracker list_branches")
	p.env = []string{"OTEL_EXPORTER_OTLP_ENDPOINT=" + c.URL}
	h := p.connect("2025-11-25", nil)
	parent := "0af7651916cd43dd8448eb211c80319c"
	params := &mcp.CallToolParams{Meta: mcp.Meta{"traceparent": "00-" + parent + "-b7ad6b7169203331-01"}, Name: "bash",
		Arguments: map[string]any{"commands": "echo hush-hush; tools tracker get-issue number=9; tools tracker create-comment number=9 body=hush-hush; tools tracker get-issue number=99; x=delete-branch; tools tracker $x branch=main"}}
	_, err := h.session.CallTool(context.Background(), params)
	require.NoError(t, err)
	_, err = h.session.CallTool(context.Background(), &mcp.CallToolParams{Name: "mcp_tracker__list_branches"})
	require.NoError(t, err)
	require.NoError(t, h.session.Close()) // what is left is sent at the end

	c.mu.Lock()
	defer c.mu.Unlock()
	require.NotContains(t, c.raw.String(), "hush-hush", "no script, input or result is sent")
	byName := map[string][]*spans.Span{}
	for _, s := range c.spans {
		require.Equal(t, "execute_tool", attribute(s, "gen_ai.operation.name"))
		byName[s.Name] = append(byName[s.Name], s)
	}
	require.Len(t, byName["execute_tool bash"], 1)
	script := byName["execute_tool bash"][0]
	require.Equal(t, parent, hex.EncodeToString(script.TraceId))
	require.Equal(t, "needs_approval", attribute(script, "error.type"))
	errs := []string{}
	for _, name := range []string{"get_issue", "create_comment", "delete_branch"} {
		for _, s := range byName["execute_tool mcp_tracker__"+name] {
			require.Equal(t, script.SpanId, s.ParentSpanId)
			require.Equal(t, "mcp_tracker__"+name, attribute(s, "gen_ai.tool.name"))
			errs = append(errs, name+" "+attribute(s, "error.type"))
		}
	}
	require.Equal(t, []string{"get_issue ", "get_issue tool_error", "create_comment ", "delete_branch not_made"}, errs)
	direct := byName["execute_tool mcp_tracker__list_branches"]
	require.Len(t, direct, 1)
	require.Empty(t, direct[0].ParentSpanId)
	for _, name := range []string{"mcp.server.operation.duration", "mcp.client.operation.duration", "tis.script.stops"} {
		require.True(t, c.metrics[name], name)
	}
}

func TestServeSendsNothingUnlessTheEnvironmentSaysSo(t *testing.T) {
	t.Parallel()
	c := newCollector(t)
	for _, env := range [][]string{nil, {"OTEL_EXPORTER_OTLP_ENDPOINT=" + c.URL, "OTEL_SDK_DISABLED=true"}, {"OTEL_EXPORTER_OTLP_ENDPOINT=" + c.URL, "OTEL_TRACES_EXPORTER=none", "OTEL_METRICS_EXPORTER=none"}} {
		p := newPlace(t)
		p.env = env
		h := p.connect("2025-11-25", nil)
		h.bash("tools tracker list-branches")
		require.NoError(t, h.session.Close())
	}
	require.Zero(t, c.raw.Len())
	p := newPlace(t)
	p.env = []string{"OTEL_TRACES_EXPORTER=zipkin"}
	out, err := p.serve().CombinedOutput()
	require.Error(t, err)
	require.Contains(t, string(out), "want otlp or none")
}

func TestServeLogsHoldNoSecrets(t *testing.T) {
	secret := `s3cr"et\value`
	cfg := &config.Config{Servers: []config.Server{{Name: "x", Env: map[string]string{"API_KEY": secret}, Headers: map[string]string{"Authorization": "Bearer tokentoken"}}}}
	var out bytes.Buffer
	c := serveCommand{LogLevel: "debug"}
	log := c.logger(&out, redactor(&tools{cfg: cfg}, token))
	log.Debug("it said "+secret, "error", errors.New("with "+secret), "header", "Bearer tokentoken", "token", token)
	for _, s := range []string{secret, `s3cr\"et\\value`, "tokentoken", token} {
		require.NotContains(t, out.String(), s)
	}
	require.Equal(t, 4, strings.Count(out.String(), "***"))
}

// The log names what happened, and neither scripts nor inputs.
func TestServeLogsWhatHappens(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.args = []string{"--log-level", "info"}
	cmd := p.serve()
	log, err := os.Create(p.file("log"))
	require.NoError(t, err)
	defer log.Close()
	cmd.Stderr = log
	h := p.attach(&mcp.CommandTransport{Command: cmd}, "2025-11-25", decides("allow"))
	h.bash("echo hush-hush; " + deleteTypo)
	require.NoError(t, h.session.Close())
	b, err := os.ReadFile(p.file("log"))
	require.NoError(t, err)
	for _, s := range []string{`"msg":"session begins"`, `"msg":"answered"`, `"decision":"allow"`, `"msg":"run"`, `"stopped":"needs_approval"`, `"msg":"session ends"`} {
		require.Contains(t, string(b), s)
	}
	require.NotContains(t, string(b), "hush-hush")
	require.NotContains(t, string(b), "fix-typo")
}
