// Package runner executes one shell script in which every tool is a command.
//
// A Runner parses the script once, asks the gate about the calls that are
// written out in full, holds the script or starts it, answers `tools` and `jq`
// in process, and returns the report. Start reading at Runner.Run; Runner.Preflight
// is its first half alone.
//
// # Which commands read stdin
//
// A tools command reads its standard input only when that input is attached
// to this very command: it stands right of a pipe or has its own redirect of
// file descriptor 0. What it inherits from a loop, a function or the script
// stays for them. The interpreter hands both to the exec handler alike, so the
// difference has to be carried from the syntax tree to the handler.
//
// It is carried in the position. The interpreter passes the position of a
// simple command's first word through call handlers, builtins (`command`,
// `exec`) and exec handlers, and a script is far smaller than an offset can
// count; so the highest bit of the offset of an attached command is set in the
// tree before the run. Position and bit belong to the node: they hold in
// functions, subshells, loops, background jobs and for dynamic command words,
// and two texts can't be confused, because no text is large enough to have an
// offset with that bit by itself.
//
// Text that becomes known while the script runs (eval, trap, source) is parsed
// by the interpreter, out of reach. There the same fact is written into the
// text: an extra last word, random for each run, marks an attached command; the
// call handler takes it off again before anything sees it. `bash -c` and script
// files are parsed here and marked like the script itself.
//
// # How a run stops
//
// A call that must not run writes its error line, records the stop, cancels
// the run's context with a cause and returns an error with no text. The
// interpreter checks the context before every statement, so no later command,
// trap, stage or loop turn starts.
package runner
