package dag

import (
	"testing"

	"replan/tui/panetest"
	"replan/tui/wording"
)

func TestCountsShowReadyStepsApart(t *testing.T) {
	l := panetest.DarkLook()
	var c wording.Counts
	c[wording.ClassReady], c[wording.ClassWaits] = 3, 1
	if got, want := panetest.Stripped([]string{countWords(l, &c, asItIs)}), l.Glyphs.Ready+"3 "+l.Glyphs.Pending+"1"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
