//go:build unix

package tui

// RunSuspension stops the program by stop and returns once it continues.
func RunSuspension(stop func() error) error { return suspension{stop: stop}.Run() }
