// Package intercept answers one `tools` command while a script runs: from its
// words to its output, in one order that never changes. Resolve, stopped?,
// schema, limit, hooks, gate, execute, hooks, record, render.
//
// It knows nothing of the shell around it. Start reading at Interceptor.Command.
package intercept
