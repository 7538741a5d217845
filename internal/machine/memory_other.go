//go:build !linux && !darwin && !windows

package machine

// Memory returns the memory of the machine in bytes, 0 if it is not known.
func Memory() int64 { return 0 }
