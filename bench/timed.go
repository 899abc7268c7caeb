package main

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"time"

	"mvdan.cc/sh/v3/syntax"
)

// timed runs a program with its output thrown away. An exit code of finds is no
// failure: it is what a linter says that has found something.
func timed(ctx context.Context, finds int, dir, program string, args ...string) (time.Duration, error) {
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Dir = dir
	var stderr strings.Builder
	cmd.Stderr = &stderr
	from := time.Now()
	err := cmd.Run()
	took := time.Since(from)
	if exit, ok := errors.AsType[*exec.ExitError](err); ok && exit.ExitCode() == finds {
		err = nil
	}
	if err != nil {
		return 0, fmt.Errorf("%w: %s", err, stderr.String())
	}
	return took, nil
}

// parseAlone is the parser of mvdan.cc/sh without anything of ours.
func parseAlone(text string) error {
	_, err := syntax.NewParser(syntax.Variant(syntax.LangBash), syntax.KeepComments(true)).Parse(strings.NewReader(text), "")
	return err
}
