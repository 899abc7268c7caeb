// Package telemetry sends traces and metrics of `tis serve` to an OpenTelemetry
// collector, named as the semantic conventions for generative AI and MCP have
// it: a span for each script, with an execute_tool span for each call below it.
//
// It is off unless the usual OTEL_ variables switch it on. No script, input or
// result leaves the machine by it: only names, codes, counts and times. The
// dependency is heavy, so nothing but the program imports this package. Start
// reading at Start.
package telemetry

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/exporters/otlp/otlpmetric/otlpmetrichttp"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/propagation"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"

	"github.com/tools-in-shell/tis/catalog"
	"github.com/tools-in-shell/tis/report"
	"github.com/tools-in-shell/tis/serve"
)

// Telemetry observes a server. It is safe for concurrent use.
type Telemetry struct {
	tracer  trace.Tracer
	scripts metric.Float64Histogram
	calls   metric.Float64Histogram
	stops   metric.Int64Counter
	stop    []func(context.Context) error
}

var _ serve.Observer = (*Telemetry)(nil)

// Start begins to send when the environment says so: when it names an OTLP
// endpoint or asks for the exporter otlp, and OTEL_SDK_DISABLED is not true. It
// is nil when nothing is to be sent. The exporters read further OTEL_ variables
// of the process themselves.
func Start(ctx context.Context, getenv func(string) (string, bool), version string) (*Telemetry, error) {
	traces, err := wanted(getenv, "TRACES")
	if err != nil {
		return nil, err
	}
	metrics, err := wanted(getenv, "METRICS")
	if err != nil || !traces && !metrics {
		return nil, err
	}
	res, err := resource.New(ctx, resource.WithTelemetrySDK(),
		resource.WithAttributes(attribute.String("service.name", "tis"), attribute.String("service.version", version)), resource.WithFromEnv())
	if err != nil {
		return nil, fmt.Errorf("OpenTelemetry: the resource of the environment: %w", err)
	}
	t := &Telemetry{}
	spans := []sdktrace.TracerProviderOption{sdktrace.WithResource(res)}
	if traces {
		exporter, err := otlptracehttp.New(ctx)
		if err != nil {
			return nil, fmt.Errorf("OpenTelemetry traces: %w", err)
		}
		spans = append(spans, sdktrace.WithBatcher(exporter))
	}
	tracers := sdktrace.NewTracerProvider(spans...)
	t.stop = append(t.stop, tracers.Shutdown)
	readers := []sdkmetric.Option{sdkmetric.WithResource(res)}
	if metrics {
		exporter, err := otlpmetrichttp.New(ctx)
		if err != nil {
			return nil, errors.Join(fmt.Errorf("OpenTelemetry metrics: %w", err), t.Close())
		}
		readers = append(readers, sdkmetric.WithReader(sdkmetric.NewPeriodicReader(exporter)))
	}
	meters := sdkmetric.NewMeterProvider(readers...)
	t.stop = append(t.stop, meters.Shutdown)
	t.tracer = tracers.Tracer("github.com/tools-in-shell/tis", trace.WithInstrumentationVersion(version))
	return t, t.instruments(meters.Meter("github.com/tools-in-shell/tis", metric.WithInstrumentationVersion(version)))
}

// instruments makes the instruments, with the conventions' buckets.
func (t *Telemetry) instruments(m metric.Meter) error {
	buckets := metric.WithExplicitBucketBoundaries(0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60, 120, 300)
	var errs [3]error
	t.scripts, errs[0] = m.Float64Histogram("mcp.server.operation.duration", metric.WithUnit("s"), metric.WithDescription("How long tools/call took, questions left out."), buckets)
	t.calls, errs[1] = m.Float64Histogram("mcp.client.operation.duration", metric.WithUnit("s"), metric.WithDescription("How long the calls behind tools took."), buckets)
	t.stops, errs[2] = m.Int64Counter("tis.script.stops", metric.WithUnit("{script}"), metric.WithDescription("Scripts that were held or stopped, by reason."))
	return errors.Join(errs[:]...)
}

// wanted reports whether a signal is to be sent.
func wanted(getenv func(string) (string, bool), signal string) (bool, error) {
	value := func(name string) string {
		v, _ := getenv(name)
		return strings.TrimSpace(v)
	}
	if strings.EqualFold(value("OTEL_SDK_DISABLED"), "true") {
		return false, nil
	}
	endpoint := value("OTEL_EXPORTER_OTLP_ENDPOINT") != "" || value("OTEL_EXPORTER_OTLP_"+signal+"_ENDPOINT") != ""
	switch exporter := value("OTEL_" + signal + "_EXPORTER"); exporter {
	case "":
		if !endpoint {
			return false, nil
		}
	case "otlp":
	case "none":
		return false, nil
	default:
		return false, fmt.Errorf("OTEL_%s_EXPORTER is %q; want otlp or none", signal, exporter)
	}
	for _, name := range []string{"OTEL_EXPORTER_OTLP_" + signal + "_PROTOCOL", "OTEL_EXPORTER_OTLP_PROTOCOL"} {
		switch p := value(name); p {
		case "":
			continue
		case "http/protobuf":
			return true, nil
		default:
			return false, fmt.Errorf("%s is %q; tis speaks http/protobuf", name, p)
		}
	}
	return true, nil
}

