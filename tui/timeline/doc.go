// Package timeline implements the dialog that shows when each step of a run
// ran, as bars over time.
//
// Start with [Dialog]. Package timing computes the data.
//
// Like every pane, it imports draw, keymap, telling, timing and the core, never
// another pane; the root model routes between them.
package timeline
