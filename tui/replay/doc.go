// Package replay plays a recorded run on a screen at the pace of its events.
//
// Start with [Player].
//
// Like every pane, it may import draw, keymap, live, timing, wording, the core and
// the session of agent/runner, but no other pane. The root model routes between
// panes.
package replay
