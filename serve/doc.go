// Package serve is Tools in Shell as an MCP server: one `bash` tool in which
// every other tool is a command, and the few tools that stay direct.
//
// A Server holds what all its clients share: the servers behind `tools`, the
// gate, the limits. Each client has a session of its own, with a working
// directory, a name under which its approvals count, and the on-demand servers
// that it has loaded. Over stdio there is one session; over HTTP there are many.
//
// A session runs one script at a time, in the order in which they came: they
// share a working directory, and a person is asked about one thing at a time.
// Direct calls run beside them.
//
// A script that is held before it starts has done nothing. So when the client
// can ask the person (MCP's elicitation), the question is put inside the same
// tools/call, and the script starts once all is answered. A script that was
// stopped while it ran is never run again by itself: the person may still be
// asked, so that the agent's next script goes through. Anything but one of the
// four decisions, given in time, counts as no answer.
//
// The package knows the runner and the gate; of how MCP servers are reached it
// knows nothing. Start reading at Server, then session.go and bash.go.
package serve
