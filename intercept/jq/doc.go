// Package jq is the jq command in process: the command line, the messages and
// the exit codes of jq 1.7 over the gojq library. It is a utility like any
// other and knows nothing of tools.
//
// gojq keeps objects as Go maps and goes through them by the names of their
// keys. jq keeps the order of the keys, and so does this package: the order is
// remembered beside the maps (order), and programs are rewritten so that
// everything that goes through objects or makes them knows it (rewrite and
// prelude). Numbers that a program leaves alone keep their digits.
//
// What differs from jq 1.7:
//   - Integers are exact in +, -, * and in / and % that come out even, up to
//     some 20,000 digits, where jq calculates with doubles.
//   - Regular expressions are Go's (regexp.go): look-around, back references
//     and possessive repetition are errors; \b, and \W, \D and \S between
//     brackets, know ASCII alone.
//   - indices, index and rindex count characters, where jq 1.7 counts bytes of
//     text outside ASCII.
//   - A string may be indexed by a computed number, strptime knows more formats
//     and gives another day where the format has none, and from_entries takes
//     keys that are no strings.
//   - Some functions of later versions are there: trim, toarray, abs, and others.
//   - Lone surrogates in JSON text become U+FFFD.
//   - Without -L there are no modules: neither ~/.jq nor a directory beside the
//     program is looked at. $__prog_args is $ARGS.
//   - After more than a quarter of a million keys of oddly ordered objects in
//     one run of the program, the oldest of them fall back to the order in
//     which their keys were first seen.
//   - Syntax errors name what was unexpected, not what was expected, and an
//     undefined name is looked for in the text to give its line.
//
// Nothing that is asked of it may take the process down or keep it busy for
// good. A program has at most a megabyte and 40,000 parts; values nest up to
// 10,000 deep. What one step may make or go through is bounded (bounds.go), and
// so are the stacks of a program. Its memory as a whole is watched: one that
// takes more than about a gigabyte is stopped (guard.go). Each ends in one line
// and exit code 5, or 3 before the program starts. A cancelled context is seen
// before every step.
//
// Start reading at Main.
package jq
