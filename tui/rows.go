package tui

import (
	"fmt"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"replan/agent"
	"replan/planning"
	"replan/tui/untrusted"
)

// rowKind says what a row of the plan shows.
type rowKind int

const (
	rowStep     rowKind = iota
	rowLink             // lanes that join or part
	rowGone             // a step that a revision took out, or its version before
	rowRevision         // an older revision, folded or heading its rows
	rowCalls            // the calls of an agent step, folded or heading their rows
	rowCall             // one of them, or a call of the chat
)

// row is one line of the plan.
type row struct {
	kind     rowKind
	key      string // what the selection holds on to; "" cannot be chosen
	gutter   []uint8
	node     int // the lane of the step's glyph
	step     *agent.StepState
	at       int      // position in execution order, of rowStep
	after    []string // what it depends on, where lanes do not show all of it
	revision *agent.Revision
	owner    *agent.StepState // of the rows of calls: the agent step

	drawn string // as it was drawn last, with the face it had
	face  face
}

// outline is the plan laid out in rows. It changes only when the plan does.
type outline struct {
	rows   []row
	width  int            // of the gutter
	at     map[string]int // step index → position in execution order
	before []positions    // for each position, all that it depends on
	deps   [][]int        // for each position, what it names itself
	steps  []*agent.StepState

	longest, tool, index int // widths of the longest title, tool name and index, in cells
}

// positions is a set of positions in execution order.
type positions []uint64

func (p positions) has(i int) bool { return p[i/64]&(1<<(i%64)) != 0 }
func (p positions) add(i int)      { p[i/64] |= 1 << (i % 64) }
func (p positions) union(q positions) {
	for i := range q {
		p[i] |= q[i]
	}
}

// layOut lays out the steps of a run. open says which older revisions show the
// steps they took out, calls which agent steps all of their calls.
func layOut(run *agent.Run, limit int, open map[int]bool, calls map[string]bool) *outline {
	if len(run.Steps) == 0 && run.Chat != nil {
		return chatOutline(run.Chat)
	}
	plan := run.Plan
	plan.Steps = make([]planning.Step, len(run.Steps))
	states := make(map[string]*agent.StepState, len(run.Steps))
	for i, s := range run.Steps {
		plan.Steps[i] = s.Step
		states[s.Step.Index] = s
	}
	graph := planning.NewGraph(plan)
	order := executionOrder(graph, plan)
	o := &outline{at: make(map[string]int, len(order)), before: make([]positions, len(order)), deps: make([][]int, len(order))}
	for i, index := range order {
		o.at[index] = i
		o.steps = append(o.steps, states[index])
	}
	deps := make([][]int, len(order))
	for i, index := range order {
		deps[i] = o.direct(i, graph.Dependencies(index))
	}
	gutter := layLanes(len(order), deps, limit)
	o.width = gutter.width

	ghosts := gatherGhosts(run, o.at, open)
	o.addGhosts(ghosts[""], nil, 0)
	for i, index := range order {
		g := &gutter.steps[i]
		if g.join != nil {
			o.rows = append(o.rows, row{kind: rowLink, gutter: g.join, node: -1})
		}
		if i > 0 {
			o.addGhosts(ghosts[order[i-1]], g.row, g.node)
		}
		o.addBefore(run, states[index], g)
		r := row{kind: rowStep, key: index, gutter: g.row, node: g.node, step: states[index], at: i}
		if len(g.unseen) > 0 {
			for _, d := range o.deps[i] {
				r.after = append(r.after, order[d])
			}
		}
		o.rows = append(o.rows, r)
		o.addCalls(states[index], g, calls[index])
		if g.fork != nil {
			o.rows = append(o.rows, row{kind: rowLink, gutter: g.fork, node: -1})
		}
	}
	if n := len(order); n > 0 {
		o.addGhosts(ghosts[order[n-1]], nil, 0)
	}
	o.measure()
	return o
}

// longestAfter bounds the room that is kept beside a title for the steps that it
// comes after, in cells.
const longestAfter = 12

// measure takes the widths that the columns are made from.
func (o *outline) measure() {
	for i := range o.rows {
		r := &o.rows[i]
		if r.step == nil || r.owner != nil {
			continue
		}
		title := ansi.StringWidth(untrusted.Line(r.step.Step.Title))
		if len(r.after) > 0 {
			title += min(2+len(strings.Join(r.after, ",")), longestAfter)
		}
		o.longest = max(o.longest, title)
		o.tool = max(o.tool, ansi.StringWidth(stepTool(r.step)))
		o.index = max(o.index, ansi.StringWidth(untrusted.Line(r.step.Step.Index)))
	}
}

