package hosts

import (
	"path/filepath"
	"runtime"
)

// Machine is where to look: the person's folders, as the environment says.
type Machine struct {
	OS      string // as runtime.GOOS; empty for this one
	Getenv  func(string) (string, bool)
	Project string // the folder of a project, whose own files are meant; empty: the person's
}

func (m Machine) os() string {
	if m.OS != "" {
		return m.OS
	}
	return runtime.GOOS
}

func (m Machine) env(name string) string {
	v, _ := m.Getenv(name)
	return v
}

// Home is the person's folder, empty when it is not known.
func (m Machine) Home() string {
	if m.os() == "windows" {
		return m.env("USERPROFILE")
	}
	return m.env("HOME")
}

// home is a file below the person's folder, or below the folder that a variable
// names instead.
func (m Machine) home(variable string, instead, otherwise string) string {
	if v := m.env(variable); variable != "" && v != "" {
		return filepath.Join(v, instead)
	}
	if m.Home() == "" {
		return ""
	}
	return filepath.Join(m.Home(), otherwise)
}

// appData is a file among those of desktop programs.
func (m Machine) appData(name string) string {
	switch m.os() {
	case "darwin":
		return m.home("", "", filepath.Join("Library", "Application Support", name))
	case "windows":
		return m.home("APPDATA", name, filepath.Join("AppData", "Roaming", name))
	}
	return m.home("XDG_CONFIG_HOME", name, filepath.Join(".config", name))
}

// Host is a program that reads a list of MCP servers.
type Host struct {
	Name    string
	key     string // the list in its file
	toml    bool
	refs    references
	file    func(Machine) string // the person's
	project string               // in a project's folder; empty when there is none
	root    string               // the project's folder, as the host writes it in a file of the project
	typed   bool                 // entries say their type
	millis  bool                 // its timeout is in milliseconds
}

// All are the hosts that are known.
var All = []Host{
	{Name: "claude-code", key: "mcpServers", refs: plainNames, typed: true, millis: true, project: ".mcp.json",
		file: func(m Machine) string { return m.home("CLAUDE_CONFIG_DIR", ".claude.json", ".claude.json") }},
	{Name: "claude-desktop", key: "mcpServers", refs: none,
		file: func(m Machine) string { return m.appData(filepath.Join("Claude", "claude_desktop_config.json")) }},
	{Name: "cursor", key: "mcpServers", refs: envNames, project: filepath.Join(".cursor", "mcp.json"), root: "${workspaceFolder}",
		file: func(m Machine) string { return m.home("", "", filepath.Join(".cursor", "mcp.json")) }},
	{Name: "vscode", key: "servers", refs: envNames, typed: true, project: filepath.Join(".vscode", "mcp.json"), root: "${workspaceFolder}",
		file: func(m Machine) string { return m.appData(filepath.Join("Code", "User", "mcp.json")) }},
	{Name: "codex", key: "mcp_servers", toml: true, refs: none, project: filepath.Join(".codex", "config.toml"),
		file: func(m Machine) string {
			return m.home("CODEX_HOME", "config.toml", filepath.Join(".codex", "config.toml"))
		}},
	{Name: "gemini", key: "mcpServers", refs: dollarNames, millis: true, project: filepath.Join(".gemini", "settings.json"),
		file: func(m Machine) string { return m.home("", "", filepath.Join(".gemini", "settings.json")) }},
}

// path is the host's file, empty when it has none there.
func (h Host) path(m Machine) string {
	switch {
	case m.Project == "":
		return h.file(m)
	case h.project == "":
		return ""
	}
	return filepath.Join(m.Project, h.project)
}
