package draw

import (
	"cmp"
	"time"
)

// Pauses are the times that the screen waits for by itself. A field that is zero
// has the usual length.
type Pauses struct {
	// Grace is how long no key may have been pressed before a dialog that has just
	// opened takes one. Keys that were meant for the input answer nothing.
	Grace time.Duration
	// Check is how long nothing may have been typed into an editor before its text
	// is checked against the schema.
	Check time.Duration
	// Toast is how long a notice stands, and NextToast how long the one after it
	// stands longer.
	Toast, NextToast time.Duration
}

// Usual fills the fields that are zero.
func (p Pauses) Usual() Pauses {
	return Pauses{
		Grace:     cmp.Or(p.Grace, 400*time.Millisecond),
		Check:     cmp.Or(p.Check, 600*time.Millisecond),
		Toast:     cmp.Or(p.Toast, 4*time.Second),
		NextToast: cmp.Or(p.NextToast, 1500*time.Millisecond),
	}
}
