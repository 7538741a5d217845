//go:build unix

package tree

import "syscall"

// NonBlocking makes an open of a pipe return at once, without a writer.
const NonBlocking = syscall.O_NONBLOCK
