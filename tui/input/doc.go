// Package input provides the text field with completion, input history and
// placeholders for long pasted texts.
//
// Start with [Input].
//
// Like every pane, it imports draw, keymap, telling, timing and the core, but no
// other pane. The root model routes between panes.
package input
