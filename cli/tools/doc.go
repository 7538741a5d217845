// Package tools holds the commands of replan tools: list, show, call and accept.
//
// It imports cli/app, cli/check and cli/lines. Start at [New]; each file holds the command
// of its name.
package tools
