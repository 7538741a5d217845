// Package ask provides the dialog at the bottom of the screen that presents gates,
// questions and doubts to the user. It shows the call with its diff, the reasons
// and the possible answers, and has an editor for arguments.
//
// Start with [Dialog]; [Pending] collects what it asks. Its parts are the requests that wait
// (queue.go), and the document in view with what of it was seen (view.go). Arguments are edited
// in edit.go, files in file.go. answers.go holds the answers that a request accepts, and
// confirm.go those that cover more than one call. The bar with the keys is in bar.go. The
// dialog ignores keys until a moment of quiet has passed, so that keys meant for the input
// answer nothing.
//
// Like every pane, it may import draw, keymap, live, timing, wording, the core and
// the session of agent/runner, but no other pane. The root model routes between
// panes.
package ask
