//go:build !unix

package ask

// singleKeys reports that answers are lines on this system.
func singleKeys(uintptr) (restore func(), ok bool) { return nil, false }
