// Package chat is the pane of the conversation: messages, phases, thinking, cards of
// runs and calls, and the search through them. A finished block is laid out once per
// width; only the open block is drawn anew while it streams.
//
// Start with [Pane].
//
// Like every pane it imports draw, keymap, telling, timing and the core, never another
// pane; the root model routes between them.
package chat
