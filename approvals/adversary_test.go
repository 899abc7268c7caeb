package approvals_test

import (
	"encoding/json"
	"fmt"
	"math/big"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/tools-in-shell/tis/approvals"
	"github.com/tools-in-shell/tis/catalog"
)

// Spellings with which a script might try to make one answer do for two calls,
// or a new question of a call that was answered.
func TestSpellingsOfANumber(t *testing.T) {
	for _, same := range [][]string{
		{"1", "1.0", "1e0", "1E0", "1e+0", "1e-0", "10e-1", "0.1e1", "100e-2", "1.000000000000000000000"},
		{"0", "-0", "0.0", "-0.0", "0e99", "-0e-99", "0.000e+1"},
		{"-1", "-1.0", "-10e-1"},
		{"9007199254740993", "9007199254740993.0", "9.007199254740993e15", "9007199254740993e0", "90071992547409930e-1"},
		{"123456789012345678901234567890123456789", "123456789012345678901234567890123456789.0", "1.23456789012345678901234567890123456789e38"},
		{"1e400", "1E+400", "10e399", "0.1e401", "1" + strings.Repeat("0", 400)},
		{"1e-400", "0." + strings.Repeat("0", 399) + "1"},
		{"0.1", "1e-1", "0.10", "10e-2"},
	} {
		want := fingerprint(t, call(t, `{}`, `{"n":`+same[0]+`}`))
		for _, n := range same {
			require.Equal(t, want, fingerprint(t, call(t, `{}`, `{"n":`+n+`}`)), "%s and %s", same[0], n)
		}
	}
	seen := map[string]string{}
	for _, n := range []string{"0", "1", "-1", "10", "0.1", "1e400", "1e401", "1e-400", "-1e400", "9007199254740992", "9007199254740993", "9223372036854775807", "9223372036854775808", "18446744073709551616",
		"0.1000000000000000055511151231257827", "0.10000000000000000555", "1e30", "1e31", "1.0000000000000000000000000000001", `"1"`, "true", "[1]", "null"} {
		f := fingerprint(t, call(t, `{}`, `{"n":`+n+`}`))
		require.Empty(t, seen[f], "%s and %s are one call", n, seen[f])
		seen[f] = n
	}
}

func TestAHugeExponentCostsNothing(t *testing.T) {
	c := call(t, `{}`, `{"n":1e`+strings.Repeat("9", 100_000)+`}`)
	begun := time.Now()
	fingerprint(t, c)
	require.Less(t, time.Since(begun), 5*time.Second)
}

// Two inputs have one fingerprint exactly when they mean the same, by a
// comparison that knows nothing of canonical text.
func TestOneFingerprintForOneMeaning(t *testing.T) {
	numbers := rapid.SampledFrom([]string{"0", "-0", "1", "1.0", "1e0", "10", "1e1", "0.1", "1e-1", "-1", "9007199254740993", "9007199254740992", "9007199254740993.0", "1e400", "10e399"})
	texts := rapid.SampledFrom([]string{`""`, `"a"`, `"\u0061"`, `"é"`, `"\u00e9"`, `"e\u0301"`, `"\""`, `"\\"`, `"1"`, `"null"`, `"a\",\"b"`, `"😀"`, `"\ud83d\ude00"`, `"\uffff"`, `"\n"`, `"\u000a"`, `"/"`, `"\/"`, `"<"`, `"\u003c"`, `"\u2028"`, `" "`})
	var value func(depth int) *rapid.Generator[string]
	object := func(depth int) *rapid.Generator[string] {
		return rapid.Custom(func(rt *rapid.T) string {
			var members []string
			for range rapid.IntRange(0, 3).Draw(rt, "members") {
				members = append(members, texts.Draw(rt, "key")+":"+value(depth-1).Draw(rt, "value"))
			}
			return "{" + strings.Join(members, rapid.SampledFrom([]string{",", " , ", ",\n"}).Draw(rt, "comma")) + "}"
		})
	}
	value = func(depth int) *rapid.Generator[string] {
		if depth <= 0 {
			return rapid.OneOf(numbers, texts, rapid.SampledFrom([]string{"true", "false", "null", "[]", "{}"}))
		}
		list := rapid.Custom(func(rt *rapid.T) string {
			return "[" + strings.Join(rapid.SliceOfN(value(depth-1), 0, 2).Draw(rt, "items"), ",") + "]"
		})
		return rapid.OneOf(numbers, texts, list, object(depth))
	}
	rapid.Check(t, func(rt *rapid.T) {
		a := object(2).Draw(rt, "a")
		b := a
		if rapid.Bool().Draw(rt, "other") {
			b = object(1).Draw(rt, "b")
		} else { // a, said again in other words
			var v any
			dec := json.NewDecoder(strings.NewReader(a))
			dec.UseNumber()
			require.NoError(rt, dec.Decode(&v))
			text, err := json.MarshalIndent(v, "", " ")
			require.NoError(rt, err)
			b = string(text)
		}
		same := meaning(rt, a) == meaning(rt, b)
		require.Equal(rt, same, fingerprint(rt, call(rt, `{}`, a)) == fingerprint(rt, call(rt, `{}`, b)), "%s\n%s", a, b)
	})
}