// executionOrder is every step of the plan once; what the graph leaves out, as
// in a draft that is not whole yet, stands at the end.
func executionOrder(graph *planning.Graph, plan planning.Plan) []string {
	order := graph.Order()
	seen := make(map[string]bool, len(plan.Steps))
	for _, index := range order {
		seen[index] = true
	}
	for _, s := range plan.Steps {
		if !seen[s.Index] {
			seen[s.Index] = true
			order = append(order, s.Index)
		}
	}
	return order
}

// direct notes all that step i depends on, and returns the positions of those
// that do not follow from others.
func (o *outline) direct(i int, deps []string) []int {
	all := make(positions, (len(o.before)+63)/64)
	var near []int
	for _, d := range deps {
		if p, ok := o.at[d]; ok && p < i {
			near = append(near, p)
			all.union(o.before[p])
		}
	}
	o.deps[i] = near
	direct := near[:0:0]
	for _, p := range near {
		if !all.has(p) {
			direct = append(direct, p)
		}
	}
	for _, p := range near {
		all.add(p)
	}
	o.before[i] = all
	return direct
}

// related reports whether one of two positions depends on the other.
func (o *outline) related(a, b int) bool {
	if a > b {
		a, b = b, a
	}
	return o.before[b].has(a)
}

// addGhosts adds rows for steps that are gone, within the lanes of the row that
// follows them.
func (o *outline) addGhosts(ghosts []row, gutter []uint8, node int) {
	for _, g := range ghosts {
		g.gutter, g.node = gutter, node
		if g.kind == rowRevision {
			g.node = -1
		}
		o.rows = append(o.rows, g)
	}
}

// addBefore adds the version of a step that the newest revision replaced, where
// a reader would see a difference.
func (o *outline) addBefore(run *agent.Run, s *agent.StepState, g *laneStep) {
	if s.Change != agent.ChangeRevised || len(run.Revisions) == 0 {
		return
	}
	newest := &run.Revisions[len(run.Revisions)-1]
	for i := range newest.Before {
		b := &newest.Before[i]
		if b.Step.Index == s.Step.Index && (b.Step.Tool != s.Step.Tool || b.Step.Title != s.Step.Title) {
			o.rows = append(o.rows, row{
				kind: rowGone, key: goneKey(newest, b.Step.Index), gutter: g.row, node: g.node, step: b, revision: newest,
			})
		}
	}
}

func goneKey(r *agent.Revision, index string) string {
	return fmt.Sprintf("gone %d %s", r.Number, index)
}

func revisionKey(r *agent.Revision) string { return fmt.Sprintf("revision %d", r.Number) }

// gatherGhosts returns the rows of what revisions changed, by the index of the
// step that they stand behind.
func gatherGhosts(run *agent.Run, present map[string]int, open map[int]bool) map[string][]row {
	out := make(map[string][]row)
	newest := len(run.Revisions) - 1
	for n := range run.Revisions {
		r := &run.Revisions[n]
		if n < newest {
			place := ""
			if len(r.Removed) > 0 {
				place = anchor(run, n, 0, present)
			}
			out[place] = append(out[place], row{kind: rowRevision, key: revisionKey(r), revision: r})
			if !open[r.Number] {
				continue
			}
		}
		for i := range r.Removed {
			place := anchor(run, n, i, present)
			out[place] = append(out[place], row{
				kind: rowGone, key: goneKey(r, r.Removed[i].Step.Index), step: &r.Removed[i], revision: r,
			})
		}
	}
	return out
}

// anchor is the step of the present plan behind which the i-th removed step of
// revision n stands; "" is the top.
func anchor(run *agent.Run, n, i int, present map[string]int) string {
	for {
		r := &run.Revisions[n]
		if i >= len(r.After) || r.After[i] == "" {
			return ""
		}
		after := r.After[i]
		if _, ok := present[after]; ok && !newlyAdded(run, n, after) {
			return after
		}
		if n, i = removedAt(run, n, i, after); n < 0 {
			return ""
		}
	}
}

// newlyAdded reports whether a revision from n on brought this index in, so
// that it is not the step that stood there before.
func newlyAdded(run *agent.Run, n int, index string) bool {
	for _, r := range run.Revisions[n:] {
		for _, a := range r.Added {
			if a == index {
				return true
			}
		}
	}
	return false
}

// removedAt finds where a step was taken out: before the i-th of revision n, or
// in a later one. It returns -1 where it was not.
func removedAt(run *agent.Run, n, i int, index string) (revision, position int) {
	for j := range i {
		if run.Revisions[n].Removed[j].Step.Index == index {
			return n, j
		}
	}
	for m := n + 1; m < len(run.Revisions); m++ {
		for j := range run.Revisions[m].Removed {
			if run.Revisions[m].Removed[j].Step.Index == index {
				return m, j
			}
		}
	}
	return -1, 0
}
