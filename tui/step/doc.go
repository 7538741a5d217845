// Package step implements the pane of one step: its arguments, output, diff,
// story and timing.
//
// Start with [Pane]. Its parts are the tabs (tab.go) and what a tab shows (call.go,
// args.go, items.go, output.go, checks.go, diff.go, story.go, timing.go). Others are the
// files of a result (files.go), and the lines in view (sheet.go).
//
// Like every pane, it may import draw, keymap, live, timing, wording, the core and
// the session of agent/runner, but no other pane. The root model routes between
// panes.
package step
