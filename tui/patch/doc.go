// Package patch parses unified diffs and finds the changed words between a removed
// line and its replacement. It draws nothing.
//
// It imports no other package of the program. Start with [Parse].
package patch
