//go:build !linux

package tree

import "os"

// ofKernel reports whether a file is none; no other system has such.
func ofKernel(*os.File) bool { return false }
