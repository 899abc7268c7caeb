package serve

import (
	"context"
	"encoding/json"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/tools-in-shell/tis/capability"
	"github.com/tools-in-shell/tis/catalog"
)

// list tells the client of the tools that it has not been told of as they are
// now. The SDK sends tools/list_changed for what this changes.
func (c *session) list(ctx context.Context, cat *catalog.Catalog) {
	c.listing.Lock()
	defer c.listing.Unlock()
	c.offer(c.bashTool(cat), c.bash)
	now := map[string]bool{bashName: true}
	for _, t := range cat.Direct() {
		name := t.RegistryName()
		if now[name] {
			continue // bash is ours, and of two tools with one name the first counts
		}
		now[name] = true
		c.offer(c.directTool(ctx, t), c.direct(name))
	}
	for name := range c.told {
		if !now[name] {
			c.mcp.RemoveTools(name)
			delete(c.told, name)
		}
	}
}

// offer adds or replaces a tool, unless the client has it just so.
func (c *session) offer(t *mcp.Tool, h mcp.ToolHandler) {
	b, err := json.Marshal(t)
	if err != nil || c.told[t.Name] == string(b) {
		return
	}
	c.told[t.Name] = string(b)
	c.mcp.AddTool(t, h)
}

const bashName = "bash"

// bashTool is the tool as the client lists it.
func (c *session) bashTool(cat *catalog.Catalog) *mcp.Tool {
	ungated := c.server.o.Gate.Mode() == "off"
	return &mcp.Tool{
		Name: bashName, Title: "Tools in Shell",
		Description: capability.Describe(bashDescription+"\n\n"+capability.Prompt, cat),
		InputSchema: c.bashInput().InputSchema, OutputSchema: json.RawMessage(bashOutput),
		// What is destructive or reaches outside is asked about call by call, so
		// that a host need not ask about every script.
		Annotations: &mcp.ToolAnnotations{DestructiveHint: &ungated, OpenWorldHint: &ungated},
	}
}

const bashDescription = "Run a bash script in which every tool of the connected servers is a command. Files stay in the working directory between calls."
