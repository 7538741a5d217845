// Package input is where the user types: the text field, its completion, the history
// of earlier inputs and long pasted texts.
//
// Start with [Input].
//
// Like every pane it imports draw, keymap, telling, timing and the core, never another
// pane; the root model routes between them.
package input
