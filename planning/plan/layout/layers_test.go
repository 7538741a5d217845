package layout_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"replan/planning/plan/layout"
)

// specs are the boxes used to draw plans.
var specs = map[string]layout.Spec{
	"signs, down":  {Direction: layout.Down, Width: 7, Height: 1},
	"line, down":   {Direction: layout.Down, Width: 21, Height: 1},
	"box, down":    {Direction: layout.Down, Width: 22, Height: 4, Framed: true},
	"signs, right": {Direction: layout.Right, Width: 7, Height: 1},
	"box, right":   {Direction: layout.Right, Width: 22, Height: 4, Framed: true},
}

// cell holds the sides of a cell that the lines of one net join.
type cell struct{ net, sides int }

const (
	up = 1 << iota
	down
	left
	right
)

// raster maps the lines of a drawing to cells. A cell has at most two nets.
func raster(l *layout.Layers) map[[2]int][]cell {
	cells := map[[2]int][]cell{}
	put := func(x, y, net, sides int) {
		at := [2]int{x, y}
		for i := range cells[at] {
			if cells[at][i].net == net {
				cells[at][i].sides |= sides
				return
			}
		}
		cells[at] = append(cells[at], cell{net, sides})
	}
	for _, w := range l.Lines {
		x1, x2 := min(w.X1, w.X2), max(w.X1, w.X2)
		y1, y2 := min(w.Y1, w.Y2), max(w.Y1, w.Y2)
		for x := x1; x < x2; x++ {
			put(x, y1, w.Net, right)
			put(x+1, y1, w.Net, left)
		}
		for y := y1; y < y2; y++ {
			put(x1, y, w.Net, down)
			put(x1, y+1, w.Net, up)
		}
	}
	return cells
}

// boxAt returns the box that covers a cell, or -1.
func boxAt(l *layout.Layers, x, y int) int {
	return slices.IndexFunc(l.Boxes, func(b layout.Box) bool {
		return x >= b.X && x < b.X+b.W && y >= b.Y && y < b.Y+b.H
	})
}

// picture draws a layout for a failing test.
func picture(l *layout.Layers) string {
	cells := raster(l)
	var b strings.Builder
	for y := range l.Height {
		for x := range l.Width {
			switch c := cells[[2]int{x, y}]; {
			case boxAt(l, x, y) >= 0:
				n := boxAt(l, x, y)
				text := fmt.Sprintf("%-*d", l.Boxes[n].W, n)
				if y > l.Boxes[n].Y {
					text = strings.Repeat("#", l.Boxes[n].W)
				}
				b.WriteByte(text[x-l.Boxes[n].X])
			case len(c) == 0:
				b.WriteString(" ")
			case len(c) > 1:
				b.WriteString("│")
			default:
				b.WriteRune([]rune(" ??│?╯╮┤?╰╭├─┴┬┼")[c[0].sides])
			}
		}
		b.WriteString("\n")
	}
	return b.String()
}

// TestLinesMatchEdges checks that a drawing shows exactly the edges that no
// others imply, and that nets cross only at right angles.
func TestLinesMatchEdges(t *testing.T) {
	for name, spec := range specs {
		t.Run(name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				g := randomGraph(t, 40)
				l := layout.Layered(g, spec)
				checkBoxes(t, g, l)
				checkLines(t, l)
				reduced := g.Reduce()
				var want, got [][2]int
				for to, deps := range reduced {
					for _, from := range deps {
						want = append(want, [2]int{from, to})
					}
				}
				for _, n := range l.Nets {
					for _, s := range n.Ends {
						for _, to := range n.Ends {
							if s.Source && !to.Source {
								got = append(got, [2]int{s.Node, to.Node})
							}
						}
					}
				}
				order := func(a, b [2]int) int { return slices.Compare(a[:], b[:]) }
				slices.SortFunc(want, order)
				slices.SortFunc(got, order)
				if !slices.Equal(want, got) {
					t.Fatalf("got the edges %v, want %v:\n%s", got, want, picture(l))
				}
			})
		})
	}
}

// checkBoxes checks that boxes are inside the drawing and do not overlap.
func checkBoxes(t *rapid.T, g layout.Graph, l *layout.Layers) {
	if len(l.Boxes) != len(g) {
		t.Fatalf("got %d nodes and %d boxes", len(g), len(l.Boxes))
	}
	for i, b := range l.Boxes {
		if b.X < 0 || b.Y < 0 || b.X+b.W > l.Width || b.Y+b.H > l.Height {
			t.Fatalf("box %d is outside the drawing: %+v of %dx%d", i, b, l.Width, l.Height)
		}
		for j, o := range l.Boxes[:i] {
			if b.X < o.X+o.W && o.X < b.X+b.W && b.Y < o.Y+o.H && o.Y < b.Y+b.H {
				t.Fatalf("boxes %d and %d overlap:\n%s", j, i, picture(l))
			}
		}
	}
}

// checkLines checks that nets meet only to cross, and that no line runs through a
// box.
func checkLines(t *rapid.T, l *layout.Layers) {
	ends := map[[2]int]bool{}
	for n, net := range l.Nets {
		for _, e := range net.Ends {
			ends[[2]int{n, e.Node}] = true
		}
	}
	for at, c := range raster(l) {
		if at[0] < 0 || at[1] < 0 || at[0] >= l.Width || at[1] >= l.Height {
			t.Fatalf("a line leaves the drawing at %v", at)
		}
		if b := boxAt(l, at[0], at[1]); b >= 0 {
			for _, c := range c {
				if !ends[[2]int{c.net, b}] {
					t.Fatalf("a line runs through box %d:\n%s", b, picture(l))
				}
			}
			continue
		}
		if len(c) == 1 {
			continue
		}
		if len(c) > 2 || c[0].sides|c[1].sides != up|down|left|right || c[0].sides != up|down && c[1].sides != up|down {
			t.Fatalf("nets meet at %v: %v\n%s", at, c, picture(l))
		}
	}
}

// TestLinesKnowTheirEnds checks that a line names the ends on the side of its
// second point.
func TestLinesKnowTheirEnds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := layout.Layered(randomGraph(t, 30), specs["line, down"])
		for i, w := range l.Lines {
			reached := map[[2]int]bool{{w.X2, w.Y2}: true}
			for grew := true; grew; {
				grew = false
				for j, o := range l.Lines {
					a, b := [2]int{o.X1, o.Y1}, [2]int{o.X2, o.Y2}
					if j != i && o.Net == w.Net && reached[a] != reached[b] {
						reached[a], reached[b], grew = true, true, true
					}
				}
			}
			beyond := map[int]bool{}
			for at := range reached {
				if b := boxAt(l, at[0], at[1]); b >= 0 {
					beyond[b] = true
				}
			}
			ends := l.Nets[w.Net].Ends
			for n, e := range ends {
				if beyond[e.Node] != (n >= w.First && n < w.Last) {
					t.Fatalf("line %+v of %+v: node %d is on its far side: %v\n%s", w, ends, e.Node, beyond[e.Node], picture(l))
				}
			}
		}
	})
}
