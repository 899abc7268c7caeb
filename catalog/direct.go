package catalog

// alwaysDirect are the tools that stay direct calls whatever anybody says: the
// shells themselves and what drives the turn.
var alwaysDirect = set("bash", "lua", "tools", "tool_search", "computer", "browser", "spawn_agent")

// directByOwner are the built-in tools whose owners keep them direct: they
// pause or shape the turn, show the model an image, or edit files.
var directByOwner = set(
	"ask_user", "request_approval", "approvals", "write_todos", "update_todos",
	"start_task", "list_tasks", "get_task", "update_task", "cancel_task", "session_tasks", "session_task",
	"read_file", "write_file", "edit_file", "screenshot", "take_screenshot", "view_image",
)

func set(names ...string) map[string]bool {
	m := make(map[string]bool, len(names))
	for _, n := range names {
		m[normal(n)] = true
	}
	return m
}

// IsDirect reports whether a tool stays in the model's direct list and cannot
// be reached from the shell. Tools of MCP servers move behind `tools` whatever
// their names are, unless their policy says otherwise.
func IsDirect(t *Tool) bool {
	if t.Policy.StaysDirect || t.Policy.ClientSide || t.Policy.NeverDeferrable {
		return true
	}
	if t.Server != "" {
		return false
	}
	n := normal(t.Name)
	return alwaysDirect[n] || directByOwner[n]
}
