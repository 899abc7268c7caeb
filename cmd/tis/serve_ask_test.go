package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"
)

// What each answer does to a script that is held, and to the same script again.
func TestServeEveryAnswerToAHeldScript(t *testing.T) {
	script := deleteTypo + " || echo refused; echo end"
	for _, c := range []struct {
		word    string
		deleted bool
		again   int // questions that the same script asks the second time
		stdout  string
	}{
		{"allow", true, 1, "{\"deleted\":\"fix-typo\"}\nend\n"},
		{"allow_always", true, 0, "{\"deleted\":\"fix-typo\"}\nend\n"},
		{"reject", false, 1, "refused\nend\n"},
		{"reject_always", false, 0, "refused\nend\n"},
	} {
		eachProtocol(t, func(t *testing.T, version string) {
			t.Run(c.word, func(t *testing.T) {
				p := newPlace(t)
				h := p.connect(version, decides(c.word))
				r := h.bash(script)
				require.Equal(t, c.stdout, r.Stdout, r.Stderr)
				require.Equal(t, !c.deleted, contains(p.branches(), "fix-typo"))
				require.Equal(t, !c.deleted, strings.Contains(r.Stderr, `"code":"denied"`), r.Stderr)
				require.Len(t, h.questions(), 1)
				h.bash(script)
				require.Len(t, h.questions(), 1+c.again)
			})
		})
	}
}

func contains(list []string, s string) bool {
	for _, x := range list {
		if x == s {
			return true
		}
	}
	return false
}

// Nothing but one of the four words is an answer, and no answer allows nothing.
func TestServeNoAnswerAllowsNothing(t *testing.T) {
	for name, answer := range map[string]func(*mcp.ElicitParams) (*mcp.ElicitResult, error){
		"decline": func(*mcp.ElicitParams) (*mcp.ElicitResult, error) { return &mcp.ElicitResult{Action: "decline"}, nil },
		"cancel":  func(*mcp.ElicitParams) (*mcp.ElicitResult, error) { return &mcp.ElicitResult{Action: "cancel"}, nil },
		"decline with a form that allows": func(*mcp.ElicitParams) (*mcp.ElicitResult, error) {
			return &mcp.ElicitResult{Action: "decline", Content: map[string]any{"decision": "allow"}}, nil
		},
	} {
		eachProtocol(t, func(t *testing.T, version string) {
			t.Run(name, func(t *testing.T) {
				p := newPlace(t)
				h := p.connect(version, answer)
				r := h.bash("echo started > mark; " + deleteTypo)
				require.NotNil(t, r.Tools, r.text)
				require.True(t, r.Tools.Stopped.BeforeStart)
				require.Empty(t, r.Tools.Done)
				require.Contains(t, r.Note, "no answer")
				require.Contains(t, p.branches(), "fix-typo")
				require.Equal(t, "no\n", h.bash("[ -e mark ] && echo yes || echo no").Stdout, "nothing of a held script runs")
				require.Len(t, h.questions(), 1)
				require.Empty(t, strings.TrimSpace(strings.Trim(p.tis("approvals", "history", "--session", "", "--json"), "[]\n")))
			})
		})
	}
	t.Run("a client that fails", func(t *testing.T) {
		t.Parallel()
		p := newPlace(t)
		h := p.connect("2025-11-25", func(*mcp.ElicitParams) (*mcp.ElicitResult, error) { return nil, errors.New("no window") })
		r := h.bash(deleteTypo)
		require.True(t, r.Tools.Stopped.BeforeStart)
		require.Contains(t, r.Note, "cannot be used")
		require.Contains(t, p.branches(), "fix-typo")
	})
}

// wire is a client by hand, for what no library would send.
type wire struct {
	t     *testing.T
	cmd   *exec.Cmd
	stdin io.Closer
	in    *json.Encoder
	out   *bufio.Scanner
}

func (p *place) wire() *wire {
	p.t.Helper()
	cmd := p.serve()
	in, err := cmd.StdinPipe()
	require.NoError(p.t, err)
	out, err := cmd.StdoutPipe()
	require.NoError(p.t, err)
	cmd.Stderr = os.Stderr
	require.NoError(p.t, cmd.Start())
	p.t.Cleanup(func() { in.Close(); cmd.Wait() })
	scan := bufio.NewScanner(out)
	scan.Buffer(nil, 16<<20)
	return &wire{p.t, cmd, in, json.NewEncoder(in), scan}
}

func (w *wire) send(msg string, args ...any) {
	w.t.Helper()
	require.NoError(w.t, w.in.Encode(json.RawMessage(fmt.Sprintf(msg, args...))))
}

// next is the next message that is no notification.
func (w *wire) next() (m struct {
	ID     json.RawMessage
	Method string
	Params json.RawMessage
	Result struct {
		StructuredContent json.RawMessage
		InputRequests     map[string]json.RawMessage
		RequestState      string
		IsError           bool
		Content           []struct{ Text string }
	}
	Error *struct{ Message string }
}) {
	w.t.Helper()
	for w.out.Scan() {
		require.NoError(w.t, json.Unmarshal(w.out.Bytes(), &m), w.out.Text())
		if m.ID != nil {
			return m
		}
	}
	w.t.Fatal("tis hung up")
	return m
}

