// Package frame draws what surrounds the panes: the header, the tabs, the footer,
// notices, the lines about current work and the welcome page.
//
// Each is drawn from a plain value that the root model fills. Start with [State].
// Like a pane, the package imports draw, keymap, wording and the core, never a
// pane.
package frame
