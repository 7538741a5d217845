package layout_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/charmbracelet/x/exp/golden"
	"pgregory.net/rapid"

	"replan/planning/plan/layout"
)

// pictures maps the joined sides of a cell to its character.
var pictures = map[uint8]rune{
	0: ' ',

	layout.SideUp | layout.SideDown:    '│',
	layout.SideLeft | layout.SideRight: '─',
	layout.SideDown | layout.SideRight: '╭',
	layout.SideDown | layout.SideLeft:  '╮',
	layout.SideUp | layout.SideRight:   '╰',
	layout.SideUp | layout.SideLeft:    '╯',

	layout.SideUp | layout.SideDown | layout.SideRight:                   '├',
	layout.SideUp | layout.SideDown | layout.SideLeft:                    '┤',
	layout.SideUp | layout.SideDown | layout.SideLeft | layout.SideRight: '┼',
	layout.SideDown | layout.SideLeft | layout.SideRight:                 '┬',
	layout.SideUp | layout.SideLeft | layout.SideRight:                   '┴',
}

func railPicture(cells []layout.Cell) string {
	var b strings.Builder
	for _, c := range cells {
		b.WriteRune(pictures[c.Sides])
	}
	return b.String()
}

// drawRails draws rails with letters for the nodes.
func drawRails(r *layout.Rails) string {
	var lines []string
	for i := range r.Noted {
		row := []rune(railPicture(r.Row(i)))
		row[r.Mark(i)] = '○'
		line := string(row) + " " + string(rune('a'+i))
		for _, n := range r.Noted[i] {
			line += "←" + string(rune('a'+n))
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "\n") + "\n"
}

func TestRails(t *testing.T) {
	for _, c := range []struct {
		name  string
		deps  layout.Graph
		limit int
	}{
		{"independent nodes", layout.Graph{nil, nil, nil, nil}, 8},
		{"chain", layout.Graph{nil, {0}, {1}, {2}}, 8},
		{"two chains in a row", layout.Graph{nil, {0}, nil, {2}}, 8},
		{"two mixed chains", layout.Graph{nil, nil, {0}, {1}}, 8},
		{"fork", layout.Graph{nil, {0}, {0}, {0}}, 8},
		{"join", layout.Graph{nil, nil, nil, {0, 1, 2}}, 8},
		{"diamond", layout.Graph{nil, {0}, {0}, {1, 2}}, 8},
		{"fork and join", layout.Graph{nil, {0}, {0}, {0}, {0}, {0}, {0}, {0}, {0}, {1, 2, 3, 4, 5, 6, 7, 8}}, 8},
		{"zigzag", layout.Graph{nil, nil, nil, {0, 1}, {1, 2}}, 8},
		{"two nodes on two nodes", layout.Graph{nil, nil, {0, 1}, {0, 1}}, 8},
		{"branches of different lengths", layout.Graph{nil, {0}, {0}, {2}, {1, 3}}, 8},
		{"fork with one continued branch", layout.Graph{nil, {0}, {0}, {2}}, 8},
		{"five branches of two", layout.Graph{nil, {0}, {0}, {0}, {0}, {0}, {1}, {2}, {3}, {4}, {5}, {6, 7, 8, 9, 10}}, 8},
		{"layers", layout.Graph{nil, nil, nil, {0, 1}, {1, 2}, {2, 0}, {3, 4}, {4, 5}, {5, 3}}, 8},
		{"common dependency", layout.Graph{nil, nil, {0, 1}, nil, {0, 3}, nil, {0, 5}, nil, {0, 7}}, 8},
		{"nodes without a lane are noted", layout.Graph{nil, nil, nil, {0}, {1}, {2}}, 2},
	} {
		t.Run(strings.ReplaceAll(c.name, " ", "_"), func(t *testing.T) {
			golden.RequireEqual(t, drawRails(layout.NewRails(c.deps.Reduce(), c.limit)))
		})
	}
}

// readRails reads the dependencies of each node from the cells alone, as a user does. A lane
// above a mark, and the end of one beside it, lead to the node; what goes on on its left leads to
// the node too, and what goes on or begins on its right leads from it.
func readRails(t *rapid.T, r *layout.Rails) layout.Graph {
	g, carried := make(layout.Graph, len(r.Noted)), make([][]int, r.Width)
	for node := range g {
		row, below, mark := r.Row(node), r.Below(node), r.Mark(node)
		if len(row) != r.Width || len(below) != r.Width {
			t.Fatalf("got rows of %d and %d cells, want %d", len(row), len(below), r.Width)
		}
		if node > 0 && r.Below(node - 1)[mark].Sides == 0 && r.Mark(node-1) == mark {
			t.Fatalf("the mark of %d looks connected with the one above:\n%s", node, drawRails(r))
		}
		if node > 0 && r.Below(node - 1)[mark].Sides != 0 {
			g[node] = append(g[node], carried[mark]...)
			carried[mark] = nil
		}
		for step, toMark := range map[int]uint8{-1: layout.SideRight, 1: layout.SideLeft} {
			for c := mark + step; c >= 0 && c < r.Width && row[c].Sides&toMark != 0 || c >= 0 && c < r.Width && row[c].Sides == layout.SideUp|layout.SideDown; c += step {
				up, down := row[c].Sides&layout.SideUp != 0, row[c].Sides&layout.SideDown != 0
				switch {
				case row[c].Sides&toMark == 0 || !up && !down: // it crosses a lane, or goes on
				case up && (!down || step < 0):
					g[node] = append(g[node], carried[c]...)
				default:
					if !up {
						carried[c] = nil
					}
					carried[c] = append(carried[c], node)
				}
				if up && !down {
					carried[c] = nil
				}
			}
		}
		if below[mark].Sides != 0 {
			carried[mark] = []int{node}
		}
		g[node] = append(g[node], r.Noted[node]...)
		slices.Sort(g[node])
	}
	return g
}

func TestRailsShowEveryDependency(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := randomGraph(t, 40).Reduce()
		limit := rapid.IntRange(3, 9).Draw(t, "limit")
		r := layout.NewRails(g, limit)
		if r.Width > 2*limit-1 {
			t.Fatalf("got %d cells with a limit of %d", r.Width, limit)
		}
		for node, read := range readRails(t, r) {
			if !slices.Equal(read, g[node]) {
				t.Fatalf("%d depends on %v, and the rails show %v:\n%s", node, g[node], read, drawRails(r))
			}
		}
	})
}

func TestRailsWithRoomNoteNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := randomGraph(t, 20).Reduce()
		for node, noted := range layout.NewRails(g, 60).Noted {
			if len(noted) > 0 {
				t.Fatalf("%d notes %v", node, noted)
			}
		}
	})
}

func TestRailsLightTheWayOfOneDependency(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := randomGraph(t, 20).Reduce()
		r := layout.NewRails(g, 60)
		for to, dependencies := range g {
			for _, from := range dependencies {
				light := r.Light(func(a, b int) bool { return a == from && b == to })
				for node := range g {
					for below, cells := range map[bool][]layout.Cell{false: r.Row(node), true: r.Below(node)} {
						lit, is := 0, light.Row(node)
						if below {
							is = light.Below(node)
						}
						for c, is := range is {
							if is {
								lit++
								if cells[c].Sides == 0 {
									t.Fatalf("an empty cell of %d is lit:\n%s", node, drawRails(r))
								}
							}
						}
						if between := from <= node && node < to; below && lit != map[bool]int{true: 1}[between] {
							t.Fatalf("%d cells below %d are lit for %d after %d:\n%s", lit, node, to, from, drawRails(r))
						}
					}
				}
			}
		}
	})
}
