//go:build !linux

package tree

import "os"

// ofKernel reports whether the kernel makes the file up. Only Linux has such files.
func ofKernel(*os.File) bool { return false }
