package dag

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
	"pgregory.net/rapid"

	"replan/agent"
	"replan/planning/plan"
	planlayout "replan/planning/plan/layout"
	"replan/themes"
	"replan/tui/draw"
	"replan/tui/panetest"
)

// tracer reads the edges of a graph back from the drawn cells, without its layout.
type tracer struct {
	cells [][]rune
	boxes []tracedBox
}

// tracedBox is a box that was found: its cells and its number.
type tracedBox struct {
	draw.Rect
	number int
}

// The sides of a cell, clockwise.
const (
	north = iota
	east
	south
	west
)

var (
	aside   = [...]struct{ x, y int }{{0, -1}, {1, 0}, {0, 1}, {-1, 0}}
	strokes = map[rune][]int{
		'│': {north, south}, '─': {east, west}, '╭': {east, south}, '╮': {south, west}, '╰': {north, east}, '╯': {north, west},
		'├': {north, east, south}, '┤': {north, south, west}, '┬': {east, south, west}, '┴': {north, east, west}, '┼': {north, east, south, west},
	}
	number = regexp.MustCompile(`\d+`)
	flat   = regexp.MustCompile(`[\[▌>]([^\]▐<\[▌>]*)[\]▐<]`)
)

func newTracer(lines []string) *tracer {
	t := &tracer{}
	for _, line := range lines {
		t.cells = append(t.cells, []rune(ansi.Strip(line)))
	}
	t.findBoxes()
	return t
}

func (t *tracer) at(x, y int) rune {
	if y < 0 || y >= len(t.cells) || x < 0 || x >= len(t.cells[y]) {
		return ' '
	}
	return t.cells[y][x]
}

// findBoxes finds boxes of one line, and those with an edge all round.
func (t *tracer) findBoxes() {
	for y, row := range t.cells {
		for _, m := range flat.FindAllStringIndex(string(row), -1) {
			x, end := len([]rune(string(row)[:m[0]])), len([]rune(string(row)[:m[1]]))
			t.addBox(draw.Rect{X: x, Y: y, W: end - x, H: 1}, string(row[x:end]))
		}
		for x := range row {
			if w, h, ok := t.framed(x, y); ok {
				t.addBox(draw.Rect{X: x, Y: y, W: w, H: h}, string(t.cells[y+1][x+1:x+w-1]))
			}
		}
	}
}

func (t *tracer) addBox(r draw.Rect, text string) {
	if n, err := strconv.Atoi(number.FindString(text)); err == nil {
		t.boxes = append(t.boxes, tracedBox{r, n})
	}
}

// framed measures the frame with that top left corner.
func (t *tracer) framed(x, y int) (w, h int, ok bool) {
	for _, f := range []struct{ corners, across, along string }{
		{"╭╮╰╯", "─┬┴", "│├┤"}, {"┏┓┗┛", "━┷┯", "┃┨┠"}, {"++++", "-", "|"}, {"####", "=", "#"},
	} {
		c := []rune(f.corners)
		if t.at(x, y) != c[0] {
			continue
		}
		for w = 1; strings.ContainsRune(f.across, t.at(x+w, y)); w++ {
		}
		for h = 1; strings.ContainsRune(f.along, t.at(x, y+h)) && t.at(x+1, y+h) != []rune(f.across)[0]; h++ {
		}
		if w < 3 || h < 2 || t.at(x+w, y) != c[1] || t.at(x, y+h) != c[2] || t.at(x+w, y+h) != c[3] {
			continue
		}
		closed := true
		for i := 1; i < w; i++ {
			closed = closed && strings.ContainsRune(f.across, t.at(x+i, y+h))
		}
		for i := 1; i < h; i++ {
			closed = closed && strings.ContainsRune(f.along, t.at(x+w, y+i))
		}
		if closed {
			return w + 1, h + 1, true
		}
	}
	return 0, 0, false
}

func (t *tracer) boxAt(x, y int) *tracedBox {
	for i := range t.boxes {
		if t.boxes[i].Contains(x, y) {
			return &t.boxes[i]
		}
	}
	return nil
}

// sides returns the sides of a cell that its stroke joins. In ASCII a corner shows
// whether it leads up or down, and its neighbors whether it leads left or right.
func (t *tracer) sides(x, y int) []int {
	r := t.at(x, y)
	if s, ok := strokes[r]; ok {
		return s
	}
	var s []int
	switch r {
	case '|':
		return []int{north, south}
	case '-':
		return []int{east, west}
	case '.':
		s = []int{south}
	case '\'':
		s = []int{north}
	case '+':
		s = []int{north, south}
	default:
		return nil
	}
	for _, side := range []int{east, west} {
		if t.at(x+aside[side].x, y) == '-' {
			s = append(s, side)
		}
	}
	return s
}

// edges follows the lines from the bottom and the right of each box to all boxes
// that they reach.
func (t *tracer) edges() map[[2]int]bool {
	found := map[[2]int]bool{}
	for _, b := range t.boxes {
		seen := map[[3]int]bool{}
		for x := b.X; x < b.X+b.W; x++ {
			if t.boxAt(x, b.Y+b.H) == nil { // two boxes may touch
				t.follow(x, b.Y+b.H-1, south, b.number, found, seen)
			}
		}
		for y := b.Y; y < b.Y+b.H; y++ {
			if t.boxAt(b.X+b.W, y) == nil {
				t.follow(b.X+b.W-1, y, east, b.number, found, seen)
			}
		}
	}
	return found
}

