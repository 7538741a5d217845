package instructions

import "io/fs"

// holderOf knows nobody: here modes say nothing of who may write.
func holderOf(fs.FileInfo) (holder, bool) { return holder{}, false }