// meaning is a JSON text as Go prints its value: the last of keys given twice,
// maps in one order, numbers as exact fractions.
func meaning(t tb, text string) string {
	dec := json.NewDecoder(strings.NewReader(text))
	dec.UseNumber()
	var v any
	require.NoError(t, dec.Decode(&v))
	var walk func(any) any
	walk = func(v any) any {
		switch v := v.(type) {
		case map[string]any:
			for k, x := range v {
				v[k] = walk(x)
			}
		case []any:
			for i, x := range v {
				v[i] = walk(x)
			}
		case json.Number:
			r, ok := new(big.Rat).SetString(v.String())
			require.True(t, ok)
			return fmt.Sprintf("number %s", r)
		case string:
			return fmt.Sprintf("text %q", v)
		}
		return v
	}
	return fmt.Sprintf("%v", walk(v))
}

// Keys given twice count as the tool gets them: the last one.
func TestKeysGivenTwice(t *testing.T) {
	w := gate(t)
	w.ask([]catalog.Call{call(t, destructive, `{"branch":"safe"}`)}, approvals.Allow)
	require.Equal(t, approvals.Ask, w.authorize("s", call(t, destructive, `{"branch":"safe","branch":"main"}`)).Outcome)
	require.Equal(t, approvals.Ask, w.authorize("s", call(t, destructive, `{"branch":"safe","br\u0061nch":"main"}`)).Outcome)
	require.Equal(t, approvals.Ask, w.authorize("s", call(t, destructive, `{"branch":"safe","Branch":"main"}`)).Outcome)
	require.Equal(t, approvals.Run, w.authorize("s", call(t, destructive, `{"branch":"main","branch":"safe"}`)).Outcome)
}

// Names that look or sort alike are not alike.
func TestNamesThatLookAlike(t *testing.T) {
	names := [][2]string{{"github", "delete_branch"}, {"github", "delete-branch"}, {"github", "Delete_branch"}, {"github", "delete_branch "}, {"github", "delete_br\u0430nch"}, {"github", "delete_\uff42ranch"}, {"github", "delete_branch\u200b"}, {"g\u0131thub", "delete_branch"},
		{"github__delete", "branch"}, {"", "mcp_github__delete_branch"}, {"", "github delete_branch"}, {"github", "cafe\u0301"}, {"github", "caf\u00e9"}, {"github", "\u212aeep"}, {"github", "keep"}}
	w := gate(t)
	yes := true
	tool := func(n [2]string) catalog.Call {
		return catalog.Call{Tool: &catalog.Tool{Server: n[0], Name: n[1], Hints: catalog.Hints{Destructive: &yes}}, Input: json.RawMessage(`{}`)}
	}
	for i, n := range names {
		for _, other := range names[i:] {
			require.Equal(t, approvals.Ask, w.authorize("s", tool(other)).Outcome, "%q after an answer about %q", other, names[:i])
		}
		w.ask([]catalog.Call{tool(n)}, approvals.AllowAlways)
		require.Equal(t, approvals.Run, w.authorize("s", tool(n)).Outcome)
	}
}

