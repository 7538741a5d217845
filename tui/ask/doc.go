// Package ask is the dialog at the bottom of the screen that puts gates, questions
// and doubts to the user: the call with its diff, the reasons, the answers, and the
// editor for arguments.
//
// Start with [Dialog]. It takes no key before a moment of quiet, so that keys meant
// for the input answer nothing.
//
// Like every pane it imports draw, keymap, telling, timing and the core, never another
// pane; the root model routes between them.
package ask
