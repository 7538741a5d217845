package machine

import "golang.org/x/sys/unix"

// Memory returns the memory of the machine in bytes, 0 if it is not known.
func Memory() int64 {
	bytes, err := unix.SysctlUint64("hw.memsize")
	if err != nil {
		return 0
	}
	return int64(bytes) //nolint:gosec // below 8 EB
}
