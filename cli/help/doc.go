// Package help describes commands and their flags: which flags concern which
// command, in which groups, and the text of --help.
//
// It imports cobra and no other package of replan. Start reading at [Write].
package help
