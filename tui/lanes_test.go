package tui

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"replan/themes"
)

// drawLanes draws a gutter with the steps' positions as their glyphs.
func drawLanes(n int, deps [][]int, limit int) string {
	g := layLanes(n, deps, limit)
	glyphs := themes.UnicodeGlyphs().Lanes
	var out []string
	line := func(row []uint8, node int, name string) {
		var b strings.Builder
		for i := range g.width {
			sides := uint8(0)
			if i < len(row) {
				sides = row[i]
			}
			if i == node {
				b.WriteString(name)
			} else {
				b.WriteString(laneGlyph(glyphs, sides))
			}
		}
		out = append(out, strings.TrimRight(b.String(), " "))
	}
	for s, step := range g.steps {
		if step.join != nil {
			line(step.join, -1, "")
		}
		name := string(rune('a' + s))
		for _, d := range step.unseen {
			name += "←" + string(rune('a'+d))
		}
		line(step.row, step.node, name)
		if step.fork != nil {
			line(step.fork, -1, "")
		}
	}
	return strings.Join(out, "\n")
}

func TestTheGutter(t *testing.T) {
	for _, c := range []struct {
		name  string
		deps  [][]int
		limit int
		want  string
	}{
		{"a chain is one lane", [][]int{nil, {0}, {1}}, 4, "a\nb\nc"},
		{"branches that run at once stand side by side and join", [][]int{nil, {0}, {0}, {1, 2}}, 4, "a\n├╮\nb│\n│c\n├╯\nd"},
		{"roots open lanes of their own", [][]int{nil, nil, nil, {0, 1, 2}}, 4, "a\n│b\n││c\n├┴╯\nd"},
		{"steps with nothing in common share a lane one after the other", [][]int{nil, nil}, 4, "a\nb"},
		{"a lane passes a join that is not its own", [][]int{nil, nil, nil, {0, 2}, {1, 3}}, 4, "a\n│b\n││c\n├┼╯\nd│\n├╯\ne"},
		{"a fan-out parts at once", [][]int{nil, {0}, {0}, {0}}, 4, "a\n├┬╮\nb││\n c│\n  d"},
		{"a dependency that finds no lane is written out", [][]int{nil, {0}, {0}, {0}}, 2, "a\n├╮\nb│\n c\nd←a"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := drawLanes(len(c.deps), c.deps, c.limit); got != c.want {
				t.Errorf("got\n%s\nwant\n%s", got, c.want)
			}
		})
	}
}

// TestNoDependencyGetsLost follows the lanes down from row to row: each
// dependency is a lane that arrives, or is written out.
func TestNoDependencyGetsLost(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		n, limit := rapid.IntRange(1, 40).Draw(r, "steps"), rapid.IntRange(1, 8).Draw(r, "limit")
		deps := make([][]int, n)
		for s := 1; s < n; s++ {
			deps[s] = rapid.SliceOfNDistinct(rapid.IntRange(0, s-1), 0, min(s, 4), rapid.ID[int]).Draw(r, "deps")
		}
		g := layLanes(n, deps, limit)
		if len(g.steps) != n || g.width > limit+1 {
			r.Fatalf("%d steps in %d lanes, limit %d", len(g.steps), g.width, limit)
		}
		for s, step := range g.steps {
			if step.node < 0 || step.node > limit {
				r.Fatalf("step %d stands in lane %d", s, step.node)
			}
			if len(step.unseen) > len(deps[s]) {
				r.Fatalf("step %d has %v but %v is written out", s, deps[s], step.unseen)
			}
			arriving := 0
			for i := range step.join {
				if step.join[i]&up != 0 && step.join[i]&(left|right) != 0 && (step.join[i]&down == 0 || i == step.node) {
					arriving++
				}
			}
			if step.join != nil && arriving != len(deps[s])-len(step.unseen) {
				r.Fatalf("step %d: %d lanes join, %d depended on, %d written out", s, arriving, len(deps[s]), len(step.unseen))
			}
			for _, row := range [][]uint8{step.join, step.row, step.fork} {
				for i, sides := range row {
					if sides&right != 0 && (i+1 >= len(row) || row[i+1]&left == 0) {
						r.Fatalf("step %d: a lane runs out at %d of %v", s, i, row)
					}
				}
			}
		}
	})
}
