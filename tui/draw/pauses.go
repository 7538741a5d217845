package draw

import (
	"cmp"
	"time"

	"replan/tui/answerguard"
)

// Pauses are the delays the screen applies on its own. Zero fields have the
// usual length, and negative ones are no delay.
type Pauses struct {
	// Grace is how long no key may be pressed before a newly opened dialog accepts one. So
	// keys typed for the input do not answer it. Questions without the screen have
	// ask.QuietTime for it.
	Grace time.Duration
	// Answer is how long a letter that answers a dialog waits for another one, which
	// makes both a text for the input.
	Answer time.Duration
	// Check is how long typing must pause before an editor checks its text
	// against the schema.
	Check time.Duration
	// Toast is how long a notice stays, and NextToast how much longer the
	// following one stays.
	Toast, NextToast time.Duration
}

// Usual returns p with its zero fields set to the defaults.
func (p Pauses) Usual() Pauses {
	return Pauses{
		Grace:     cmp.Or(p.Grace, answerguard.QuietTime),
		Answer:    cmp.Or(p.Answer, answerguard.AnswerTime),
		Check:     cmp.Or(p.Check, 600*time.Millisecond),
		Toast:     cmp.Or(p.Toast, 4*time.Second),
		NextToast: cmp.Or(p.NextToast, 1500*time.Millisecond),
	}
}
