// Package timeline implements the dialog that shows when each step of a run
// ran, as bars over time.
//
// Start with [Dialog]. Package timing computes the data.
//
// Like every pane, it may import draw, keymap, live, timing, wording, the core and
// the session of agent/runner, but no other pane. The root model routes between
// panes.
package timeline
