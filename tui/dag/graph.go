package dag

import (
	"fmt"
	"slices"

	"github.com/charmbracelet/x/ansi"

	"replan/agent"
	"replan/planning/plan"
	planlayout "replan/planning/plan/layout"
	"replan/tui/draw"
	"replan/tui/wording"
)

// graphMode is how the pane shows the plan.
type graphMode int

// Modes of the plan pane.
const (
	graphWhereFits graphMode = iota // a graph if all of it fits the pane, most titles are whole, and it shows more than the list
	graphNever
	graphAlways
)

// zoom is the level of detail of a step in the graph.
type zoom int

const (
	zoomAuto  zoom = iota
	zoomSigns      // sign and number
	zoomLine       // also title and time, in one line
	zoomBox        // also the tool, in a box
)

// graph is the plan drawn as boxes with lines between them. It is laid out
// again when the plan or its size changes; only the visible part is drawn.
type graph struct {
	plan          *shownPlan
	styles        *draw.Styles
	width, height int // of the pane, in cells

	mode   graphMode
	zoom   zoom // requested by the user
	mapped bool // it takes the whole screen

	built  graphFace
	shown  bool // it replaces the list
	nodes  []graphNode
	find   map[string]int // node of each key
	deps   planlayout.Graph
	before []planlayout.Set // transitive dependencies of each node
	layers *planlayout.Layers
	scale  graphScale

	reason string // reason for the newest revision, shown below the drawing
	x, y   int    // cell of the drawing at the top left
	loose  bool   // the user scrolled the view, so it need not show the selection
}

// newGraph returns the graph of a plan, shown as an earlier one was; nil means none.
func newGraph(l *draw.Styles, v *shownPlan, was *graph) *graph {
	g := &graph{plan: v, styles: l}
	if was != nil {
		g.mode, g.zoom, g.mapped = was.mode, was.zoom, was.mapped
	}
	return g
}

// fill sets whether the graph takes the whole screen, and reports whether that is new.
func (g *graph) fill(screen bool) bool {
	was := g.mapped
	g.mapped = screen
	return was != screen
}

// hold keeps the selection in view from now on.
func (g *graph) hold() { g.loose = false }

// leave lets the selection be out of view, so that what is under the pointer stays.
func (g *graph) leave() { g.loose = true }

// setMode sets when the graph replaces the list.
func (g *graph) setMode(m graphMode) { g.mode, g.loose = m, false }

// fits reports whether all of the graph is in a view of that width.
func (g *graph) fits(width int) bool {
	return g.layers.Width <= width && g.layers.Height <= g.body()
}

// graphFace is everything the layout depends on.
type graphFace struct {
	chart         *chart
	revision      int
	unfolded      bool
	ready         bool
	filtered      bool
	width, height int
	mode          graphMode
	zoom          zoom
	mapped        bool
}

// graphNode is a step of the plan, or one that the newest revision removed.
type graphNode struct {
	Row
	done bool // its outgoing lines are drawn as passed
}

// graphScale is the size of the boxes.
type graphScale struct {
	zoom      zoom
	direction planlayout.Direction
	mark      int // cells for the revision mark
	index     int
	title     int
	tool      int
	snug      bool // boxes are as narrow as possible, even if lines leave off-center
}

// graphState is the width of a box's time or status word, in cells.
const graphState = 7

// graphTool is the maximum width of a box's tool, in cells, if its title is
// shorter.
const graphTool = 14

// graphNarrow is the pane width, in cells, below which a graph drops titles if
// it then shows more of the plan. Two boxes with titles barely fit such a pane.
const graphNarrow = 100

// graphTitles are the widths titles may be cut to, in cells, best first.
var graphTitles = []int{64, 48, 40, 32, 28, 24, 21, 18, 15}

// graphCut is the width of titles, in cells, that are worth a part of the graph out of view.
const graphCut = 21

// graphBeside is the maximum number of nodes for which fit tries to fit
// the pane.
const graphBeside = 60

// layout updates the graph for a pane of that size, and reports whether the
// graph replaces the list. A filtered plan is always a list.
func (g *graph) layout(width, height int, filtered bool) bool {
	if g.plan.Run == nil || g.plan.Chart == nil || len(g.plan.Chart.Steps) == 0 {
		g.shown, g.built = false, graphFace{}
		return false
	}
	face := graphFace{
		chart: g.plan.Chart, revision: g.plan.Run.Revision, ready: g.plan.Run.Revision > 0, filtered: filtered,
		width: width, height: height, mode: g.mode, zoom: g.zoom, mapped: g.mapped,
	}
	if newest := g.plan.newest(); newest != nil {
		face.unfolded = g.plan.unfolded(newest)
	}
	if face == g.built {
		return g.shown
	}
	g.width, g.height = width, height
	if was := g.built; was.chart != face.chart || was.unfolded != face.unfolded || was.revision != face.revision {
		g.gatherNodes()
	}
	g.built = face
	switch {
	case face.filtered, g.mode == graphNever && !g.mapped:
		g.shown = false
	case g.mode == graphWhereFits && !g.mapped:
		g.shown = face.ready && len(g.plan.Chart.withInner()) == 0 && g.branches() && g.fit() && g.legible()
	default:
		g.shown = true
		if g.zoom != zoomAuto || !g.fit() {
			g.rescale()
		}
	}
	return g.shown
}

