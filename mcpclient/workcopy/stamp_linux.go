package workcopy

import (
	"io/fs"
	"syscall"
)

// changed returns when a file last changed in any way, which no program can set, and
// its number in the file system.
func changed(info fs.FileInfo) (at int64, inode uint64) {
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		return s.Ctim.Nano(), s.Ino
	}
	return 0, 0
}
