// Package screen opens the full screen on a session, one after another as the user chooses
// conversations. It says at the end what can be done with the last run.
//
// It imports cli/app and tui. Start at [Open].
package screen
