// Package dialog holds the dialogs that replace the panes: help, palette, models,
// settings, servers, themes, runs, conversations, exchanges with the model,
// revisions and undo.
//
// Each dialog has its own type and file; most are lists with a filter.
//
// Like every pane, it imports draw, keymap, telling, timing and the core, but no
// other pane. The root model routes between panes.
package dialog
