// Package review is the dialog in which a plan is looked over before it runs: steps
// are edited, moved and removed, and gates approved together.
//
// Start with [Dialog].
//
// Like every pane it imports draw, keymap, telling, timing and the core, never another
// pane; the root model routes between them.
package review
