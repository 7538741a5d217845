// Package input provides the text input below the chat. It has the text field with
// placeholders for long pasted texts, completion and the history of sent texts. It also
// has the queue, and the message in the user's editor.
//
// Start with [Pane].
//
// Like every pane, it may import draw, keymap, live, timing, wording, the core and
// the session of agent/runner, but no other pane. The root model routes between
// panes.
package input