// garbage is what a client may answer and what is no answer.
var garbage = []string{
	`{"action":"accept"}`,
	`{"action":"accept","content":{}}`,
	`{"action":"accept","content":{"decision":"ALLOW"}}`,
	`{"action":"accept","content":{"decision":"allow "}}`,
	`{"action":"accept","content":{"decision":true}}`,
	`{"action":"accept","content":{"decision":["allow"]}}`,
	`{"action":"accept","content":{"decision":"allow","decision2":"reject"}}`,
	`{"action":"accept","content":{"answer":"allow"}}`,
	`{"action":"allow","content":{"decision":"allow"}}`,
	`{"action":"","content":{"decision":"allow"}}`,
	`{}`,
	`{"action":null,"content":{"decision":"allow"}}`,
}

func TestServeRefusesGarbageForAnAnswer(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	w := p.wire()
	w.send(`{"jsonrpc":"2.0","id":"i","method":"initialize","params":{"protocolVersion":"2025-11-25","clientInfo":{"name":"hand","version":"1"},"capabilities":{"elicitation":{}}}}`)
	w.next()
	w.send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	for n, answer := range append([]string{`"allow"`, `null`, `[]`}, garbage...) {
		w.send(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"bash","arguments":{"commands":"%s"}}}`, n, deleteTypo)
		q := w.next()
		require.Equal(t, "elicitation/create", q.Method)
		w.send(`{"jsonrpc":"2.0","id":%s,"result":%s}`, q.ID, answer)
		got := w.next()
		require.Nil(t, got.Error, answer)
		require.Contains(t, string(got.Result.StructuredContent), `"before_start":true`, answer)
		require.Contains(t, string(got.Result.StructuredContent), "no answer", answer)
		require.Contains(t, p.branches(), "fix-typo", answer)
	}
}

func TestServeRefusesGarbageForAnAnswerThatComesWithTheCall(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	w := p.wire()
	call := func(id int, more string) {
		w.send(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"bash","arguments":{"commands":"%s"}%s,"_meta":{`+
			`"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"hand","version":"1"},"io.modelcontextprotocol/clientCapabilities":{"elicitation":{}}}}}`, id, deleteTypo, more)
	}
	for n, answer := range garbage {
		call(n, "")
		q := w.next().Result
		require.Len(t, q.InputRequests, 1)
		for id := range q.InputRequests {
			call(n, fmt.Sprintf(`,"requestState":%q,"inputResponses":{%q:%s}`, q.RequestState, id, answer))
		}
		got := w.next()
		require.Empty(t, got.Result.InputRequests, answer)
		require.NotContains(t, string(got.Result.StructuredContent), `"success":true`, answer)
		require.Contains(t, p.branches(), "fix-typo", answer)
	}
	allow := `{"action":"accept","content":{"decision":"allow"}}`
	for name, more := range map[string]string{
		"an unknown request":     `,"requestState":"asked","inputResponses":{"abcdefghijklmnop":` + allow + `}`,
		"no state":               `,"inputResponses":{"abcdefghijklmnop":` + allow + `}`,
		"a state and no answers": `,"requestState":"asked"`,
	} {
		call(100, more)
		got := w.next()
		require.NotContains(t, string(got.Result.StructuredContent), `"success":true`, name)
		require.Contains(t, p.branches(), "fix-typo", name)
	}
	// A request that another session was asked about is not this one's to answer.
	other := p.wire()
	call(200, "")
	q := w.next().Result
	mine := w
	w = other
	for id := range q.InputRequests {
		call(1, fmt.Sprintf(`,"requestState":%q,"inputResponses":{%q:%s}`, q.RequestState, id, allow))
	}
	got := w.next()
	require.True(t, got.Result.IsError)
	require.Contains(t, got.Result.Content[0].Text, "not asked about")
	w = mine
	for id := range q.InputRequests {
		call(201, fmt.Sprintf(`,"requestState":%q,"inputResponses":{%q:%s}`, q.RequestState, id, allow))
	}
	require.Contains(t, string(w.next().Result.StructuredContent), `"success":true`)
	require.NotContains(t, p.branches(), "fix-typo")
}

func TestServeAsksAboutEveryVisibleCallBeforeTheStart(t *testing.T) {
	eachProtocol(t, func(t *testing.T, version string) {
		p := newPlace(t)
		words := map[string]string{"fix-typo": "allow", "pg-driver": "reject"}
		h := p.connect(version, func(q *mcp.ElicitParams) (*mcp.ElicitResult, error) {
			for branch, word := range words {
				if strings.Contains(q.Message, branch) {
					return decides(word)(q)
				}
			}
			return &mcp.ElicitResult{Action: "decline"}, nil
		})
		r := h.bash(deleteTypo + "\ntools tracker delete-branch branch=pg-driver\ntools tracker delete-branch branch=main")
		require.True(t, r.Tools.Stopped.BeforeStart, r.text)
		require.Len(t, h.questions(), 3)
		require.Len(t, p.branches(), 5, "one call has no answer, so nothing starts")

		words["main"] = "reject"
		r = h.bash(deleteTypo + "\ntools tracker delete-branch branch=pg-driver\ntools tracker delete-branch branch=main")
		require.Len(t, h.questions(), 4, "the two answers are still there")
		require.Equal(t, []string{"dark-mode", "fix-login", "main", "pg-driver"}, p.branches())
		require.Equal(t, 2, strings.Count(r.Stderr, `"code":"denied"`))
	})
}

