package tui

// rect is a part of the screen, in cells.
type rect struct{ x, y, w, h int }

func (r rect) contains(x, y int) bool {
	return x >= r.x && x < r.x+r.w && y >= r.y && y < r.y+r.h
}

// wideFrom is the width from which the panes stand side by side; below it they
// are tabs.
const wideFrom = 100
