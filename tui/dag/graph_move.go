package dag

import (
	planlayout "replan/planning/plan/layout"
	"replan/tui/draw"
)

// MoveGraph moves the selection to the nearest box in a direction, with dy 1
// for one row down. It prefers boxes connected by a line.
func (d *Pane) MoveGraph(dx, dy int) {
	g := &d.Graph
	at := d.graphAt()
	if at < 0 {
		d.chooseNode(0)
		return
	}
	along := dy
	if g.layers.Direction == planlayout.Right {
		along = dx
	}
	var to int
	switch {
	case along != 0:
		if to = d.nearestJoined(at, along); to < 0 {
			to = g.nearestBox(at, dx, dy)
		}
	default:
		to = g.beside(at, dx+dy)
	}
	if to >= 0 {
		d.chooseNode(to)
	}
}

// nearestJoined returns the nearest dependency or dependent of a node, or -1.
func (d *Pane) nearestJoined(at, along int) int {
	g := &d.Graph
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
func (g *planGraph) middle(i int) (x, y int) {
	b := g.layers.Boxes[i]
	return 2*b.X + b.W, 2 * (2*b.Y + b.H)
}

// distance returns the distance between two boxes.
func (g *planGraph) distance(i, j int) int {
	x1, y1 := g.middle(i)
	x2, y2 := g.middle(j)
	return max(x1-x2, x2-x1) + max(y1-y2, y2-y1)
}

// beside returns the next box of the same layer, or -1.
func (g *planGraph) beside(at, by int) int {
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
func (g *planGraph) nearestBox(at, dx, dy int) int {
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

// pageGraph moves the selection by rows: by one box, by as many as fill n
// cells, or to the first or last.
func (d *Pane) pageGraph(n int) {
	g := &d.Graph
	by := 1
	if n < 0 {
		n, by = -n, -1
	}
	switch {
	case n == 1:
		d.MoveGraph(0, by)
	case n > g.layers.Height && by < 0:
		d.chooseNode(0)
	case n > g.layers.Height:
		d.chooseNode(len(d.Chart.Steps) - 1)
	default:
		_, from := g.middle(max(d.graphAt(), 0))
		for {
			at := d.graphAt()
			if d.MoveGraph(0, by); d.graphAt() == at {
				return
			}
			if _, y := g.middle(d.graphAt()); max(y-from, from-y) >= 4*n {
				return
			}
		}
	}
}

func (d *Pane) chooseNode(i int) {
	d.selectKey(d.Graph.nodes[i].Key)
	d.Graph.Loose = false
}

// PanGraph scrolls the view by cells and keeps the selection.
func (d *Pane) PanGraph(dx, dy int) {
	g := &d.Graph
	x, y := inDrawing(g.x+dx, g.layers.Width, d.Width), inDrawing(g.y+dy, g.layers.Height, d.graphHeight())
	if x != g.x || y != g.y {
		g.x, g.y, g.Loose, d.Follow, d.drawn = x, y, true, false, false
	}
}

// clickGraph selects the box at a cell of the pane and turns off follow.
func (d *Pane) clickGraph(x, y int) {
	g := &d.Graph
	for i, b := range g.layers.Boxes {
		if (draw.Rect{X: b.X, Y: b.Y, W: b.W, H: b.H}).Contains(x+g.x, y+g.y) {
			d.selectKey(g.nodes[i].Key)
			g.Loose = true // keep what is under the pointer in place
			return
		}
	}
}

// ZoomGraph enlarges or shrinks the steps, and returns a message if it cannot.
func (d *Pane) ZoomGraph(by int) (word string) {
	g := &d.Graph
	z := g.scale.zoom + zoom(by)
	switch {
	case z < zoomSigns:
		return "The steps are as small as they can be."
	case z > zoomBox:
		return "The steps are as large as they can be."
	}
	g.zoom, g.Loose, d.drawn = z, false, false
	return ""
}

// TurnGraph switches between list and graph, and returns a message that names
// the new view.
func (d *Pane) TurnGraph() (word string) {
	g := &d.Graph
	g.Loose, d.drawn = false, false
	if d.ShowsGraph() {
		g.Mode = GraphNever
		return "The plan is shown as a list."
	}
	g.Mode = graphAlways
	return "The plan is shown as a graph."
}

// ShowsGraph reports whether the graph replaces the list.
func (d *Pane) ShowsGraph() bool {
	d.Layout()
	return d.LayoutGraph()
}
