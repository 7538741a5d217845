// Package editor opens the user's own editor on a text, in place of the screen.
//
// It imports Bubble Tea and no other package of replan. Start with [Open].
package editor
