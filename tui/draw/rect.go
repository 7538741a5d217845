package draw

// Rect is a part of the screen, in cells.
type Rect struct{ X, Y, W, H int }

// Contains reports whether a cell is in the rectangle.
func (r Rect) Contains(x, y int) bool {
	return x >= r.X && x < r.X+r.W && y >= r.Y && y < r.Y+r.H
}

// WideFrom is the width, in cells, from which panes are side by side; on
// narrower screens they are tabs.
const WideFrom = 100