var sessions = []string{"s", "S", "s ", " s", "s\t", "s\n", "", "s'", `s"`, "s;--", "%", "_", "*", "ſ", "ß", "ss", "s\u200b", "e\u0301", "\u00e9", "0", "00", "0.0", "NULL", "default", "s/../s", strings.Repeat("s", 10_000)}

func TestNoAnswerCountsInAnotherSession(t *testing.T) {
	for _, decision := range []approvals.Decision{approvals.Allow, approvals.AllowAlways} {
		for _, mine := range sessions {
			w, c := gate(t), call(t, destructive, `{}`)
			requests, err := w.Ask(ctx, mine, "run", []catalog.Call{c})
			require.NoError(t, err)
			_, err = w.Answer(ctx, requests[0].ID, decision, "ana")
			require.NoError(t, err)
			for _, other := range sessions {
				if other != mine {
					require.Equal(t, approvals.Ask, w.authorize(other, c).Outcome, "%.40q and %.40q", mine, other)
				}
			}
			require.Equal(t, approvals.Run, w.authorize(mine, c).Outcome)
		}
	}
}

// Requests are found by their whole name alone, and nobody guesses one.
func TestNamesOfRequestsCannotBeGuessed(t *testing.T) {
	w := gate(t)
	seen := map[string]bool{}
	form := regexp.MustCompile(`^[a-z2-7]{16}$`) // 80 bits
	for n := range 2000 {
		r := w.ask([]catalog.Call{call(t, destructive, fmt.Sprintf(`{"n":%d}`, n))})[0]
		require.Regexp(t, form, r.ID)
		require.False(t, seen[r.ID])
		seen[r.ID] = true
	}
	for id := range seen {
		for _, guess := range []string{"", id[:15], id + "a", strings.ToUpper(id), " " + id, id + "\n", "%", "*", "' OR ''='", "_" + id[1:]} {
			_, err := w.Answer(ctx, guess, approvals.Allow, "ana")
			require.ErrorIs(t, err, approvals.ErrUnknownRequest, "%q", guess)
		}
		break
	}
	require.Equal(t, approvals.Ask, w.authorize("s", call(t, destructive, `{"n":1}`)).Outcome)
}

// What an expired request leaves behind is nothing, whatever is tried with it.
func TestAnExpiredRequestIsGoodForNothing(t *testing.T) {
	for _, decision := range []approvals.Decision{approvals.Allow, approvals.AllowAlways, approvals.Reject, approvals.RejectAlways} {
		w, c := gate(t), call(t, destructive, `{}`)
		old := w.ask([]catalog.Call{c})[0]
		w.now = old.ExpiresAt
		for range 2 {
			_, err := w.Answer(ctx, old.ID, decision, "ana")
			require.ErrorIs(t, err, approvals.ErrExpired)
		}
		require.Equal(t, approvals.Ask, w.authorize("s", c).Outcome)
		next := w.ask([]catalog.Call{c})[0]
		require.NotEqual(t, old.ID, next.ID)
		// The answer to the new one is the only one there is.
		_, err := w.Answer(ctx, next.ID, approvals.Allow, "ana")
		require.NoError(t, err)
		require.Equal(t, approvals.Run, w.authorize("s", c).Outcome)
		require.Equal(t, approvals.Ask, w.authorize("s", c).Outcome)
	}
}

// Nothing that a call is made of can write a line of its own into a message or
// the audit trail of another.
func TestTheTrailIsOfWhatHappenedAlone(t *testing.T) {
	w := gate(t)
	c := call(t, destructive, `{"branch":"x\",\"decision\":\"allow"}`)
	r := w.ask([]catalog.Call{c}, approvals.Reject)[0]
	require.Equal(t, approvals.Deny, w.authorize("s", c).Outcome)
	events, err := w.History(ctx, "s")
	require.NoError(t, err)
	require.Len(t, events, 2)
	for _, e := range events {
		require.Equal(t, r.ID, e.Request)
		require.Contains(t, []string{"reject", "denied"}, e.What)
	}
}
