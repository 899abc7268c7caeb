package mcpsource_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// newSDKServer is a server made with the official library.
func newSDKServer() *mcp.Server {
	server := mcp.NewServer(&mcp.Implementation{Name: "sdk", Version: "1"}, &mcp.ServerOptions{PageSize: 2})
	add := func(name string, handle func(ctx context.Context, r *mcp.CallToolRequest) (string, error)) {
		server.AddTool(&mcp.Tool{Name: name, Description: "Does " + name + ".", InputSchema: json.RawMessage(`{"type":"object"}`)},
			func(ctx context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
				text, err := handle(ctx, r)
				if err != nil {
					return nil, err
				}
				return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: text}}}, nil
			})
	}
	add("echo", func(_ context.Context, r *mcp.CallToolRequest) (string, error) {
		return string(r.Params.Arguments), nil
	})
	add("ask_roots", func(ctx context.Context, r *mcp.CallToolRequest) (string, error) {
		_, err := r.Session.Elicit(ctx, &mcp.ElicitParams{Message: "your name?"})
		return fmt.Sprint(err), nil
	})
	add("grow", func(context.Context, *mcp.CallToolRequest) (string, error) {
		add("grown", func(context.Context, *mcp.CallToolRequest) (string, error) { return "new", nil })
		return "ok", nil
	})
	add("wait", func(ctx context.Context, _ *mcp.CallToolRequest) (string, error) {
		<-ctx.Done() // until it is cancelled
		if log := os.Getenv("TEST_LOG"); log != "" {
			os.WriteFile(log, []byte("cancelled"), 0o600)
		}
		return "", ctx.Err()
	})
	return server
}

func serveSDK() {
	if err := newSDKServer().Run(context.Background(), &mcp.StdioTransport{}); err != nil {
		os.Exit(1)
	}
}

// byHand is a server without any library, which misbehaves as it is told to.
type byHand struct {
	kind  string
	pages map[string]json.RawMessage // results of tools/list by cursor; "-" for none
}

func serveByHand(kind string) {
	s := &byHand{kind: kind}
	pages := os.Getenv("TEST_PAGES")
	if pages == "" {
		pages = handTools
	}
	if err := json.Unmarshal([]byte(pages), &s.pages); err != nil {
		panic(err)
	}
	s.begin()
	in := bufio.NewReaderSize(os.Stdin, 1<<20)
	for {
		line, err := in.ReadString('\n')
		if err != nil {
			break
		}
		s.log(line)
		var m struct {
			ID     json.RawMessage `json:"id"`
			Method string          `json:"method"`
			Params json.RawMessage `json:"params"`
		}
		if json.Unmarshal([]byte(line), &m) == nil && m.ID != nil && m.Method != "" {
			s.answer(string(m.ID), m.Method, m.Params)
		}
	}
	if kind == "stubborn" {
		select {}
	}
}

const handTools = `{"-":{"tools":[{"name":"echo"},{"name":"result"},{"name":"fail"},{"name":"die"},{"name":"hang"},{"name":"hang_up"},{"name":"long"},{"name":"deep"},{"name":"noise"},{"name":"batch"},{"name":"stop_reading"},{"name":"change"},{"name":"child"}]}}`

// begin is what happens before the first message.
func (s *byHand) begin() {
	switch s.kind {
	case "silent":
		select {}
	case "dies":
		fmt.Fprintln(os.Stderr, "starting")
		fmt.Fprintln(os.Stderr, "cannot sign in with "+os.Getenv("API_TOKEN"))
		os.Exit(3)
	case "dies once":
		if _, err := os.Stat(os.Getenv("TEST_LOG")); err != nil {
			s.log("first\n")
			os.Exit(4)
		}
	case "garbage":
		fmt.Println("Usage: server [options]")
		select {}
	case "flood":
		line := strings.Repeat("x", 1000)
		for {
			if _, err := fmt.Println(line); err != nil {
				os.Exit(1)
			}
		}
	case "long line":
		part := []byte(strings.Repeat("x", 1<<20))
		for {
			if _, err := os.Stdout.Write(part); err != nil {
				os.Exit(1)
			}
		}
	case "banner":
		fmt.Println("[INFO] the server is ready")
		fmt.Println()
	case "stubborn":
		signal.Ignore(syscall.SIGTERM)
	case "slow":
		time.Sleep(time.Second)
	}
}

