// Package wholefile writes files whole or not at all: what a reader finds, also
// after a crash, is the old content or the new one. It has a way of its own on
// Windows, where github.com/google/renameio does nothing.
//
// It imports nothing of replan. Start reading at [Write].
package wholefile