// follow follows a line from a cell over one of its sides.
func (t *tracer) follow(x, y, side, from int, found map[[2]int]bool, seen map[[3]int]bool) {
	x, y = x+aside[side].x, y+aside[side].y
	if seen[[3]int{x, y, side}] {
		return
	}
	seen[[3]int{x, y, side}] = true
	if b := t.boxAt(x, y); b != nil {
		if side == south || side == east { // on the other sides it is a source too
			found[[2]int{from, b.number}] = true
		}
		return
	}
	back := (side + 2) % 4
	sides := t.sides(x, y)
	switch {
	case slices.Contains(sides, back):
		for _, next := range sides {
			if next != back {
				t.follow(x, y, next, from, found, seen)
			}
		}
	case (side == east || side == west) && slices.Equal(sides, []int{north, south}):
		t.follow(x, y, side, from, found, seen) // passes under it
	}
}

// graphRun returns a run of steps with those dependencies, numbered from 1. The
// last gone steps were removed by a revision.
func graphRun(deps [][]int, removed int) *agent.Run {
	run := &agent.Run{Terms: agent.Terms{ID: "r"}, Board: agent.Board{Revision: 1}}
	var rev agent.Revision
	for i, ds := range deps {
		s := &agent.StepState{Step: plan.Step{Index: fmt.Sprint(i + 1), Title: "A step", Tool: "fs.read", Executor: plan.ExecutorTool}}
		for _, d := range ds {
			s.Step.DependsOn = append(s.Step.DependsOn, fmt.Sprint(d+1))
		}
		if i%3 == 0 {
			s.Status = agent.StepCompleted
		}
		if i >= len(deps)-removed {
			rev.Removed, rev.After = append(rev.Removed, *s), append(rev.After, "")
			continue
		}
		run.Steps = append(run.Steps, s)
		run.Plan.Steps = append(run.Plan.Steps, s.Step)
	}
	if removed > 0 {
		rev.Number, rev.Reason = 2, "it failed"
		run.Revision, run.Revisions = 2, []agent.Revision{rev}
	}
	return run
}

// graphPane draws the whole graph of a run in one way.
func graphPane(run *agent.Run, mode themes.Mode, z zoom, direction planlayout.Direction) *Pane {
	d := New(draw.NewStyles(new(themes.Set).New(themes.Dark, true, mode)), panetest.Keys())
	d.Show(run)
	d.graph.mode, d.graph.zoom, d.graph.scale.direction = graphAlways, z, direction
	resize(d, 80, 24)
	d.View()
	resize(d, d.graph.layers.Width, d.graph.layers.Height+1)
	return d
}

// needed returns the edges of a graph that do not follow from others, by number.
func needed(deps [][]int) map[[2]int]bool {
	var leads func(from, to int) bool
	memo := map[[2]int]bool{}
	leads = func(from, to int) bool {
		if at, ok := memo[[2]int{from, to}]; ok {
			return at
		}
		yes := from == to || slices.ContainsFunc(deps[to], func(d int) bool { return leads(from, d) })
		memo[[2]int{from, to}] = yes
		return yes
	}
	edges := map[[2]int]bool{}
	for to, ds := range deps {
		for _, from := range ds {
			follows := slices.ContainsFunc(ds, func(d int) bool { return d != from && leads(from, d) })
			if !follows {
				edges[[2]int{from + 1, to + 1}] = true
			}
		}
	}
	return edges
}

// TestGraphDrawsEveryEdge reads the edges of random plans back from their drawings,
// at every zoom, leading down and to the right.
func TestGraphDrawsEveryEdge(t *testing.T) {
	if testing.Short() {
		t.Skip("has no goroutine that the race detector could watch")
	}
	for name, mode := range map[string]themes.Mode{"unicode": {}, "ascii": {ASCII: true, NoColor: true}} {
		for _, z := range []zoom{zoomSigns, zoomLine, zoomBox} {
			for _, direction := range []planlayout.Direction{planlayout.Down, planlayout.Right} {
				t.Run(fmt.Sprintf("%s/%d/%d", name, z, direction), func(t *testing.T) {
					rapid.Check(t, func(t *rapid.T) { checkReadBack(t, mode, z, direction) })
				})
			}
		}
	}
}

func checkReadBack(t *rapid.T, mode themes.Mode, z zoom, direction planlayout.Direction) {
	n := rapid.IntRange(1, 40).Draw(t, "steps")
	removed := rapid.IntRange(0, min(n-1, 4)).Draw(t, "gone")
	deps := make([][]int, n)
	for i := 1; i < n; i++ {
		deps[i] = rapid.SliceOfNDistinct(rapid.IntRange(max(0, i-14), i-1), 0, min(i, 4), rapid.ID[int]).Draw(t, "deps")
		// Nothing in the plan depends on a removed step.
		if i < n-removed {
			deps[i] = slices.DeleteFunc(deps[i], func(d int) bool { return d >= n-removed })
		}
	}
	d := graphPane(graphRun(deps, removed), mode, z, direction)
	focus(d, rapid.Bool().Draw(t, "focus"))
	drawn := d.View()
	if removed > 0 {
		drawn = drawn[:len(drawn)-1] // why the plan was revised
	}
	read := newTracer(drawn)
	seen := map[int]int{}
	for _, b := range read.boxes {
		seen[b.number]++
	}
	picture := ansi.Strip(strings.Join(drawn, "\n"))
	for i := range n {
		if seen[i+1] != 1 {
			t.Fatalf("step %d has %d boxes:\n%s", i+1, seen[i+1], picture)
		}
	}
	got, want := read.edges(), needed(deps)
	for e := range want {
		if !got[e] {
			t.Fatalf("the edge %v is not drawn:\n%s", e, picture)
		}
	}
	for e := range got {
		if !want[e] {
			t.Fatalf("an edge %v is drawn that does not exist:\n%s", e, picture)
		}
	}
}
