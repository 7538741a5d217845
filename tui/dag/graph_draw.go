package dag

import (
	"fmt"
	"slices"
	"strings"

	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"

	"replan/agent"
	planlayout "replan/planning/plan/layout"
	"replan/themes"
	"replan/tui/draw"
	"replan/tui/wording"
)

// draw draws the visible part of the graph, with the node at selected.
func (g *graph) draw(at int, focused bool) []string {
	g.updateNodes()
	g.scroll(at)
	c := draw.NewCanvas(draw.Rect{X: g.x, Y: g.y, W: g.width, H: g.body()}, g.styles.Method)
	k := g.relationOf(at, focused)
	sides := g.drawLines(c, k)
	for i := range g.nodes {
		b := g.layers.Boxes[i]
		if b.X < c.X+c.W && c.X < b.X+b.W && b.Y < c.Y+c.H && c.Y < b.Y+b.H {
			g.drawBox(c, i, k, sides)
		}
	}
	g.drawBeyond(c)
	lines := c.Lines()
	if len(lines) < g.height {
		l := g.styles
		lines = append(lines, l.Fit(" "+l.Faint.Render(l.Cut(g.reason, g.width-2)), g.width))
	}
	return lines
}

// drawBeyond draws at each edge of the view how many boxes end beyond it.
func (g *graph) drawBeyond(c *draw.Canvas) {
	const leastWidth, leastHeight = 30, 6 // cells
	if c.W < leastWidth || c.H < leastHeight {
		return
	}
	l := g.styles
	var toLeft, toRight, above, below int
	for _, b := range g.layers.Boxes {
		switch {
		case b.Y < c.Y:
			above++
		case b.Y+b.H > c.Y+c.H:
			below++
		case b.X < c.X:
			toLeft++
		case b.X+b.W > c.X+c.W:
			toRight++
		}
	}
	more := func(n int, before, after string, x func(width int) int, y int) {
		if n == 0 {
			return
		}
		words := before + fmt.Sprintf("%d more", n) + after
		at := draw.Rect{X: c.X + x(draw.VisibleWidth(words)), Y: c.Y + y, W: draw.VisibleWidth(words), H: 1}
		if y == c.H/2 {
			at.Y = g.freeLine(at, c.H/4)
		}
		c.Put(at.X, at.Y, l.Selected(l.Accent), words)
	}
	first, middle, last := func(int) int { return 0 }, func(width int) int { return (c.W - width) / 2 }, func(width int) int { return c.W - width }
	more(above, " "+l.Glyphs.Above+" ", " ", middle, 0)
	more(below, " "+l.Glyphs.Below+" ", " ", middle, c.H-1)
	more(toLeft, l.Glyphs.Before+" ", " ", first, c.H/2)
	more(toRight, " ", " "+l.Glyphs.After, last, c.H/2)
}

// freeLine returns the line nearest to a mark, at most so many lines away, on which the mark
// would cover no box; the mark's own line if there is none.
func (g *graph) freeLine(mark draw.Rect, most int) int {
	for away := range most {
		for _, y := range []int{mark.Y + away, mark.Y - away} {
			covers := func(b planlayout.Box) bool {
				return b.Y <= y && y < b.Y+b.H && b.X < mark.X+mark.W && mark.X < b.X+b.W
			}
			if !slices.ContainsFunc(g.layers.Boxes, covers) {
				return y
			}
		}
	}
	return mark.Y
}

// graphRelatives is what is highlighted: the selected node, its dependencies and its
// dependents.
type graphRelatives struct {
	on     bool
	chosen int // -1 for none
	above  planlayout.Set
	before []planlayout.Set
}

func (g *graph) relationOf(chosen int, focused bool) graphRelatives {
	k := graphRelatives{chosen: chosen, before: g.before}
	if chosen >= 0 && focused {
		k.on, k.above = true, g.before[chosen]
	}
	return k
}

// up reports whether the node is the selected one or one of its dependencies;
// down, whether it is the selected one or a dependent.
func (k *graphRelatives) up(i int) bool   { return i == k.chosen || k.above.Has(i) }
func (k *graphRelatives) down(i int) bool { return i == k.chosen || k.before[i].Has(k.chosen) }

