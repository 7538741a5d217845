// Package form reads the forms that servers ask users to fill in: the fields of a
// flat JSON schema (MCP, elicitation/create), what a typed text means in a field,
// and whether an answer is complete.
//
// It imports plan and the packages of internal that clean text. Start with [Parse].
package form
