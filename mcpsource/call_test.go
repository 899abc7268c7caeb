package mcpsource_test

import (
	"context"
	"encoding/json"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tools-in-shell/tis/catalog"
)

func TestInputArrivesAsItWasWritten(t *testing.T) {
	cfg := program(t, "plain")
	p := startPool(t, cfg)
	for _, input := range []string{
		`{}`,
		`{"z":1.10,"a":12345678901234567890,"m":1e400,"n":-0.0,"k":1E+2}`,
		`{"deep":{"z":[1.0,{"y":9007199254740993,"b":null}]},"a":""}`,
		`{"text":"<a href='x'>&amp;</a> ☃  \u0041 \\ \" /"}`,
		`{"twice":1,"twice":2}`,
	} {
		out, err := call(t, p, "echo", input)
		require.NoError(t, err)
		assert.Equal(t, input, out.Parts[0].Text)
		assert.Contains(t, received(t, cfg), `"arguments":`+input)
	}
}

func TestResultsKeepDigitsAndOrder(t *testing.T) {
	p := startPool(t, program(t, "plain"))
	result := func(raw string) (catalog.Output, error) {
		input, err := json.Marshal(map[string]string{"text": raw})
		require.NoError(t, err)
		return call(t, p, "result", string(input))
	}
	for _, structured := range []string{
		`{"z":1.10,"a":12345678901234567890,"m":1e400}`, `[1.0,{"b":1,"a":2}]`, `"text"`, `0.10`, `false`, `{"html":"<&>"}`,
	} {
		out, err := result(`{"content":[],"structuredContent":` + structured + `}`)
		require.NoError(t, err)
		assert.Equal(t, structured, string(out.Structured))
		assert.Empty(t, out.Parts)
	}
	out, err := result(`{"content":[{"type":"resource_link","uri":"file:///x","size":1.10,"name":"x"}]}`)
	require.NoError(t, err)
	assert.Equal(t, `{"type":"resource_link","uri":"file:///x","size":1.10,"name":"x"}`, string(out.Parts[0].Raw))
}

func TestContentBecomesParts(t *testing.T) {
	p := startPool(t, program(t, "plain"))
	for _, tc := range []struct {
		name, content string
		want          catalog.Part // without Raw
	}{
		{"text", `{"type":"text","text":"a\nb"}`, catalog.Part{Type: "text", Text: "a\nb"}},
		{"image", `{"type":"image","data":"aGk=","mimeType":"image/png"}`, catalog.Part{Type: "image", Data: []byte("hi"), MIMEType: "image/png"}},
		{"audio", `{"type":"audio","data":"aGk=","mimeType":"audio/wav"}`, catalog.Part{Type: "audio", Data: []byte("hi"), MIMEType: "audio/wav"}},
		{"a blob", `{"type":"resource","resource":{"uri":"a:b","blob":"aGk=","mimeType":"application/pdf"}}`, catalog.Part{Type: "resource", Data: []byte("hi"), MIMEType: "application/pdf"}},
		{"a resource of text", `{"type":"resource","resource":{"uri":"a:b","text":"hi"}}`, catalog.Part{Type: "resource"}},
		{"a link", `{"type":"resource_link","uri":"a:b","name":"n","mimeType":"text/x"}`, catalog.Part{Type: "resource_link", MIMEType: "text/x"}},
		{"bad base64", `{"type":"image","data":"!!","mimeType":"image/png"}`, catalog.Part{Type: "image", MIMEType: "image/png", BadData: "its data is not base64"}},
		{"a bad blob", `{"type":"resource","resource":{"uri":"a:b","blob":"?"}}`, catalog.Part{Type: "resource", BadData: "its data is not base64"}},
		{"no data", `{"type":"image","mimeType":"image/png"}`, catalog.Part{Type: "image", MIMEType: "image/png", BadData: "it has no data"}},
		{"empty data", `{"type":"audio","data":""}`, catalog.Part{Type: "audio", BadData: "its data is empty"}},
		{"an empty blob", `{"type":"resource","resource":{"uri":"a:b","blob":""}}`, catalog.Part{Type: "resource", Data: []byte{}}},
		{"a type of the future", `{"type":"hologram","depth":3}`, catalog.Part{Type: "hologram"}},
		{"no object", `7`, catalog.Part{Type: "unknown"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			input, err := json.Marshal(map[string]string{"text": `{"content":[` + tc.content + `]}`})
			require.NoError(t, err)
			out, err := call(t, p, "result", string(input))
			require.NoError(t, err)
			tc.want.Raw = json.RawMessage(tc.content)
			assert.Equal(t, []catalog.Part{tc.want}, out.Parts)
		})
	}
}

