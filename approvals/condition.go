package approvals

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"strconv"
	"strings"
	"time"

	"github.com/itchyny/gojq"

	"github.com/tools-in-shell/tis/catalog"
)

const (
	// conditionTime bounds one evaluation of a condition.
	conditionTime = 100 * time.Millisecond
	// integerDigits is how long an integer a condition can see.
	integerDigits = 1000
)

// condition is a compiled jq expression over an input. It sees no environment,
// no files and no other inputs.
type condition struct{ code *gojq.Code }

func compileCondition(text string) (*condition, error) {
	query, err := gojq.Parse(text)
	if err != nil {
		return nil, fmt.Errorf("not a jq expression: %w", err)
	}
	code, err := gojq.Compile(query)
	if err != nil {
		return nil, fmt.Errorf("not a jq expression: %w", err)
	}
	return &condition{code}, nil
}

// holds evaluates the condition: false, null and nothing at all don't hold,
// every other value does. Several values must agree, since whether one or all of
// them should count depends on what the rule decides.
func (c *condition) holds(ctx context.Context, input any) (bool, error) {
	ctx, cancel := context.WithTimeout(ctx, conditionTime)
	defer cancel()
	var holds bool
	values := c.code.RunWithContext(ctx, input)
	for first := true; ; first = false {
		v, ok := values.Next()
		if !ok {
			return holds, nil
		}
		if err, isErr := v.(error); isErr {
			if errors.Is(err, context.DeadlineExceeded) {
				return false, fmt.Errorf("the condition took longer than %v", conditionTime)
			}
			return false, err
		}
		truth := v != nil && v != false
		if !first && truth != holds {
			return false, errors.New("the condition gives both true and false; write any(...) or all(...)")
		}
		holds = truth
	}
}

// conditionInput decodes an input for gojq. Integers of any spelling (7.0, 70e-1)
// are exact, as they are for the fingerprint.
func conditionInput(input json.RawMessage) (any, error) {
	canonical, err := catalog.Canonical(input)
	if err != nil {
		return nil, err
	}
	dec := json.NewDecoder(bytes.NewReader(canonical))
	dec.UseNumber()
	var v any
	if err := dec.Decode(&v); err != nil {
		return nil, err
	}
	return withNumbers(v)
}

func withNumbers(v any) (_ any, err error) {
	switch v := v.(type) {
	case map[string]any:
		for k, x := range v {
			if v[k], err = withNumbers(x); err != nil {
				return nil, err
			}
		}
	case []any:
		for i, x := range v {
			if v[i], err = withNumbers(x); err != nil {
				return nil, err
			}
		}
	case json.Number:
		return number(v.String())
	}
	return v, nil
}

// number is a number of canonical JSON, an integer without a power of ten or
// with a positive one, as gojq has it.
func number(s string) (any, error) {
	digits, power, _ := strings.Cut(s, "e")
	if strings.HasPrefix(power, "-") {
		f, err := strconv.ParseFloat(s, 64)
		if err != nil || f == 0 {
			return nil, errors.New("a number in the input is too large or too small to be judged")
		}
		return f, nil
	}
	zeros := 0
	if power != "" {
		var err error
		if zeros, err = strconv.Atoi(power); err != nil {
			zeros = integerDigits
		}
	}
	if len(digits) > integerDigits || zeros > integerDigits-len(digits) {
		return nil, fmt.Errorf("an integer in the input has more than %d digits", integerDigits)
	}
	n, ok := new(big.Int).SetString(digits+strings.Repeat("0", zeros), 10)
	switch {
	case !ok:
		return nil, fmt.Errorf("the number %s cannot be read", s)
	case n.IsInt64():
		return int(n.Int64()), nil
	}
	return n, nil
}
