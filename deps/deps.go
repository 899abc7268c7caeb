// Package deps pins modules while the tree is being built.
package deps

import (
	_ "github.com/agnivade/levenshtein"
	_ "github.com/alecthomas/kong"
	_ "github.com/gowebpki/jcs"
	_ "github.com/itchyny/gojq"
	_ "github.com/landlock-lsm/go-landlock/landlock"
	_ "github.com/mattn/go-isatty"
	_ "github.com/modelcontextprotocol/go-sdk/mcp"
	_ "github.com/rogpeppe/go-internal/testscript"
	_ "github.com/santhosh-tekuri/jsonschema/v6"
	_ "github.com/stretchr/testify/require"
	_ "go.uber.org/goleak"
	_ "golang.org/x/sys/unix"
	_ "golang.org/x/term"
	_ "modernc.org/sqlite"
	_ "mvdan.cc/sh/v3/interp"
	_ "pgregory.net/rapid"
)
