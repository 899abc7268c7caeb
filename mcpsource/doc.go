// Package mcpsource makes the tools of MCP servers, and of local commands,
// tools of a catalog: it starts servers, lists their tools, calls them and
// starts them again when they die.
//
// The SDK speaks the protocol, but it decodes results into Go values, which
// would lose digits and key order. So the raw JSON of every tools/list and
// tools/call answer is taken on the way in (see answer.go): from the lines of
// a program, or from the bodies of HTTP answers.
//
// A server's fault is its own: it never hides another server, never outlives
// Close, and never takes more memory than one message may have. What servers
// ask of us in turn (sampling, elicitation, roots) is refused, unless the config
// names roots. The package knows nothing of scripts or approvals. Start reading
// at Pool.
package mcpsource
