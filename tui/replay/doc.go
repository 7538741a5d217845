// Package replay plays a recorded run on a screen at the pace of its events.
//
// Start with [Player].
//
// Like every pane, it imports draw, keymap, telling, timing and the core, but no
// other pane. The root model routes between panes.
package replay
