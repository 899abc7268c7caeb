// Package analyze reads a script without running it and says which tools it
// would call.
//
// [Parse] turns a text into a [Script]; the tree in it is the one that is run
// later. [Script.Visible] lists the calls that are written out in full:
// every word known, no stdin read, in code that the script itself can reach.
// Such a call, if it executes, is exactly the call that the interceptor sees;
// whenever that is in doubt the call is left out and is checked while the
// script runs. [Script.Plan] lists those and everything else it can name.
//
// The package never runs anything, never loads a server and never asks a
// person. Start reading at visible.go; walk.go says what is reachable and
// literal.go what is known.
package analyze
