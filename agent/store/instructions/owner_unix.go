//go:build !windows

package instructions

import (
	"io/fs"
	"syscall"
)

// holderOf returns the owner of a file.
func holderOf(info fs.FileInfo) (holder, bool) {
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return holder{}, false
	}
	return holder{int(stat.Uid), int(stat.Gid)}, true
}
