package panes

import (
	"testing"

	"pgregory.net/rapid"
)

// drawnLayout draws a layout of any size with any kept sizes.
func drawnLayout(t *rapid.T) (Layout, split) {
	var r split
	r.chat, r.plan = rapid.IntRange(0, 99).Draw(t, "chat"), rapid.IntRange(0, 99).Draw(t, "plan")
	r.zoomed = rapid.Bool().Draw(t, "zoomed")
	width, height := rapid.IntRange(40, 200).Draw(t, "width"), rapid.IntRange(12, 60).Draw(t, "height")
	w := demands{
		input: rapid.IntRange(1, 9).Draw(t, "input"), sheet: rapid.IntRange(0, 40).Draw(t, "sheet"), split: r,
		empty: rapid.Bool().Draw(t, "empty"), focus: Pane(rapid.IntRange(0, int(Panes)-1).Draw(t, "focus")),
	}
	return arrange(width, height, w), r
}

// TestGateTakesTheLinesItNeeds: the panes above keep the rest, unless that shows
// nothing of use.
func TestGateTakesTheLinesItNeeds(t *testing.T) {
	for name, c := range map[string]struct{ height, wants, gate int }{
		"a short call":               {height: 36, wants: 12, gate: 12},
		"a diff of most lines":       {height: 36, wants: 28, gate: 28},
		"a diff that leaves little":  {height: 36, wants: 29, gate: 34},
		"a diff that does not fit":   {height: 60, wants: 90, gate: 58},
		"a low screen":               {height: 24, wants: 17, gate: 22},
		"a low screen, a short call": {height: 24, wants: 16, gate: 16},
	} {
		t.Run(name, func(t *testing.T) {
			if got := arrange(120, c.height, demands{input: 1, sheet: c.wants}); got.Sheet.H != c.gate || got.Sheet.H+got.Body.H != c.height-2 {
				t.Errorf("the gate takes %d lines, the panes %d; want %d for the gate", got.Sheet.H, got.Body.H, c.gate)
			}
		})
	}
}

func TestEveryPaneKeepsItsMinimumSize(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l, _ := drawnLayout(t)
		if !l.Wide || l.Body.H == 0 {
			return
		}
		if l.Left.W+l.Right.W != l.Width {
			t.Fatalf("the columns of %d and %d cells do not fill %d", l.Left.W, l.Right.W, l.Width)
		}
		if both := l.Left.W > 0 && l.Right.W > 0; both && (l.Left.W < leastColumn || l.Right.W < leastColumn) {
			t.Fatalf("a column is too narrow: %d and %d cells", l.Left.W, l.Right.W)
		}
		if l.Plan.H == 0 || l.Step.H == 0 {
			return
		}
		if l.Plan.H < leastRows || l.Step.H < leastRows {
			t.Fatalf("a pane is too low: plan %d, step %d lines", l.Plan.H, l.Step.H)
		}
		if got := l.Plan.H + 1 + l.Step.H; got != l.Right.H-2 {
			t.Fatalf("plan and step take %d of %d lines", got, l.Right.H-2)
		}
	})
}

func TestBordersFollowKeysAndMouse(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l, r := drawnLayout(t)
		by := rapid.SampledFrom([]int{-1, 1}).Draw(t, "by")
		if l.Wide && l.Left.W > 0 && l.Right.W > 0 {
			if at := l.border(l.Left.W-rapid.IntRange(0, 1).Draw(t, "side"), l.Body.Y+1); at != chatBorder {
				t.Fatalf("the mouse finds the border %d, want that of the chat", at)
			}
			to, dragged := rapid.IntRange(-9, l.Width+9).Draw(t, "to"), r
			dragged.moveTo(l, chatBorder, to, 0)
			want := max(min(to+1, l.Width-leastColumn), leastColumn)
			if got := dragged.columns(l.Width); got < want-1 || got > want+1 {
				t.Fatalf("dragged to %d: the chat has %d of %d cells", to, got, l.Width)
			}
			why := r.nudge(l, chatBorder, by)
			checkNudge(t, by, l.Left.W, r.columns(l.Width), leastColumn, l.Width-leastColumn, why)
		}
		if l.Wide && l.Plan.H > 0 && l.Step.H > 0 {
			if at := l.border(l.Step.X+1, l.Step.Y-1); at != planBorder {
				t.Fatalf("the mouse finds the border %d, want that of the plan", at)
			}
			both, to, dragged := l.Plan.H+l.Step.H, rapid.IntRange(-9, l.Height+9).Draw(t, "to"), r
			dragged.moveTo(l, planBorder, 0, to)
			if got, want := dragged.rows(both), max(min(to-l.Plan.Y, both-leastRows), leastRows); got != want {
				t.Fatalf("dragged to %d: the plan has %d of %d lines, want %d", to, got, both, want)
			}
			why := r.nudge(l, planBorder, by)
			checkNudge(t, by, l.Plan.H, r.rows(both), leastRows, both-leastRows, why)
		}
	})
}

func TestHeldBorderStaysWhereItsPanesAreGone(t *testing.T) {
	for _, l := range []Layout{{Width: 60, Height: 20}, {Width: 120, Height: 36, Wide: true}} {
		for _, b := range []border{noBorder, chatBorder, planBorder} {
			r := split{sizes: sizes{chat: 40, plan: 30}}
			if r.moveTo(l, b, 5, 5) || r.sizes != (sizes{chat: 40, plan: 30}) {
				t.Errorf("border %d moved to %+v without panes", b, r.sizes)
			}
		}
	}
}

func TestSharesOutOfRangeAreNotTaken(t *testing.T) {
	for _, text := range []string{"0", "100", "-5", "wide"} {
		r := split{sizes: sizes{chat: 40}}
		if r.set(ChatWidth, &text); r.chat != 40 {
			t.Errorf("%q is taken as %d", text, r.chat)
		}
	}
}

// checkNudge checks that a key moves a border, or says why it cannot.
func checkNudge(t *rapid.T, by, before, after, least, most int, why string) {
	stays := by < 0 && before == least || by > 0 && before == most
	if stays && (why == "" || after != before) || !stays && (why != "" || (after-before)*by <= 0) {
		t.Fatalf("by %d from %d to %d, between %d and %d; said %q", by, before, after, least, most, why)
	}
}

func TestZoomStartsWithTheFocusedPaneAndEndsThere(t *testing.T) {
	for _, c := range []struct {
		from, other Pane
	}{{Chat, Plan}, {Plan, Chat}, {Step, Chat}} {
		var r split
		if got := r.zoom(c.from); got != c.from || !r.zoomed {
			t.Errorf("from %v: the first zoom shows %v", c.from, got)
		}
		if got := r.zoom(c.from); got != c.other || !r.zoomed {
			t.Errorf("from %v: the second zoom shows %v", c.from, got)
		}
		if got := r.zoom(c.other); got != c.from || r.zoomed {
			t.Errorf("from %v: the third zoom returns to %v", c.from, got)
		}
		r.zoom(c.from)
		if got := r.zoom(c.other); got != c.other || r.zoomed {
			t.Errorf("from %v: after a change of pane the zoom shows %v, zoomed %v", c.from, got, r.zoomed)
		}
	}
}
