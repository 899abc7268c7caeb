package main

import (
	"fmt"
	"io"
	"runtime/debug"
	"strings"

	"github.com/alecthomas/kong"
)

// completionCommand is `tis completion`.
type completionCommand struct {
	Shell string `arg:"" enum:"bash,zsh,fish" help:"bash, zsh or fish."`
}

func (c *completionCommand) Run(p *program, k *kong.Kong) error {
	root := k.Model.Node
	switch c.Shell {
	case "bash":
		io.WriteString(p.stdout, "_tis() {\n  local cur=${COMP_WORDS[COMP_CWORD]} words\n  case ${COMP_WORDS[1]} in\n")
		for _, n := range root.Children {
			fmt.Fprintf(p.stdout, "    %s) words=%q ;;\n", n.Name, strings.Join(completions(n), " "))
		}
		fmt.Fprintf(p.stdout, "    *) words=%q ;;\n  esac\n", strings.Join(completions(root), " "))
		io.WriteString(p.stdout, "  COMPREPLY=( $(compgen -W \"$words\" -- \"$cur\") $(compgen -f -- \"$cur\") )\n}\ncomplete -F _tis tis\n")
	case "zsh":
		io.WriteString(p.stdout, "#compdef tis\nif (( CURRENT == 2 )); then\n")
		fmt.Fprintf(p.stdout, "  compadd %s\nelse\n  case $words[2] in\n", strings.Join(completions(root), " "))
		for _, n := range root.Children {
			fmt.Fprintf(p.stdout, "    %s) compadd -- %s ;;\n", n.Name, strings.Join(completions(n), " "))
		}
		io.WriteString(p.stdout, "  esac\n  _files\nfi\n")
	case "fish":
		for _, n := range root.Children {
			fmt.Fprintf(p.stdout, "complete -c tis -n __fish_use_subcommand -a %s -d %q\n", n.Name, n.Help)
			for _, f := range n.Flags {
				fmt.Fprintf(p.stdout, "complete -c tis -n '__fish_seen_subcommand_from %s' -l %s -d %q\n", n.Name, f.Name, f.Help)
			}
		}
	}
	return nil
}

// completions are the words that may follow a command.
func completions(n *kong.Node) []string {
	var words []string
	for _, child := range n.Children {
		words = append(words, child.Name)
	}
	for _, f := range n.Flags {
		words = append(words, "--"+f.Name)
	}
	return words
}

// versionCommand is `tis version`.
type versionCommand struct{}

func (versionCommand) Run(p *program) error {
	fmt.Fprintln(p.stdout, "tis", version())
	return nil
}

// version is the module's version as the build recorded it.
func version() string {
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		return info.Main.Version
	}
	return "(devel)"
}
