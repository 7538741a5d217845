package panetest

import (
	"testing"

	"replan/tui/answerguard"
	"replan/tui/draw"
	"replan/tui/keymap"
)

// Overlay is a dialog that replaces the panes.
type Overlay interface {
	Part
	View(size draw.Rect) []string
	Shown() bool
	Hints() []keymap.Hint
}

// Drive drives a dialog that replaces the panes of a screen of that size.
func Drive(t testing.TB, d Overlay, k *keymap.Map, width, height int) *Driver {
	t.Helper()
	var guard *answerguard.Guard
	if guarded, ok := d.(interface{ Guard() *answerguard.Guard }); ok {
		guard = guarded.Guard()
	}
	return &Driver{
		T: t, Keys: k, Part: d, Guard: guard, Width: width, Hints: func() []keymap.Hint { return d.Actions().Offered(d.Hints()) },
		Draw: func() []string {
			if !d.Shown() {
				return nil
			}
			return d.View(draw.Rect{W: width, H: height - 2})
		},
	}
}
