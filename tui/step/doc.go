// Package step implements the pane of one step: its arguments, output, diff,
// story and timing.
//
// Start with [Pane].
//
// Like every pane, it imports draw, keymap, telling, timing and the core, never
// another pane; the root model routes between them.
package step
