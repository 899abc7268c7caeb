// Command server is a small MCP server that keeps a log and fails as it is told
// to, for the tests. It is written without any library, so that it can fail in
// every way.
//
// usage: server LOG [TOOLS]
//
// Each call that arrives is appended to the file LOG before anything else is
// done with it. Then the server does what the input's "do" says:
//
//	(absent)   answer with the input
//	fail       answer that the tool failed
//	rpcerror   answer with a protocol error
//	slow       answer after "ms"
//	hang       never answer
//	big        answer with "n" bytes
//	garbage    answer with what is no result
//	exit       end at once, as by a crash
//	exit_after answer, then end
//	hang_up    close the pipe and live on
//	doom       end at once, and never start again
//
// Its tools come from the file TOOLS, if there is one, each time that they are
// listed; the call of a tool "reshape" tells the client that they changed.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"sync"
	"time"
)

const defaultTools = `[
	{"name":"get","annotations":{"readOnlyHint":true}},
	{"name":"put"},
	{"name":"del","description":"Delete it.","annotations":{"destructiveHint":true}},
	{"name":"reshape"}
]`

// arrival is one line of the server's log.
type arrival struct {
	Tool  string          `json:"tool"`
	Input json.RawMessage `json:"input"`
}

type server struct {
	mu    sync.Mutex // stdout
	log   *os.File
	tools string // a file; empty for the default
}

func main() {
	if len(os.Args) != 2 && len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: server LOG [TOOLS]")
		os.Exit(2)
	}
	if _, err := os.Stat(os.Args[1] + ".doom"); err == nil {
		fmt.Fprintln(os.Stderr, "server: it is doomed")
		os.Exit(3)
	}
	log, err := os.OpenFile(os.Args[1], os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		fmt.Fprintln(os.Stderr, "server:", err)
		os.Exit(1)
	}
	s := &server{log: log}
	if len(os.Args) == 3 {
		s.tools = os.Args[2]
	}
	s.serve()
}

// serve answers until the client hangs up.
func (s *server) serve() {
	in := bufio.NewReaderSize(os.Stdin, 1<<20)
	for {
		line, err := in.ReadBytes('\n')
		if err != nil {
			return
		}
		var m struct {
			ID     json.RawMessage `json:"id"`
			Method string          `json:"method"`
			Params struct {
				Name      string          `json:"name"`
				Arguments json.RawMessage `json:"arguments"`
			} `json:"params"`
		}
		if json.Unmarshal(line, &m) != nil || m.ID == nil {
			continue
		}
		switch m.Method {
		case "initialize":
			s.reply(m.ID, `"result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{"listChanged":true}},"serverInfo":{"name":"test","version":"1"}}`)
		case "ping":
			s.reply(m.ID, `"result":{}`)
		case "tools/list":
			s.reply(m.ID, `"result":{"tools":`+s.listed()+`}`)
		case "tools/call":
			s.received(arrival{m.Params.Name, m.Params.Arguments})
			go s.call(m.ID, m.Params.Name, m.Params.Arguments)
		default:
			s.reply(m.ID, `"error":{"code":-32601,"message":"method not found"}`)
		}
	}
}

func (s *server) listed() string {
	if b, err := os.ReadFile(s.tools); err == nil {
		return strings.ReplaceAll(string(b), "\n", " ")
	}
	return strings.ReplaceAll(defaultTools, "\n", " ")
}

// received writes a call down in one write, which is whole or not at all.
func (s *server) received(a arrival) {
	line, err := json.Marshal(a)
	if err != nil {
		panic(err)
	}
	if _, err := s.log.Write(append(line, '\n')); err != nil {
		panic(err)
	}
}

func (s *server) send(line string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	os.Stdout.WriteString(line + "\n")
}

func (s *server) reply(id json.RawMessage, body string) {
	s.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,%s}`, id, body))
}

func (s *server) text(id json.RawMessage, text string) {
	quoted, _ := json.Marshal(text)
	s.reply(id, `"result":{"content":[{"type":"text","text":`+string(quoted)+`}]}`)
}

func (s *server) call(id json.RawMessage, name string, input json.RawMessage) {
	var in struct {
		Do string `json:"do"`
		MS int    `json:"ms"`
		N  int    `json:"n"`
	}
	json.Unmarshal(input, &in) // what has no such keys does nothing special
	if name == "reshape" {
		s.send(`{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`)
	}
	switch in.Do {
	case "fail":
		s.reply(id, `"result":{"isError":true,"content":[{"type":"text","text":"it failed"}]}`)
	case "rpcerror":
		s.reply(id, `"error":{"code":-32603,"message":"inside"}`)
	case "slow":
		time.Sleep(time.Duration(in.MS) * time.Millisecond)
		s.text(id, "slept")
	case "hang":
	case "big":
		s.text(id, strings.Repeat("x", in.N))
	case "garbage":
		s.reply(id, `"result":7`)
	case "exit":
		os.Exit(7)
	case "doom":
		if err := os.WriteFile(s.log.Name()+".doom", nil, 0o600); err != nil {
			panic(err)
		}
		os.Exit(7)
	case "exit_after":
		s.text(id, string(input))
		os.Exit(7)
	case "hang_up":
		os.Stdout.Close()
	default:
		s.text(id, string(input))
	}
}
