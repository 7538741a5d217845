// Package chat implements the conversation pane: messages, phases, thinking,
// cards of runs and calls, and the search through them. The pane lays out a
// finished block once per width; only the open block is drawn again while it
// streams.
//
// Start with [Pane], which shows blocks, and [Narrator], which writes the blocks of a run.
// Each part owns its data. A [Block] owns its lines, its fold and what the search found in
// it. The viewport owns the list of blocks and the lines in view. A turn owns the text
// that a model writes, and prose the blocks of Markdown. The parts search and codeCopier
// own what the user looks for and copies.
//
// Like every pane, it may import draw, keymap, live, timing, wording, the core and
// the session of agent/runner, but no other pane. The root model routes between
// panes.
package chat
