package intercept

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/tools-in-shell/tis/catalog"
)

// callNumbers makes a number for each call of this process.
var callNumbers atomic.Uint64

type callNumber struct{}

func numbered(ctx context.Context) context.Context {
	return context.WithValue(ctx, callNumber{}, callNumbers.Add(1))
}

// Number tells the calls of this process apart: a Before and an After hook of
// one call see the same number in their contexts. It is 0 outside of a hook.
func Number(ctx context.Context) uint64 {
	n, _ := ctx.Value(callNumber{}).(uint64)
	return n
}

// before runs the guardrails. Whatever goes wrong in one refuses the call.
func (i *Interceptor) before(ctx context.Context, call catalog.Call) (catalog.Call, *catalog.Error) {
	ctx, cancel := i.whileOpen(ctx)
	defer cancel()
	for _, hook := range i.Before {
		// The hook gets a copy: what it does to the bytes in place must not slip
		// past the check below.
		given := catalog.Call{Tool: call.Tool, Input: bytes.Clone(call.Input)}
		next, err := i.hook(ctx, func(ctx context.Context) (any, error) { return hook(ctx, given) })
		if err != nil {
			return call, refused(call, err)
		}
		got := next.(catalog.Call)
		if got.Tool != call.Tool {
			return call, catalog.Errorf(catalog.Denied, "%s was refused: a hook changed the tool", call.Tool.Command())
		}
		if bytes.Equal(got.Input, call.Input) {
			continue
		}
		// What the gate judges is what the tool gets: of a key given twice the last.
		input, err := catalog.Object(got.Input)
		if err != nil {
			return call, catalog.Errorf(catalog.InvalidInput, "%s was not called: a hook changed its input to what is no JSON object: %v", call.Tool.Command(), err)
		}
		call.Input = input
		if err := call.Tool.Check(call.Input); err != nil {
			return call, err
		}
	}
	return call, nil
}

// whileOpen is a context that ends with ctx, unless the call may start even so.
func (i *Interceptor) whileOpen(ctx context.Context) (context.Context, context.CancelFunc) {
	open, cancel := context.WithCancel(context.WithoutCancel(ctx))
	forget := context.AfterFunc(ctx, func() {
		if i.ended(ctx) {
			cancel()
		}
	})
	return open, func() { forget(); cancel() }
}

// refused is the error of a call that a hook kept from being made.
func refused(call catalog.Call, err error) *catalog.Error {
	var p panicked
	if errors.As(err, &p) {
		return catalog.Errorf(catalog.ToolError, "%s was not called: a hook %v", call.Tool.Command(), p)
	}
	var ce *catalog.Error
	if errors.As(err, &ce) && ce != nil && ce.Code == catalog.Denied {
		return ce
	}
	return catalog.Errorf(catalog.Denied, "%s was refused: %v", call.Tool.Command(), err)
}

// after runs the hooks that see the result. The call has happened, so they run
// even when the run has ended meanwhile, and one that fails hides the result.
func (i *Interceptor) after(ctx context.Context, call catalog.Call, out catalog.Output, fault *catalog.Error) (catalog.Output, *catalog.Error) {
	ctx = context.WithoutCancel(ctx)
	for _, hook := range i.After {
		given, seen := out, error(nil)
		if fault != nil {
			seen = fault
		}
		next, err := i.hook(ctx, func(ctx context.Context) (any, error) { return hook(ctx, call, given, seen) })
		if err != nil {
			out, fault = catalog.Output{}, withheld(call, fault, err)
			continue
		}
		out, fault = next.(catalog.Output), nil
	}
	return out, fault
}

// withheld is a call's error after a hook returned err: what the hook says of a
// failed call, or that it withheld the result.
func withheld(call catalog.Call, fault *catalog.Error, err error) *catalog.Error {
	var p panicked
	if errors.As(err, &p) {
		return catalog.Errorf(catalog.ToolError, "%s ran, and a hook after it %v", call.Tool.Command(), p)
	}
	if ce, ok := err.(*catalog.Error); ok && ce != nil {
		return ce
	}
	if fault != nil { // in the hook's words alone: it may have redacted them
		return &catalog.Error{Code: fault.Code, Retryable: fault.Retryable, Message: err.Error()}
	}
	return catalog.Errorf(catalog.Denied, "%s ran, and a hook withheld its result: %v", call.Tool.Command(), err)
}

// hook runs one hook within its time-out.
func (i *Interceptor) hook(ctx context.Context, run func(context.Context) (any, error)) (any, error) {
	ctx, cancel := context.WithTimeout(ctx, i.HookTimeout)
	defer cancel()
	v, err := guard(ctx, 0, run)
	if p, ok := err.(panicked); ok {
		return nil, fmt.Errorf("a hook %w", p)
	}
	if err != nil && ctx.Err() != nil && errors.Is(err, ctx.Err()) {
		return nil, fmt.Errorf("a hook did not answer: %w", err)
	}
	return v, err
}

// panicked is a panic as an error.
type panicked struct{ value any }

func (p panicked) Error() string { return fmt.Sprintf("failed inside: %v", p.value) }

// guard runs code of the host or of a tool. A panic is an error, and code that
// goes on for longer than leave after ctx is done is left behind.
func guard[T any](ctx context.Context, leave time.Duration, run func(context.Context) (T, error)) (T, error) {
	type answer struct {
		v   T
		err error
	}
	got := make(chan answer, 1)
	go func() {
		a := answer{err: errors.New("it ended without an answer")}
		defer func() {
			if p := recover(); p != nil {
				a.err = panicked{p}
			}
			got <- a
		}()
		a.v, a.err = run(ctx)
	}()
	select {
	case a := <-got:
		return a.v, a.err
	case <-ctx.Done():
	}
	select {
	case a := <-got:
		return a.v, a.err
	case <-time.After(leave):
		var none T
		return none, ctx.Err()
	}
}
