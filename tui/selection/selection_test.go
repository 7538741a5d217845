package selection

import (
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"replan/tui/draw"
	"replan/tui/panetest"
)

// noChat is a chat without text.
type noChat struct{}

func (noChat) Visible() []draw.SpotLine    { return nil }
func (noChat) LinesOf(int) []draw.TextLine { return nil }
func (noChat) Track(...*draw.Spot)         {}
func (noChat) Scroll(int)                  {}
func (noChat) TurnFold(int)                {}

var (
	page = []string{
		"│ left        │ right         │",
		"│ one two     │ see a/b.go: x │",
		"│ other       │ end           │",
	}
	right = draw.Rect{X: 16, Y: 0, W: 13, H: 3}
)

func TestDragSelectsWithinItsArea(t *testing.T) {
	s := New(panetest.DarkLook(), noChat{})
	s.Start(tea.Mouse{X: 20, Y: 1}, time.Time{}, right, false, page)
	s.Drag(tea.Mouse{X: 3, Y: 5})
	screen := append([]string(nil), page...)
	s.Highlight(screen)
	if screen[0] != page[0] || screen[1] == page[1] || ansi.Strip(screen[1]) != page[1] {
		t.Errorf("highlighted %q", screen)
	}
	if got, want := s.Release(page), "a/b.go: x\ne"; got != want {
		t.Errorf("selected %q, want %q", got, want)
	}
	s.ScreenScrolled()
	screen = append(screen[:0], page...)
	if s.Highlight(screen); strings.Join(screen, "") != strings.Join(page, "") {
		t.Errorf("still highlighted %q", screen)
	}
}

func TestQuickClicksSelectAWordThenALine(t *testing.T) {
	s := New(panetest.DarkLook(), noChat{})
	for i, want := range []string{"", "a/b.go:", "see a/b.go: x"} {
		s.Start(tea.Mouse{X: 21, Y: 1}, time.Time{}, right, false, page)
		if got := s.Release(page); got != want || s.SeveralClicks() != (i > 0) {
			t.Errorf("click %d selects %q, want %q", i+1, got, want)
		}
	}
}

func TestFramedFindsTheInsideOfTheOutermostFrame(t *testing.T) {
	if got, want := Framed(page, "│", 18, 1), (draw.Rect{X: 2, Y: 0, W: 27, H: 3}); got != want {
		t.Errorf("got %v, want %v", got, want)
	}
	if got := Framed(page, "║", 18, 1); got != (draw.Rect{}) {
		t.Errorf("got %v without a frame", got)
	}
}
