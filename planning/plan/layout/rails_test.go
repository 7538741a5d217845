package layout_test

import (
	"fmt"
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
	layout.SideDown | layout.SideRight: '┌',
	layout.SideDown | layout.SideLeft:  '┐',
	layout.SideUp | layout.SideRight:   '└',
	layout.SideUp | layout.SideLeft:    '┘',

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
		line := railPicture(r.Row(i)) + " " + string(rune('a'+i))
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

// TestRailsHoldEveryDependencyOnce compares the lanes with the graph.
func TestRailsHoldEveryDependencyOnce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := randomGraph(t, 40).Reduce()
		limit := rapid.IntRange(1, 9).Draw(t, "limit")
		r := layout.NewRails(g, limit)
		var got, want []string
		for i := range r.Lanes {
			l := &r.Lanes[i]
			if l.Column >= limit {
				t.Fatalf("got lane %v with a limit of %d", l, limit)
			}
			for k := 1; k < len(l.Groups); k++ {
				for _, from := range l.Groups[k-1] {
					for _, to := range l.Groups[k] {
						got = append(got, fmt.Sprint(from, to))
					}
				}
			}
		}
		for to := range g {
			for _, from := range r.Noted[to] {
				got = append(got, fmt.Sprint(from, to))
			}
			for _, from := range g[to] {
				want = append(want, fmt.Sprint(from, to))
			}
			if n := len(r.Row(to)); n != r.Width {
				t.Fatalf("got %d cells, want %d", n, r.Width)
			}
		}
		slices.Sort(got)
		slices.Sort(want)
		if !slices.Equal(got, want) {
			t.Fatalf("dependencies %v\nin lanes %v", want, got)
		}
	})
}
