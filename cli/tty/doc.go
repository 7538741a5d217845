// Package tty knows the terminal on which commands print without the full screen:
// its colors and width, and listings for it.
//
// Of replan it imports tui/draw, themes and internal/untrusted. Start with [Open].
package tty
