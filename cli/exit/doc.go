// Package exit has the exit codes of the program that are not those of runs, and the
// errors that carry one. Those of runs are in agent/event.
//
// It imports nothing of replan but internal/untrusted. Start at [Error].
package exit
