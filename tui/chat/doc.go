// Package chat implements the conversation pane: messages, phases, thinking,
// cards of runs and calls, and the search through them. The pane lays out a
// finished block once per width; only the open block is drawn again while it
// streams.
//
// Start with [Pane], which shows blocks, and [Narrator], which writes the blocks of
// a run.
//
// Like every pane, it may import draw, keymap, live, timing, wording, the core and
// the session of agent/runner, but no other pane. The root model routes between
// panes.
package chat
