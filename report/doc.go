// Package report records what a run does and writes it down: the calls that may
// have changed something, what stopped the run, and the output that is kept.
//
// It decides nothing. Start reading at Run.
package report
