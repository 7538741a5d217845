// Package chat implements the conversation pane: messages, phases, thinking,
// cards of runs and calls, and the search through them. The pane lays out a
// finished block once per width; only the open block is drawn again while it
// streams.
//
// Start with [Pane].
//
// Like every pane, it imports draw, keymap, telling, timing and the core, never
// another pane; the root model routes between them.
package chat
