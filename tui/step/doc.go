// Package step implements the pane of one step: its arguments, output, diff,
// story and timing.
//
// Start with [Pane].
//
// Like every pane, it may import draw, keymap, live, timing, wording, the core and
// the session of agent/runner, but no other pane. The root model routes between
// panes.
package step
