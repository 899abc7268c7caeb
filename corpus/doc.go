// Package corpus replays recorded scripts and says what has become different.
//
// A case is one txtar file: a script, the catalog it was written for, the mode,
// rules and answers that it meets, and the results that its tools give. Wanted
// are its plan, the linter's findings, and what each run printed, called and
// reported. No server is started and no tool is real, so that a case stays the
// same until somebody changes the catalog, the policy or tis.
//
// # The file
//
// The text before the first file says what the case shows. Then come, in any
// order:
//
//	case.json     what the script meets; see Setting. May be left out.
//	catalog.json  a catalog file as tis snapshot writes it
//	script.sh     the script; script-2.sh is the second run's, and so on
//	files/NAME    a file in the working directory
//	want/plan     one line a call: line, tool, input, risk, where
//	want/lint     one line a finding: line, column, severity, code, message
//	want/run-1    what the first run did; run-2 and so on after each answer
//
// A want that is not there is not compared, so a case can be about one thing.
// Update writes those that are there, and all of them when there is none.
//
// Start reading at Replay.
package corpus