func TestFailuresOfTools(t *testing.T) {
	p := startPool(t, program(t, "plain", "API_TOKEN", "s3cr3t-token"))
	for _, tc := range []struct {
		name, tool, text, message string
	}{
		{"isError", "result", `{"isError":true,"content":[{"type":"text","text":"no"},{"type":"image"},{"type":"text","text":"way"}]}`, "no\nway"},
		{"isError with a structured result", "result", `{"isError":true,"content":[],"structuredContent":{"why":1.10}}`, `{"why":1.10}`},
		{"isError without a word", "result", `{"isError":true}`, "the tool failed without saying why"},
		{"isError with a secret", "result", `{"isError":true,"content":[{"type":"text","text":"bad s3cr3t-token"}]}`, "bad ***"},
		{"an error of the protocol", "fail", "bad luck", "bad luck"},
		{"an error of the protocol that looks like a sign-in", "fail", "issue 401 is Unauthorized", "issue 401 is Unauthorized"},
		{"an error of the protocol with a secret", "fail", "bad s3cr3t-token", "bad ***"},
		{"a result that is null", "result", `null`, "the call was made, and its result is null"},
		{"a result that is no object", "result", `[1]`, "the call was made, and its result cannot be read"},
		{"content that is no list", "result", `{"content":"x"}`, "the call was made, and its result cannot be read"},
		{"a question on the way", "result", `{"resultType":"input_required","inputRequests":{}}`, "the tool asks for more input"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			input, err := json.Marshal(map[string]string{"text": tc.text})
			require.NoError(t, err)
			out, err := call(t, p, tc.tool, string(input))
			ce := failure(t, err)
			assert.Equal(t, catalog.ToolError, ce.Code)
			assert.False(t, ce.Retryable)
			assert.Contains(t, ce.Message, tc.message)
			assert.Empty(t, out)
		})
	}
}

func TestAServerThatDiesIsStartedAgain(t *testing.T) {
	cfg := program(t, "plain")
	p := startPool(t, cfg)
	for _, name := range []string{"die", "hang_up"} {
		_, err := call(t, p, name, `{}`)
		ce := failure(t, err)
		assert.Equal(t, catalog.ToolError, ce.Code)
		assert.True(t, ce.Retryable)
		assert.Contains(t, ce.Message, "outcome unknown: the server x died during the call")
		if name == "die" {
			assert.Contains(t, ce.Message, "it exited with status 7")
		}
		_, err = call(t, p, "echo", `{}`)
		require.NoError(t, err)
	}
	p.Sources()
	p.Sources()
	assert.Equal(t, 3, asked(t, cfg, "initialize"))
	assert.Equal(t, 3, asked(t, cfg, "tools/list"), "once, and once after each restart")
}

func TestAServerThatDiedBetweenCallsIsStartedAgain(t *testing.T) {
	cfg := program(t, "plain")
	p := startPool(t, cfg)
	out, err := call(t, p, "child", `{}`)
	require.NoError(t, err)
	child, err := strconv.Atoi(out.Parts[0].Text)
	require.NoError(t, err)
	_, err = call(t, p, "die", `{}`) // its child keeps the pipes open
	require.Error(t, err)
	assert.Eventually(t, func() bool { return !alive(child) }, 5*time.Second, 10*time.Millisecond, "the child of a dead server goes with it")
	for range 3 {
		_, err = call(t, p, "echo", `{}`)
		require.NoError(t, err)
	}
}

func TestCallsThatDieTogether(t *testing.T) {
	p := startPool(t, program(t, "plain"))
	hang, die := tool(t, p, "x", "hang"), tool(t, p, "x", "die")
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			_, err := hang.Executor.Execute(context.Background(), json.RawMessage(`{}`))
			var ce *catalog.Error
			if assert.ErrorAs(t, err, &ce) {
				assert.True(t, ce.Retryable)
			}
		})
	}
	time.Sleep(50 * time.Millisecond)
	_, err := die.Executor.Execute(context.Background(), json.RawMessage(`{}`))
	require.Error(t, err)
	quickly(t, 5*time.Second, wg.Wait)
}

