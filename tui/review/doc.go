// Package review provides the dialog for reviewing a plan before it runs. The user
// can edit, move and remove steps, and approve gates together.
//
// Start with [Dialog].
//
// Like every pane, it may import draw, keymap, live, timing, wording, the core and
// the session of agent/runner, but no other pane. The root model routes between
// panes.
package review