func (k *graphRelatives) of(i int) relation {
	switch {
	case !k.on:
		return relationNone
	case i == k.chosen:
		return relationSelf
	case k.up(i) || k.down(i):
		return relationLit
	default:
		return relationDim
	}
}

// tone is the style of a line; where lines meet in a cell, the highest wins.
type tone uint8

const (
	toneGone   tone = iota // leads only to removed steps
	toneCalm               // its source is not done
	tonePassed             // its source is done
	toneLit                // leads to or from the selected step
)

// wire describes the lines in a cell.
type wire struct {
	net   int
	sides uint8
	tone  tone
}

// toneOf returns the tone of a line from the edges it is part of. These are those from a
// source on one side of it to a target on the other.
func (g *graph) toneOf(w *planlayout.Line, k *graphRelatives) tone {
	ends := g.layers.Nets[w.Net].Ends
	either := func(from, to func(i int) bool) bool {
		var froms, tos [2]bool // inside, outside
		for i, e := range ends {
			side := 1
			if i >= w.First && i < w.Last {
				side = 0
			}
			if e.Source {
				froms[side] = froms[side] || from(e.Node)
			} else {
				tos[side] = tos[side] || to(e.Node)
			}
		}
		return froms[0] && tos[1] || froms[1] && tos[0]
	}
	present := func(i int) bool { return g.nodes[i].Kind == RowStep }
	switch {
	case k.on && (either(k.up, k.up) || either(k.down, k.down)):
		return toneLit
	case either(func(i int) bool { return g.nodes[i].done }, present):
		return tonePassed
	case either(present, present):
		return toneCalm
	default:
		return toneGone
	}
}

// drawLines draws the visible lines and returns the sides that they connect in
// each cell. Where two nets cross, the horizontal line is interrupted.
func (g *graph) drawLines(c *draw.Canvas, k graphRelatives) []wire {
	l := g.styles
	wires := make([]wire, c.Len())
	put := func(x, y, net int, sides uint8, t tone) {
		w := &wires[(y-c.Y)*c.W+x-c.X]
		switch {
		case w.sides == 0:
			*w = wire{net, sides, t}
		case w.net == net:
			w.sides |= sides
			w.tone = max(w.tone, t)
		case sides == up|down:
			*w = wire{net, sides, t}
		}
	}
	for i := range g.layers.Lines {
		w := &g.layers.Lines[i]
		x1, x2, y1, y2 := min(w.X1, w.X2), max(w.X1, w.X2), min(w.Y1, w.Y2), max(w.Y1, w.Y2)
		if x1 >= c.X+c.W || x2 < c.X || y1 >= c.Y+c.H || y2 < c.Y {
			continue
		}
		t := g.toneOf(w, &k)
		before, behind := left, right
		if x1 == x2 {
			before, behind = up, down
		}
		for x := max(x1, c.X); x <= min(x2, c.X+c.W-1); x++ {
			for y := max(y1, c.Y); y <= min(y2, c.Y+c.H-1); y++ {
				var sides uint8
				if x > x1 || y > y1 {
					sides |= before
				}
				if x < x2 || y < y2 {
					sides |= behind
				}
				put(x, y, w.Net, sides, t)
			}
		}
	}
	styles := [...]lipgloss.Style{toneGone: l.Faint, toneCalm: l.Border, tonePassed: l.Success, toneLit: l.Accent.Bold(true)}
	for t, style := range styles {
		c.Fill(style, func(cell int) string {
			if w := &wires[cell]; w.sides != 0 && int(w.tone) == t {
				return wireGlyph(l.Glyphs.Wires, w.sides)
			}
			return ""
		})
	}
	return wires
}

// Sides of a cell that a line connects.
const (
	up    = planlayout.SideUp
	down  = planlayout.SideDown
	left  = planlayout.SideLeft
	right = planlayout.SideRight
)

// wireGlyph returns the glyph for one cell of lines.
func wireGlyph(w themes.Lanes, sides uint8) string {
	switch sides {
	case up | down, up, down:
		return w.UD
	case left | right, left, right:
		return w.LR
	default:
		return w.Cell(sides)
	}
}

