// Package timelimit limits the time of work, and can hold the clock. While a user thinks
// about a question of a tool, or the program is stopped, the tool's time does not run.
//
// It has no imports from this program. Start with [New].
package timelimit