// body returns the number of lines for the drawing. The last line of the
// pane is for the reason of a revision.
func (g *graph) body() int {
	if g.reason != "" && g.height > 3 {
		return g.height - 1
	}
	return g.height
}

// gatherNodes collects the boxes: the steps of the plan, and the steps removed
// by the newest revision after their former dependencies.
func (g *graph) gatherNodes() {
	c := g.plan.Chart
	g.nodes, g.deps, g.reason = nil, nil, ""
	for i, s := range c.Steps {
		g.nodes = append(g.nodes, graphNode{Row: Row{Kind: RowStep, Key: s.Step.Index, Step: s, at: i}})
		g.deps = append(g.deps, c.dependencies(i))
	}
	if newest := g.plan.newest(); newest != nil && newest.Reason != "" {
		g.reason = fmt.Sprintf("rev %d: because %s", newest.Number, wording.Cause(newest.Reason))
	}
	if newest := g.plan.newest(); newest != nil && g.plan.unfolded(newest) {
		g.gatherGone(newest)
	}
	g.deps = g.deps.Reduce()
	g.before = g.deps.Ancestors()
	g.find = make(map[string]int, len(g.nodes))
	for i := range g.nodes {
		g.find[g.nodes[i].Key] = i
	}
}

// gatherGone adds boxes for the steps that a revision removed. Each keeps the
// edges to dependencies that still exist or were removed with it.
func (g *graph) gatherGone(r *agent.Revision) {
	c := g.plan.Chart
	removed := make(map[string]*agent.StepState, len(r.Removed))
	var before plan.Plan
	for i := range r.Removed {
		s := &r.Removed[i]
		removed[s.Step.Index] = s
		before.Steps = append(before.Steps, s.Step)
	}
	for _, s := range c.Steps {
		if removed[s.Step.Index] == nil && !slices.Contains(r.Added, s.Step.Index) {
			before.Steps = append(before.Steps, s.Step)
		}
	}
	graph, node := plan.NewGraph(before), map[string]int{}
	for _, index := range executionOrder(graph, before) {
		s := removed[index]
		if s == nil {
			node[index], _ = c.position(index)
			continue
		}
		var deps []int
		for _, name := range graph.Dependencies(index) {
			if at, ok := node[name]; ok {
				deps = append(deps, at)
			}
		}
		node[index] = len(g.nodes)
		g.nodes = append(g.nodes, graphNode{Row: Row{Kind: RowGone, Key: removedKey(r, index), Step: s, Revision: r}})
		g.deps = append(g.deps, deps)
	}
}

// branches reports whether the graph shows more than the list does: whether
// some line splits or joins.
func (g *graph) branches() bool {
	users := make([]int, len(g.deps))
	for _, deps := range g.deps {
		if len(deps) > 1 {
			return true
		}
		for _, p := range deps {
			if users[p]++; users[p] > 1 {
				return true
			}
		}
	}
	return false
}

// legible reports whether the graph cuts at most half of the titles. The list, which has
// more room for them, is better otherwise.
func (g *graph) legible() bool {
	cut := 0
	for i := range g.nodes {
		if ansi.StringWidth(g.nodes[i].Step.Step.Title.Line()) > g.scale.title {
			cut++
		}
	}
	return 2*cut <= len(g.nodes)
}

// fit lays out the graph to fit the pane, as large as possible with
// legible titles, and reports whether it fits.
func (g *graph) fit() bool {
	if len(g.nodes) > graphBeside {
		return false
	}
	for _, title := range graphTitles {
		for _, zoom := range []zoom{zoomBox, zoomLine} {
			for _, direction := range []planlayout.Direction{planlayout.Down, planlayout.Right} {
				s := g.measure(zoom, direction, title)
				s.snug = !g.room(s)
				if g.room(s) && g.try(s) && g.layers.Width <= g.width && g.layers.Height <= g.body() {
					g.x, g.y, g.loose = 0, 0, false
					return true
				}
			}
		}
	}
	return false
}

// rescale lays out the graph at the zoom the user chose. Without one, it
// keeps titles legible and as little as possible out of view.
func (g *graph) rescale() {
	title := graphCut
	want, direction := g.zoom, g.scale.direction
	if want == zoomAuto {
		want = zoomLine
		var panes float64
		direction, panes = g.leading(want, title)
		if leading, signs := g.leading(zoomSigns, title); g.width < graphNarrow && signs < panes {
			want, direction = zoomSigns, leading
		}
	}
	if !g.try(g.measure(want, direction, title)) {
		g.try(g.measure(want, planlayout.Down, title))
	}
	if want != zoomSigns {
		g.widen()
	}
}