// drawBox draws the box of a node.
func (g *graph) drawBox(c *draw.Canvas, i int, k graphRelatives, wires []wire) {
	l := g.styles
	n, b, s := &g.nodes[i], g.layers.Boxes[i], g.scale
	p := &boxPainter{Canvas: c, styles: l, box: b, lit: asItIs, edge: l.Muted}
	rel := k.of(i)
	switch {
	case i == k.chosen:
		p.edge, p.chosen = l.Focus, true
		if k.on {
			p.lit = l.Selected
		}
	case n.Kind == RowGone:
		p.edge = l.Faint
	case rel == relationLit:
		p.edge = l.Accent
	case n.done:
		p.edge = l.Success
	case n.Step.Status == agent.StepRunning:
		p.edge = l.Running
	case n.Step.Status == agent.StepWaiting:
		p.edge = l.Warning
	}
	x, room := p.frame(s.zoom == zoomBox, wires)
	y := b.Y
	switch s.zoom {
	case zoomBox:
		y++
	case zoomSigns:
		x += (room - s.head()) / 2
	}
	x = g.drawHead(p, n, rel, x, y)
	if s.zoom == zoomSigns {
		return
	}
	text, title := g.titleStyle(n, rel)
	end := b.X + 1 + room
	if s.zoom == zoomBox {
		end = b.X + b.W - 2
		p.text(x, y, title, l.Cut(text, end-x))
		g.drawSecond(p, n, b.X+2, y+1, end)
		return
	}
	state, style := g.stateOf(n)
	end -= graphState + 1
	if calls := g.callsOf(n); calls > 0 {
		tail := g.timesSign() + fmt.Sprint(calls)
		text = l.Cut(text, max(end-x-ansi.StringWidth(tail)-1, 0))
		p.text(x+ansi.StringWidth(text)+1, y, l.Faint, tail)
	}
	p.text(x, y, title, l.Cut(text, end-x))
	state = l.Cut(state, graphState)
	p.text(b.X+1+room-ansi.StringWidth(state), y, style, state)
}

// drawHead draws the revision mark, the glyph and the index of a step, and
// returns where the title starts.
func (g *graph) drawHead(p *boxPainter, n *graphNode, rel relation, x, y int) int {
	l, s := g.styles, g.scale
	if s.mark > 0 {
		switch {
		case n.Kind == RowGone:
			p.text(x, y, l.Removed, l.Glyphs.Removed)
		case n.Step.Change == agent.ChangeAdded:
			p.text(x, y, l.Added, l.Glyphs.Added)
		case n.Step.Change == agent.ChangeRevised:
			p.text(x, y, l.Warning, l.Glyphs.Revised)
		}
		x += s.mark
	}
	glyph, style := g.plan.glyph(&n.Row)
	p.text(x, y, style, glyph)
	x += 2
	number := l.Cut(n.Step.Step.Name(), s.index)
	index := l.Muted
	switch {
	case n.Kind == RowGone:
		index = l.Struck
	case rel == relationLit || rel == relationSelf:
		index = l.Accent.Bold(true)
	}
	p.text(x+s.index-ansi.StringWidth(number), y, index, number)
	return x + s.index + 1
}

// titleStyle returns the title of a step and its style.
func (g *graph) titleStyle(n *graphNode, rel relation) (string, lipgloss.Style) {
	l := g.styles
	style := l.Text
	switch {
	case n.Kind == RowGone:
		style = l.Struck
	case rel == relationDim:
		style = l.Faint
	case n.Step.Draft, n.Step.Status == agent.StepSkipped:
		style = l.Muted
	case n.Step.Status == agent.StepRunning, n.Step.Status == agent.StepChecking, n.Step.Status == agent.StepWaiting:
		style = l.Strong
	}
	return n.Step.Step.Title.Line(), style
}

