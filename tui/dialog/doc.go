// Package dialog holds the dialogs that stand in place of the panes: help, palette,
// models, settings, servers, themes, runs, conversations, exchanges with the model,
// revisions and undo.
//
// Each is a type of its own in a file of its own; most are a list with a filter.
//
// Like every pane it imports draw, keymap, telling, timing and the core, never another
// pane; the root model routes between them.
package dialog
