// Package slash parses and runs commands typed into the chat. It defines the
// table of commands, how a line is split into words, and how commands, flags,
// help and completions work. The table's entries define what a command does; the
// shell's commands are built from the same entries.
//
// It imports agent/session for completions and agent/runner for answers. Start
// reading at [Command].
package slash
