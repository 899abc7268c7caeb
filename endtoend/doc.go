// Package endtoend holds no code: its tests run scripts against a real MCP
// server process and hold what that server received against what the gate was
// asked, what the report says and what the approvals store recorded.
//
// Start reading at the command server, and at the world in world_test.go.
package endtoend
