// Package replay plays a recorded run on a screen at the pace of its events.
//
// Start with [Player].
//
// Like every pane it imports draw, keymap, telling, timing and the core, never another
// pane; the root model routes between them.
package replay
