package dag

import (
	planlayout "replan/planning/plan/layout"
	"replan/tui/draw"
)

// at returns the node of the selection, or -1: that of its key, else of the step that its row
// belongs to. The row is nil if none is selected.
func (g *graph) at(key string, r *Row) int {
	if i, ok := g.find[key]; ok {
		return i
	}
	if r == nil {
		return -1
	}
	key = ""
	switch {
	case r.owner != nil:
		key = r.owner.Step.Index
	case r.Group != nil && len(r.Group.Members()) > 0:
		key = g.plan.Chart.Steps[r.Group.Members()[0]].Step.Index
	}
	if i, ok := g.find[key]; ok {
		return i
	}
	return -1
}

// key returns the key of a node.
func (g *graph) key(i int) string { return g.nodes[i].Key }

// neighbor returns the nearest box in a direction from a node, with dy 1 for one
// row down, or -1 if there is none. It prefers boxes connected by a line.
func (g *graph) neighbor(at, dx, dy int) int {
	if at < 0 {
		return 0
	}
	along := dy
	if g.layers.Direction == planlayout.Right {
		along = dx
	}
	if along == 0 {
		return g.beside(at, dx+dy)
	}
	if to := g.nearestJoined(at, along); to >= 0 {
		return to
	}
	return g.nearestBox(at, dx, dy)
}

// nearestJoined returns the nearest dependency or dependent of a node, or -1.
func (g *graph) nearestJoined(at, along int) int {
	best, least := -1, 0
	consider := func(i int) {
		if far := g.distance(at, i); best < 0 || far < least {
			best, least = i, far
		}
	}
	if along < 0 {
		for _, p := range g.deps[at] {
			consider(p)
		}
		return best
	}
	for i, deps := range g.deps {
		for _, p := range deps {
			if p == at {
				consider(i)
			}
		}
	}
	return best
}

// middle returns the center of a box in half cells. Rows count twice, since
// cells are about twice as high as wide.
func (g *graph) middle(i int) (x, y int) {
	b := g.layers.Boxes[i]
	return 2*b.X + b.W, 2 * (2*b.Y + b.H)
}

// distance returns the distance between two boxes.
func (g *graph) distance(i, j int) int {
	x1, y1 := g.middle(i)
	x2, y2 := g.middle(j)
	return max(x1-x2, x2-x1) + max(y1-y2, y2-y1)
}

// beside returns the next box of the same layer, or -1.
func (g *graph) beside(at, by int) int {
	best := -1
	self := g.layers.Boxes[at]
	for i, b := range g.layers.Boxes {
		if b.Layer != self.Layer || (b.Place-self.Place)*by <= 0 {
			continue
		}
		if best < 0 || (b.Place-g.layers.Boxes[best].Place)*by < 0 {
			best = i
		}
	}
	return best
}

// nearestBox returns the nearest box in a direction, or -1. A sideways offset
// increases the distance.
func (g *graph) nearestBox(at, dx, dy int) int {
	best, least := -1, 0
	x, y := g.middle(at)
	for i := range g.layers.Boxes {
		ox, oy := g.middle(i)
		ahead, aside := (ox-x)*dx+(oy-y)*dy, (ox-x)*dy+(oy-y)*dx
		if ahead <= 0 || g.layers.Boxes[i].Layer == g.layers.Boxes[at].Layer {
			continue
		}
		if far := ahead + 2*max(aside, -aside); best < 0 || far < least {
			best, least = i, far
		}
	}
	return best
}

// page returns the node n rows from another: the next box, as many boxes as fill
// n cells, or the first or the last. It returns -1 if there is none.
func (g *graph) page(at, n int) int {
	by := 1
	if n < 0 {
		n, by = -n, -1
	}
	switch {
	case n == 1:
		return g.neighbor(at, 0, by)
	case n > g.layers.Height && by < 0:
		return 0
	case n > g.layers.Height:
		return len(g.plan.Chart.Steps) - 1
	}
	_, from := g.middle(max(at, 0))
	for to := -1; ; {
		next := g.neighbor(at, 0, by)
		if next < 0 {
			return to
		}
		at, to = next, next
		if _, y := g.middle(to); max(y-from, from-y) >= 4*n {
			return to
		}
	}
}

// pan scrolls the view by cells, and reports whether it moved.
func (g *graph) pan(dx, dy int) bool {
	x, y := inDrawing(g.x+dx, g.layers.Width, g.width), inDrawing(g.y+dy, g.layers.Height, g.body())
	if x == g.x && y == g.y {
		return false
	}
	g.x, g.y, g.loose = x, y, true
	return true
}

// nodeIn returns the node whose box is at a cell of the pane, or -1.
func (g *graph) nodeIn(x, y int) int {
	for i, b := range g.layers.Boxes {
		if (draw.Rect{X: b.X, Y: b.Y, W: b.W, H: b.H}).Contains(x+g.x, y+g.y) {
			return i
		}
	}
	return -1
}

// resize enlarges or shrinks the steps, and returns a message if it cannot.
func (g *graph) resize(by int) (word string) {
	z := g.scale.zoom + zoom(by)
	switch {
	case z < zoomSigns:
		return "The steps cannot get smaller."
	case z > zoomBox:
		return "The steps cannot get larger."
	}
	g.zoom, g.loose = z, false
	return ""
}
