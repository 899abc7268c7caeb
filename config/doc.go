// Package config reads tis.json: servers, local tools, capabilities, rules and
// limits. A plain mcpServers file of another MCP host is a valid one.
//
// It starts nothing. Every fault names the file, the place and what was
// expected. Start reading at Load.
package config
