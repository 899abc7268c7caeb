// Package approvals answers one question: may this call run?
//
// A Gate judges calls by the host's rules, the mode, the tool's own hints and
// the answers that a person has given, and raises requests for what needs an
// answer. A Store keeps requests, answers and the audit trail; a store that
// fails closes the gate, because every method then returns its error.
//
// The package knows nothing of scripts or MCP. Start reading at Gate.Authorize.
package approvals
