//go:build unix

package tree

import "syscall"

// NonBlocking has the opening of a pipe not wait for who writes to it.
const NonBlocking = syscall.O_NONBLOCK
