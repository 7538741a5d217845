// Package tty knows the terminal on which commands print without the full screen:
// its colours and width, and listings for it.
//
// Start with [Open].
package tty