func TestACallHasATimeOut(t *testing.T) {
	cfg := program(t, "plain")
	cfg.CallTimeout = 200 * time.Millisecond
	p := startPool(t, cfg)
	_, err := call(t, p, "hang", `{}`)
	ce := failure(t, err)
	assert.Equal(t, catalog.ToolError, ce.Code)
	assert.True(t, ce.Retryable)
	assert.Equal(t, "outcome unknown: the server x did not answer in 200ms", ce.Message)
	assert.Eventually(t, func() bool { return asked(t, cfg, "notifications/cancelled") == 1 }, 5*time.Second, 5*time.Millisecond)
	_, err = call(t, p, "echo", `{}`)
	require.NoError(t, err, "the server goes on")
	assert.Equal(t, 1, asked(t, cfg, "initialize"))
}

func TestACancelledCallReturnsSoonAndTheServerIsTold(t *testing.T) {
	cfg := program(t, "sdk")
	p := startPool(t, cfg)
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(50*time.Millisecond, cancel)
	quickly(t, 2*time.Second, func() {
		_, err := callIn(ctx, t, p, "wait", `{}`)
		assert.ErrorIs(t, err, context.Canceled)
	})
	assert.Eventually(t, func() bool {
		b, _ := os.ReadFile(cfg.Env["TEST_LOG"])
		return string(b) == "cancelled"
	}, 5*time.Second, 5*time.Millisecond)
}

func TestAServerThatDoesNotReadCannotHoldACall(t *testing.T) {
	cfg := program(t, "plain")
	cfg.CallTimeout = 300 * time.Millisecond
	p := startPool(t, cfg)
	_, err := call(t, p, "stop_reading", `{}`)
	require.NoError(t, err)
	big := `{"a":"` + strings.Repeat("x", 4<<20) + `"}`
	quickly(t, 3*time.Second, func() {
		_, err := call(t, p, "echo", big)
		assert.True(t, failure(t, err).Retryable)
	})
}

func TestAnAnswerOverTheLimitEndsTheCallOnly(t *testing.T) {
	p := startPool(t, program(t, "plain"))
	_, err := call(t, p, "long", `{}`)
	ce := failure(t, err)
	assert.Equal(t, catalog.ToolError, ce.Code)
	assert.False(t, ce.Retryable)
	assert.Contains(t, ce.Message, "over the limit of 64 MiB")
	_, err = call(t, p, "echo", `{}`)
	require.NoError(t, err)
}

func TestOddAnswers(t *testing.T) {
	cfg := program(t, "plain")
	p := startPool(t, cfg)
	out, err := call(t, p, "noise", `{}`)
	require.NoError(t, err)
	assert.Equal(t, "done", out.Parts[0].Text)
	out, err = call(t, p, "batch", `{}`)
	require.NoError(t, err)
	assert.Equal(t, "in a batch", out.Parts[0].Text)
	_, err = call(t, p, "deep", `{}`)
	assert.Contains(t, failure(t, err).Message, "its answer cannot be read")
	assert.Equal(t, 1, asked(t, cfg, "initialize"), "none of them ends the connection")
}

func TestWhatAServerAsksOfUsIsRefused(t *testing.T) {
	p := startPool(t, program(t, "sdk"))
	out, err := call(t, p, "ask_roots", `{}`)
	require.NoError(t, err)
	assert.Contains(t, out.Parts[0].Text, "does not support elicitation")
}

func TestCallsAtTheSameTimeGetTheirOwnAnswers(t *testing.T) {
	p := startPool(t, program(t, "plain"))
	echo := tool(t, p, "x", "echo")
	var wg sync.WaitGroup
	for i := range 50 {
		wg.Go(func() {
			input := `{"n":` + strconv.Itoa(i) + `.0}`
			out, err := echo.Executor.Execute(context.Background(), json.RawMessage(input))
			if assert.NoError(t, err) {
				assert.Equal(t, input, out.Parts[0].Text)
			}
		})
	}
	wg.Wait()
}