// widen cuts titles less where the graph is narrower than the pane.
func (g *graph) widen() {
	was := g.scale
	for _, title := range graphTitles {
		s := g.measure(was.zoom, was.direction, title)
		if title <= graphCut || s.title <= was.title {
			break
		}
		if width, _ := g.least(s); width <= g.width && g.try(s) && g.layers.Width <= g.width {
			return
		}
	}
	if g.scale != was {
		g.try(was)
	}
}

// leading returns the direction in which a graph with boxes of that size
// needs the fewest panes, and how many.
func (g *graph) leading(z zoom, title int) (direction planlayout.Direction, panes float64) {
	down := g.beyond(g.measure(z, planlayout.Down, title))
	right := g.beyond(g.measure(z, planlayout.Right, title))
	if right < down {
		return planlayout.Right, right
	}
	return planlayout.Down, down
}

// measure measures boxes.
func (g *graph) measure(z zoom, direction planlayout.Direction, title int) graphScale {
	text := g.plan.Chart.textWidths()
	s := graphScale{zoom: z, direction: direction, index: min(text.index, 6), title: min(text.title, title), tool: min(text.tool, graphTool)}
	if len(g.plan.Run.Revisions) > 0 {
		s.mark = 2
	}
	for i := len(g.plan.Chart.Steps); i < len(g.nodes); i++ {
		step := g.nodes[i].Step.Step
		s.index = max(s.index, min(ansi.StringWidth(step.Name()), 6))
		s.title = max(s.title, min(ansi.StringWidth(step.Title.Line()), title))
	}
	return s
}

// head returns the number of cells before the title.
func (s graphScale) head() int { return s.mark + 2 + s.index }

// spec returns the layout parameters of the boxes.
func (s graphScale) spec() planlayout.Spec {
	spec := planlayout.Spec{Direction: s.direction, Height: 1}
	switch s.zoom {
	case zoomSigns:
		spec.Width = 2 + s.head()
	case zoomBox:
		spec.Width, spec.Height, spec.Framed = 4+max(s.head()+1+s.title, s.tool+1+graphState), 4, true
	default:
		spec.Width = 2 + s.head() + 1 + s.title + 1 + graphState
	}
	spec.Width |= 1
	if spec.Width%4 == 3 && !s.snug && s.direction == planlayout.Down {
		spec.Width += 2
	}
	return spec
}

// try lays out the graph with boxes of that size. It reports false if
// boxes of one line leave no room for lines to the right.
func (g *graph) try(s graphScale) bool {
	layers := planlayout.Layered(g.deps, s.spec())
	if layers.Grown && s.direction == planlayout.Right && s.zoom != zoomBox {
		return false
	}
	g.layers, g.scale = layers, s
	return true
}

// least returns the minimum size of the graph with boxes of that size, in
// cells.
func (g *graph) least(s graphScale) (width, height int) {
	const gap = 3 // minimum distance between boxes
	spec, layers, widest := s.spec(), 0, 0
	members := make([]int, len(g.deps)+1)
	for _, level := range g.deps.Levels() {
		members[level]++
		layers, widest = max(layers, level+1), max(widest, members[level])
	}
	if s.direction == planlayout.Right {
		return layers*(spec.Width+gap) - gap, widest * spec.Height
	}
	return widest*(spec.Width+gap) - gap, layers*(spec.Height+1) - 1
}

// room reports whether boxes of that size may fit the pane.
func (g *graph) room(s graphScale) bool {
	width, height := g.least(s)
	return width <= g.width && height <= g.body()
}

// beyond returns how many panes the graph would need with boxes of that size.
func (g *graph) beyond(s graphScale) float64 {
	width, height := g.least(s)
	return max(float64(width)/float64(max(g.width, 1)), 1) * max(float64(height)/float64(max(g.body(), 1)), 1)
}

// scroll keeps the selected box in view, with some context.
func (g *graph) scroll(at int) {
	if at >= 0 && !g.loose {
		const around = 2
		b := g.layers.Boxes[at]
		g.x = intoView(g.x, b.X-around, b.X+b.W+around, g.width)
		g.y = intoView(g.y, b.Y-around, b.Y+b.H+around, g.body())
	}
	g.x = inDrawing(g.x, g.layers.Width, g.width)
	g.y = inDrawing(g.y, g.layers.Height, g.body())
}

// intoView moves a view of room cells to show first to last, or at least the
// start of it.
func intoView(at, first, last, room int) int {
	return min(max(at, last-room), first)
}

// inDrawing keeps a view within the drawing and centers a smaller drawing.
func inDrawing(at, size, room int) int {
	if size <= room {
		return -(room - size) / 2
	}
	return max(min(at, size-room), 0)
}

// updateNodes updates which steps are done.
func (g *graph) updateNodes() {
	for i := range g.nodes {
		n := &g.nodes[i]
		n.done = n.Step.Status == agent.StepCompleted
	}
}
