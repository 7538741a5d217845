// Package timelimit limits the time of work, and can hold the clock: while a user
// thinks about a question of a tool, the tool's time does not run.
//
// It imports nothing of this program. Start with [New].
package timelimit
