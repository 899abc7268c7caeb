// Package jq is the jq command over gojq, in process: the command line of jq
// 1.7, streaming input, exit codes and messages. It is a utility like any other
// and knows nothing of tools.
//
// Objects are printed in the order of their keys, as jq does. gojq keeps
// objects as Go maps, which have none, so the order is kept beside them: of an
// object that was read, by the map's identity; of one that the program built,
// by the program's own object constructions; and else by the order in which
// the keys were first seen. Where a program goes through an object's members
// (.[], to_entries, tojson) gojq visits them by name.
//
// Start reading at Main.
package jq