func (s *byHand) log(text string) {
	f, err := os.OpenFile(os.Getenv("TEST_LOG"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err == nil {
		f.WriteString(text)
		f.Close()
	}
}

func reply(id, body string) { fmt.Printf(`{"jsonrpc":"2.0","id":%s,%s}`+"\n", id, body) }

func quoted(s string) string { b, _ := json.Marshal(s); return string(b) }

func (s *byHand) answer(id, method string, params json.RawMessage) {
	switch {
	case method == "initialize" && s.kind == "refuses":
		reply(id, `"error":{"code":-32000,"message":"wrong key `+os.Getenv("API_TOKEN")+`"}`)
	case method == "initialize" && s.kind == "strange answer":
		reply(id, `"result":7`)
	case method == "initialize":
		reply(id, `"result":{"protocolVersion":"2024-11-05","capabilities":{"tools":{"listChanged":true}},"serverInfo":{"name":"hand","version":"1"}}`)
	case method == "ping":
		reply(id, `"result":{}`)
	case method == "tools/list" && s.kind == "never lists":
	case method == "tools/list" && s.kind == "no_list":
		reply(id, `"result":{}`)
	case method == "tools/list":
		var p struct{ Cursor *string }
		json.Unmarshal(params, &p)
		cursor := "-"
		if p.Cursor != nil {
			cursor = *p.Cursor
		}
		reply(id, `"result":`+string(s.pages[cursor]))
	case method == "tools/call":
		s.call(id, params)
	default:
		// Some servers end when anything comes before the handshake.
		if method == "server/discover" {
			os.Exit(9)
		}
		reply(id, `"error":{"code":-32601,"message":"Method not found"}`)
	}
}

func (s *byHand) call(id string, params json.RawMessage) {
	var p struct {
		Name      string          `json:"name"`
		Arguments json.RawMessage `json:"arguments"`
	}
	json.Unmarshal(params, &p)
	var args struct{ Text string }
	json.Unmarshal(p.Arguments, &args)
	text := func(t string) string { return `"result":{"content":[{"type":"text","text":` + quoted(t) + `}]}` }
	switch p.Name {
	case "echo":
		reply(id, text(string(p.Arguments)))
	case "result":
		reply(id, `"result":`+args.Text)
	case "fail":
		reply(id, `"error":{"code":-32000,"message":`+quoted(args.Text)+`}`)
	case "die":
		os.Exit(7)
	case "hang":
	case "hang_up":
		os.Stdout.Close()
		select {}
	case "long":
		part := strings.Repeat("x", 1<<20)
		fmt.Printf(`{"jsonrpc":"2.0","id":%s,"result":{"content":[{"type":"text","text":"`, id)
		for range 65 {
			fmt.Print(part)
		}
		fmt.Print("\"}]}}\n")
	case "deep":
		reply(id, `"result":{"content":[],"structuredContent":`+strings.Repeat("[", 3000)+strings.Repeat("]", 3000)+`}`)
	case "noise":
		fmt.Println("working on it")
		fmt.Println(`{"jsonrpc":"2.0"}`)
		fmt.Println(`{"half":`)
		reply(id, text("done"))
	case "batch":
		fmt.Printf(`[{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":1}},{"jsonrpc":"2.0","id":%s,%s}]`+"\n", id, text("in a batch"))
	case "stop_reading":
		reply(id, text("ok"))
		select {}
	case "change":
		json.Unmarshal([]byte(os.Getenv("TEST_PAGES_AFTER")), &s.pages)
		fmt.Println(`{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`)
		reply(id, text("ok"))
	case "asks":
		for _, method := range []string{"sampling/createMessage", "elicitation/create", "roots/list", "secrets/list"} {
			fmt.Printf(`{"jsonrpc":"2.0","id":%q,"method":%q,"params":{}}`+"\n", method, method)
		}
		for _, params := range []string{`{}`, `{"progressToken":{},"progress":"x"}`, `[]`, `{"level":7,"data":null}`} {
			fmt.Println(`{"jsonrpc":"2.0","method":"notifications/progress","params":` + params + `}`)
			fmt.Println(`{"jsonrpc":"2.0","method":"notifications/message","params":` + params + `}`)
			fmt.Println(`{"jsonrpc":"2.0","method":"notifications/unheard_of","params":` + params + `}`)
		}
		reply(id, text("asked"))
	case "child":
		c := exec.Command("sleep", "1000")
		c.Stdout, c.Stderr = os.Stdout, os.Stderr // it keeps the pipes open
		if err := c.Start(); err != nil {
			panic(err)
		}
		reply(id, text(fmt.Sprint(c.Process.Pid)))
	}
}
