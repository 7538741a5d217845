// Package wholefile writes files atomically: even after a crash, a reader finds
// either the old or the new content. It has its own implementation on Windows,
// where github.com/google/renameio does nothing.
//
// It imports nothing of replan. Start reading at [Write], [Edit] and [JSON].
package wholefile
