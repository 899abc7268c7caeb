package intercept

import (
	"context"
	"errors"
	"fmt"

	"github.com/tools-in-shell/tis/catalog"
)

// before runs the guardrails. Whatever goes wrong in one refuses the call.
func (i *Interceptor) before(ctx context.Context, call catalog.Call) (catalog.Call, *catalog.Error) {
	for _, hook := range i.Before {
		next, err := guard(ctx, i, func(ctx context.Context) (catalog.Call, error) { return hook(ctx, call) })
		if err != nil {
			return call, refused(call, err)
		}
		if next.Tool != call.Tool {
			return call, catalog.Errorf(catalog.Denied, "%s was refused: a hook changed the tool", call.Tool.Command())
		}
		if string(next.Input) != string(call.Input) {
			if err := next.Tool.Check(next.Input); err != nil {
				return call, err
			}
		}
		call = next
	}
	return call, nil
}

func refused(call catalog.Call, err error) *catalog.Error {
	var ce *catalog.Error
	if errors.As(err, &ce) && ce.Code == catalog.Denied {
		return ce
	}
	return catalog.Errorf(catalog.Denied, "%s was refused: %v", call.Tool.Command(), err)
}

// after runs the hooks that see the result. The call has happened, so a hook
// that fails hides the result and says so.
func (i *Interceptor) after(ctx context.Context, call catalog.Call, out catalog.Output, fault *catalog.Error) (catalog.Output, *catalog.Error) {
	for _, hook := range i.After {
		var before error
		if fault != nil {
			before = fault
		}
		next, err := guard(ctx, i, func(ctx context.Context) (catalog.Output, error) { return hook(ctx, call, out, before) })
		var ce *catalog.Error
		switch {
		case err == nil:
			out, fault = next, nil
		case errors.As(err, &ce):
			fault = ce
		default:
			fault = catalog.Errorf(catalog.Denied, "%s ran, and a hook withheld its result: %v", call.Tool.Command(), err)
		}
	}
	return out, fault
}

// guard runs one hook with a time-out. A panic is an error.
func guard[T any](ctx context.Context, i *Interceptor, hook func(context.Context) (T, error)) (T, error) {
	ctx, cancel := context.WithTimeout(ctx, i.HookTimeout)
	defer cancel()
	type answer struct {
		v   T
		err error
	}
	got := make(chan answer, 1)
	go func() {
		var a answer
		defer func() {
			if p := recover(); p != nil {
				a.err = fmt.Errorf("a hook failed inside: %v", p)
			}
			got <- a
		}()
		a.v, a.err = hook(ctx)
	}()
	select {
	case a := <-got:
		return a.v, a.err
	case <-ctx.Done():
		var none T
		return none, fmt.Errorf("a hook did not answer: %w", ctx.Err())
	}
}