// drawSecond draws the second line of a large box: the executor of the step,
// and its time or status.
func (g *graph) drawSecond(p *boxPainter, n *graphNode, x, y, end int) {
	l := g.styles
	state, style := g.stateOf(n)
	state = l.Cut(state, end-x)
	p.text(end-ansi.StringWidth(state), y, style, state)
	tool := wording.StepTool(&n.Step.Step)
	if calls := g.callsOf(n); calls > 0 {
		tool += " " + g.timesSign() + fmt.Sprint(calls)
	}
	who := l.Faint
	if n.Kind == RowGone {
		who = l.Struck
	}
	p.text(x, y, who, l.Cut(tool, end-x-ansi.StringWidth(state)-1))
}

// stateOf returns the time of a step or its status word. The lines show which
// steps it waits for.
func (g *graph) stateOf(n *graphNode) (string, lipgloss.Style) {
	if n.Kind == RowStep && g.plan.Counts.of(n.at) == wording.ClassWaits && g.plan.Run.Result == nil && g.plan.lacks(&n.Row) == nil {
		return "", g.styles.Faint
	}
	if s := n.Step; n.Kind == RowStep && s.Items != nil && s.Status == agent.StepRunning && g.plan.Run.Result == nil {
		return fmt.Sprintf("%d/%d", s.EndedItems(), len(s.Items)), g.styles.Running
	}
	return g.plan.state(&n.Row, graphState)
}

// callsOf returns the number of items or calls collapsed into the box of a step.
func (g *graph) callsOf(n *graphNode) int {
	return len(wording.Inner(n.Step))
}

// timesSign returns the sign before a number of calls.
func (g *graph) timesSign() string {
	if g.styles.Theme.Mode.ASCII {
		return "x"
	}
	return "×"
}

// boxPainter draws a box.
type boxPainter struct {
	*draw.Canvas
	styles *draw.Styles
	box    planlayout.Box
	lit    func(lipgloss.Style) lipgloss.Style
	edge   lipgloss.Style
	chosen bool
}

func (p *boxPainter) text(x, y int, style lipgloss.Style, text string) {
	p.Put(x, y, p.lit(style), text)
}

// frame draws the border of the box and clears its inside. It returns where
// text starts, and the number of cells for it.
func (p *boxPainter) frame(framed bool, wires []wire) (x, room int) {
	b, g := p.box, &p.styles.Glyphs
	blank := strings.Repeat(" ", max(b.W-2, 0))
	if !framed {
		before, behind := "[", "]"
		if p.chosen {
			before, behind = g.Cursor, g.CursorEnd
		}
		for y := b.Y; y < b.Y+b.H; y++ {
			p.Put(b.X, y, p.edge, before)
			p.text(b.X+1, y, p.styles.Text, blank)
			p.Put(b.X+b.W-1, y, p.edge, behind)
		}
		return b.X + 1, b.W - 2
	}
	edge := g.Box
	if p.chosen {
		edge = g.ChosenBox
	}
	p.Put(b.X, b.Y, p.edge, edge.DR+strings.Repeat(edge.LR, b.W-2)+edge.DL)
	for y := b.Y + 1; y < b.Y+b.H-1; y++ {
		p.Put(b.X, y, p.edge, edge.UD)
		p.text(b.X+1, y, p.styles.Text, blank)
		p.Put(b.X+b.W-1, y, p.edge, edge.UD)
	}
	p.Put(b.X, b.Y+b.H-1, p.edge, edge.UR+strings.Repeat(edge.LR, b.W-2)+edge.UL)
	p.joints(edge, wires)
	return b.X + 2, b.W - 4
}

// joints draws the junctions of lines and the border.
func (p *boxPainter) joints(edge themes.Lanes, wires []wire) {
	b := p.box
	joint := func(x, y int, glyph string) {
		if p.At(x, y) != nil && wires[(y-p.Y)*p.W+x-p.X].sides != 0 {
			p.Put(x, y, p.edge, glyph)
		}
	}
	if p.X > b.X+b.W || p.Y > b.Y+b.H {
		return
	}
	for x := b.X + 1; x < b.X+b.W-1; x++ {
		joint(x, b.Y, edge.ULR)
		joint(x, b.Y+b.H-1, edge.DLR)
	}
	for y := b.Y + 1; y < b.Y+b.H-1; y++ {
		joint(b.X, y, edge.UDL)
		joint(b.X+b.W-1, y, edge.UDR)
	}
}