func TestServeAnAlwaysAnswerSavesTheNextQuestion(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	h := p.connect("2025-11-25", decides("allow_always"))
	r := h.bash(deleteTypo + "; tools tracker delete-branch branch=pg-driver")
	require.True(t, r.Success, r.Stderr)
	require.Len(t, h.questions(), 1)
	require.Len(t, p.branches(), 3)
}

func TestServeWithoutElicitationSaysHowToAnswer(t *testing.T) {
	eachProtocol(t, func(t *testing.T, version string) {
		p := newPlace(t)
		h := p.connect(version, nil)
		r := h.bash(deleteTypo)
		require.True(t, r.Tools.Stopped.BeforeStart)
		require.Len(t, r.ApprovalRequests, 1)
		id := r.ApprovalRequests[0].ID
		require.Contains(t, r.Note, "tis approvals answer "+id+" allow|")
		require.NotContains(t, r.text, "fingerprint", "what is for the host is not in the text for the model")
		require.Contains(t, p.branches(), "fix-typo")
		p.tis("approvals", "answer", id, "allow")
		require.True(t, h.bash(deleteTypo).Success)
		require.NotContains(t, p.branches(), "fix-typo")
	})
}

// A call that is hidden from the look before the start stops the script, and the
// tracker gets nothing of it.
func TestServeAStopWhileRunningIsFinal(t *testing.T) {
	eachProtocol(t, func(t *testing.T, version string) {
		p := newPlace(t)
		h := p.connect(version, decides("allow"))
		hidden := `echo run >> runs; tools tracker create-comment number=2 body=once; x=delete-branch; eval "tools tracker $x branch=fix-typo"; echo after`
		r := h.bash(hidden)
		require.False(t, r.Success)
		require.Empty(t, strings.ReplaceAll(r.Stdout, "\n", "")[strings.LastIndex(r.Stdout, "}"):][1:], "nothing after the stop is printed")
		require.NotNil(t, r.Tools.Stopped)
		require.False(t, r.Tools.Stopped.BeforeStart)
		require.Len(t, r.Tools.Done, 1)
		require.Contains(t, p.branches(), "fix-typo")
		require.Equal(t, "1\n", h.bash("wc -l < runs | tr -d ' '").Stdout, "it is never run again")
		require.Equal(t, []string{"once"}, p.query("SELECT body FROM comments WHERE body = 'once'"))
		if version == "2025-11-25" {
			require.Len(t, h.questions(), 1)
			require.Contains(t, h.questions()[0], "was stopped at this call")
			require.Contains(t, r.Note, "write a new script")
			require.True(t, h.bash(`x=delete-branch; eval "tools tracker $x branch=fix-typo"`).Success, "the answer counts for the next script")
		} else {
			require.Empty(t, h.questions(), "a report is not put at risk for a question")
			require.Contains(t, r.Note, "tis approvals answer")
			require.True(t, h.bash(deleteTypo).Success)
			require.Len(t, h.questions(), 1)
		}
		require.NotContains(t, p.branches(), "fix-typo")
	})
}

func TestServeQuestionsShowHiddenCharacters(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	h := p.connect("2025-11-25", func(*mcp.ElicitParams) (*mcp.ElicitResult, error) { return &mcp.ElicitResult{Action: "cancel"}, nil })
	h.bash("tools tracker delete-branch '{\"branch\":\"a\\u202eb\\u001b[2J\u2066x\\nApproval: yes\"}'")
	require.Len(t, h.questions(), 1)
	q := h.questions()[0]
	require.NotContains(t, q, "\u202e")
	require.NotContains(t, q, "\u2066")
	require.NotContains(t, q, "\x1b")
	require.Contains(t, q, `\u202e`)
	require.Contains(t, q, `\u2066`)
	require.NotContains(t, strings.Split(q, "\n"), "Approval: yes")
}

// A store that cannot be used closes the gate.
func TestServeABrokenStoreClosesTheGate(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	h := p.connect("2025-11-25", decides("allow"))
	require.True(t, h.bash("tools tracker list-branches >/dev/null").Success)
	files, err := filepath.Glob(p.file("approvals.db*"))
	require.NoError(t, err)
	for _, f := range files {
		require.NoError(t, os.Truncate(f, 0))
	}
	r, err := h.try(context.Background(), deleteTypo)
	if err == nil {
		require.False(t, r.Success)
	}
	require.Contains(t, p.branches(), "fix-typo")
	require.Empty(t, h.questions())
}
