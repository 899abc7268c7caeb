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
//   - Integers are exact in +, -, * and in / and % that come out even, of
//     whatever size, where jq calculates with doubles.
//   - Regular expressions are Go's: no look-around and no back references.
//   - A string may be indexed by a computed number, and strptime knows more
//     formats, as in gojq.
//   - Lone surrogates in JSON text become U+FFFD.
//   - Values nest up to 10,000 deep, programs have up to 40,000 parts, and one
//     that takes more than about a gigabyte is stopped with exit code 5.
//   - Without -L there are no modules: neither ~/.jq nor a directory beside the
//     program is looked at. $__prog_args is $ARGS.
//   - After more than a quarter of a million keys of oddly ordered objects in
//     one run of the program, the oldest of them fall back to the order in
//     which their keys were first seen.
//   - Syntax errors name what was unexpected, not what was expected, and an
//     undefined name is looked for in the text to give its line.
//
// Start reading at Main.
package jq
