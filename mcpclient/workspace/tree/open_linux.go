package tree

import (
	"os"
	"slices"
	"syscall"
)

// ofKernel reports whether the kernel makes the file up: whether it lies in
// procfs, sysfs, debugfs or tracefs.
func ofKernel(f *os.File) bool {
	var fs syscall.Statfs_t
	if err := syscall.Fstatfs(int(f.Fd()), &fs); err != nil {
		return false
	}
	return slices.Contains([]int64{0x9fa0, 0x62656572, 0x64626720, 0x74726163}, int64(fs.Type)) //nolint:unconvert // narrower elsewhere
}
