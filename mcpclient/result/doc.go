// Package result turns the result of a tool call into the value of its step:
// text, structured content, and files for what is no text.
//
// It imports planning/plan and mcpclient/builtin. Start with [Read].
package result
