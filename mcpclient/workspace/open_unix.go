//go:build unix

package workspace

import "syscall"

// nonBlocking has the opening of a pipe not wait for who writes to it.
const nonBlocking = syscall.O_NONBLOCK
