// Package ask asks the user at a terminal without the full screen, line by line,
// about gates, steps in doubt, failed steps and held plans. One question is open
// at a time; input typed before it appeared does not answer it.
//
// It imports the core, agent/runner for commands, and wording, plain and plantext
// of tui for words. Start reading at [Questions].
package ask