// flushTime is how long the last of what was observed may take to be sent.
const flushTime = 5 * time.Second

// Close sends what has not been sent.
func (t *Telemetry) Close() error {
	ctx, cancel := context.WithTimeout(context.Background(), flushTime)
	defer cancel()
	var errs []error
	for _, stop := range t.stop {
		errs = append(errs, stop(ctx))
	}
	return errors.Join(errs...)
}

// Script begins the span of a script, below the client's own span when the call
// names one. A direct call has the span of its call alone.
func (t *Telemetry) Script(ctx context.Context, run serve.Run) (context.Context, func(report.Result, error)) {
	carrier := propagation.MapCarrier{}
	for _, key := range []string{"traceparent", "tracestate"} {
		if s, ok := run.Meta[key].(string); ok {
			carrier[key] = s
		}
	}
	ctx = propagation.TraceContext{}.Extract(ctx, carrier)
	began := time.Now()
	own := []attribute.KeyValue{attribute.String("mcp.method.name", "tools/call"), operation, attribute.String("gen_ai.tool.name", run.Tool)}
	span := trace.SpanFromContext(context.Background()) // none
	if !run.Direct {
		ctx, span = t.tracer.Start(ctx, "execute_tool "+run.Tool, trace.WithSpanKind(trace.SpanKindServer),
			trace.WithAttributes(append(own, attribute.String("gen_ai.tool.type", "extension"), attribute.String("gen_ai.conversation.id", run.Session))...))
	}
	return ctx, func(r report.Result, err error) {
		kind := kindOf(r, err)
		if t := r.Tools; t != nil {
			span.SetAttributes(attribute.Int("tis.calls.changing", len(t.Done)), attribute.Int("tis.calls.read_only", t.ReadOnlyCalls))
		}
		if r.Tools != nil && r.Tools.Stopped != nil {
			s := r.Tools.Stopped
			span.SetAttributes(attribute.String("tis.stop.reason", string(s.Reason)), attribute.Bool("tis.stop.before_start", s.BeforeStart))
			t.stops.Add(ctx, 1, metric.WithAttributes(attribute.String("tis.stop.reason", string(s.Reason)), attribute.Bool("tis.stop.before_start", s.BeforeStart)))
		}
		span.SetAttributes(attribute.Int("process.exit.code", r.ExitCode))
		finish(span, kind)
		t.scripts.Record(ctx, time.Since(began).Seconds(), metric.WithAttributes(withKind(own, kind)...))
	}
}

var operation = attribute.String("gen_ai.operation.name", "execute_tool")

// Call begins the span of a call.
func (t *Telemetry) Call(ctx context.Context, call catalog.Call) func(error) {
	began := time.Now()
	own := []attribute.KeyValue{attribute.String("mcp.method.name", "tools/call"), operation, attribute.String("gen_ai.tool.name", call.Tool.RegistryName())}
	_, span := t.tracer.Start(ctx, "execute_tool "+call.Tool.RegistryName(), trace.WithSpanKind(trace.SpanKindClient),
		trace.WithAttributes(append(own, attribute.String("gen_ai.tool.type", "extension"))...))
	return func(err error) {
		kind := ""
		var ce *catalog.Error
		switch {
		case err == nil:
		case errors.As(err, &ce):
			kind = string(ce.Code)
		case errors.Is(err, serve.ErrNotMade):
			kind = "not_made"
		default:
			kind = "_OTHER"
		}
		finish(span, kind)
		if kind != "not_made" {
			t.calls.Record(ctx, time.Since(began).Seconds(), metric.WithAttributes(withKind(own, kind)...))
		}
	}
}

// kindOf is the error.type of a script; empty for one that succeeded.
func kindOf(r report.Result, err error) string {
	switch {
	case err != nil:
		var ce *catalog.Error
		if errors.As(err, &ce) {
			return string(ce.Code)
		}
		return "_OTHER"
	case r.Tools != nil && r.Tools.Stopped != nil:
		return string(r.Tools.Stopped.Reason)
	case !r.Success:
		return fmt.Sprintf("exit_%d", r.ExitCode)
	}
	return ""
}

func finish(span trace.Span, kind string) {
	if kind != "" {
		span.SetAttributes(attribute.String("error.type", kind))
		span.SetStatus(codes.Error, kind)
	}
	span.End()
}

func withKind(own []attribute.KeyValue, kind string) []attribute.KeyValue {
	if kind == "" {
		return own
	}
	return append(own[:len(own):len(own)], attribute.String("error.type", kind))
}
