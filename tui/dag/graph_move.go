package dag

import (
	planlayout "replan/planning/plan/layout"
	"replan/tui/draw"
)

// graphAt returns the node of the selection, or -1.
func (d *Pane) graphAt() int {
	g := &d.Graph
	if i, ok := g.find[d.Selected]; ok {
		return i
	}
	at := d.Position()
	if at < 0 {
		return -1
	}
	key := ""
	switch r := &d.outline.Rows[at]; {
	case r.owner != nil:
		key = r.owner.Step.Index
	case r.Group != nil && len(r.Group.members) > 0:
		key = d.chart.Steps[r.Group.members[0]].Step.Index
	}
	if i, ok := g.find[key]; ok {
		return i
	}
	return -1
}

// neighbor returns the nearest box in a direction from a node, with dy 1 for one
// row down, or -1 if there is none. It prefers boxes connected by a line.
func (g *Graph) neighbor(at, dx, dy int) int {
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
func (g *Graph) nearestJoined(at, along int) int {
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
func (g *Graph) middle(i int) (x, y int) {
	b := g.layers.Boxes[i]
	return 2*b.X + b.W, 2 * (2*b.Y + b.H)
}

// distance returns the distance between two boxes.
func (g *Graph) distance(i, j int) int {
	x1, y1 := g.middle(i)
	x2, y2 := g.middle(j)
	return max(x1-x2, x2-x1) + max(y1-y2, y2-y1)
}

// beside returns the next box of the same layer, or -1.
func (g *Graph) beside(at, by int) int {
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
func (g *Graph) nearestBox(at, dx, dy int) int {
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
func (g *Graph) page(at, n int) int {
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
		return len(g.chart.Steps) - 1
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

// chooseNode selects a node of the graph, if there is one.
func (d *Pane) chooseNode(i int) {
	if i >= 0 {
		d.selectKey(d.Graph.nodes[i].Key)
	}
}

// moveGraph moves the selection to the nearest box in a direction, with dy 1
// for one row down.
func (d *Pane) moveGraph(dx, dy int) {
	d.chooseNode(d.Graph.neighbor(d.graphAt(), dx, dy))
}

// zoomGraph enlarges or shrinks the steps, and returns a message if it cannot.
func (d *Pane) zoomGraph(by int) (word string) {
	d.drawn = false
	return d.Graph.resize(by)
}

// panGraph scrolls the view by cells and keeps the selection.
func (d *Pane) panGraph(dx, dy int) {
	if d.Graph.pan(dx, dy) {
		d.Follow, d.drawn = false, false
	}
}

// pan scrolls the view by cells, and reports whether it moved.
func (g *Graph) pan(dx, dy int) bool {
	x, y := inDrawing(g.x+dx, g.layers.Width, g.width), inDrawing(g.y+dy, g.layers.Height, g.body())
	if x == g.x && y == g.y {
		return false
	}
	g.x, g.y, g.loose = x, y, true
	return true
}

// nodeIn returns the node whose box is at a cell of the pane, or -1.
func (g *Graph) nodeIn(x, y int) int {
	for i, b := range g.layers.Boxes {
		if (draw.Rect{X: b.X, Y: b.Y, W: b.W, H: b.H}).Contains(x+g.x, y+g.y) {
			return i
		}
	}
	return -1
}

// resize enlarges or shrinks the steps, and returns a message if it cannot.
func (g *Graph) resize(by int) (word string) {
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

// turnGraph switches between list and graph, and returns a message that names
// the new view.
func (d *Pane) turnGraph() (word string) {
	g := &d.Graph
	g.loose, d.drawn, d.Mapped = false, false, false
	if d.ShowsGraph() {
		g.Mode = GraphNever
		return "The plan is shown as a list."
	}
	g.Mode = graphAlways
	return "The plan is shown as a graph."
}

// ShowsGraph reports whether the graph replaces the list.
func (d *Pane) ShowsGraph() bool {
	d.layout()
	return d.Graph.layout(d.Width, d.Height, d.filter.on())
}
