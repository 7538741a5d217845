// Package dialog holds the dialogs that replace the panes: help, palette, models,
// settings, servers, themes, runs, conversations, exchanges with the model,
// revisions and undo.
//
// Start with list.go: what every dialog has, the list that most of them are, and
// the document that others show. Each dialog adds its rows and its own actions.
//
// Like every pane, it may import draw, keymap, live, timing, wording, the core and
// the session of agent/runner, but no other pane. The root model routes between
// panes.
package dialog
