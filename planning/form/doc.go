// Package form reads the forms that servers ask users to fill in (MCP,
// elicitation/create). It reads the fields of a flat JSON schema and what a typed
// text means in a field, and says whether an answer is complete.
//
// It imports plan and the packages of internal that clean text. Start with [Parse].
package form
