// Package runs holds the commands that look back at runs: replan runs, replay, undo,
// changes and bug. Most of them work in the chat too.
//
// It imports cli/app, cli/host and cli/lines. Start at [New]; each file holds the command
// of its name.
package runs
