// Package wholefile writes files atomically: even after a crash, a reader finds
// either the old or the new content.
//
// It imports nothing of replan. Start reading at [Write], [Edit] and [JSON].
package wholefile
