// Package mcpsource makes the tools of MCP servers, and of local commands,
// tools of a catalog: it starts servers, lists their tools, calls them and
// starts them again when they die.
//
// The SDK decodes results into Go values, which would lose digits and key
// order. So the raw JSON of every tools/list and tools/call answer is taken
// from the connection itself (see wire.go). The package knows nothing of
// scripts or approvals. Start reading at Pool.
package mcpsource
