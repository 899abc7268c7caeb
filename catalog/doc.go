// Package catalog knows what tools there are and what a `tools` command line
// means: names and their spellings, help, search, and the way from words and
// stdin to one call with one JSON object as its input.
//
// It knows nothing of scripts, approvals or MCP. JSON is kept as it was
// written: digits and key order reach the tool unchanged. Start reading at
// Catalog.Resolve.
package catalog
