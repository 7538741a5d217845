// Package slash is the language of commands that are typed into the chat: a
// table of commands, how a line is split into words, which command it names, its
// flags, its help, and what can be completed. What a command does stands in the
// table; the shell's commands are made of the same entries.
//
// It imports agent/session for completions and agent/runner for answers. Start
// reading at [Command].
package slash
