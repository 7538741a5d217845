package tui

import (
	"strings"

	"github.com/charmbracelet/x/ansi"

	"replan/agent"
	planlayout "replan/planning/layout"
	"replan/tui/untrusted"
)

// rowKind says what a row of the plan shows.
type rowKind int

const (
	rowStep     rowKind = iota
	rowLink             // lanes that join or part
	rowGone             // a step that a revision took out, or its version before
	rowRevision         // why a revision was made, or an older one, folded or heading its rows
	rowCalls            // the calls of an agent step, folded or heading their rows
	rowCall             // one of them, or a call of the chat
	rowRoll             // several steps in one line, or the heading of them
)

// row is one line of the plan.
type row struct {
	kind     rowKind
	key      string // what the selection holds on to; "" cannot be chosen
	gutter   []uint8
	node     int // the lane of the step's glyph
	step     *agent.StepState
	at       int      // position in execution order, of rowStep and the rows of its calls
	after    []string // what it depends on, where lanes do not show all of it
	revision *agent.Revision
	owner    *agent.StepState // of the rows of calls: the agent step
	roll     *rollup          // of rowRoll; of a step in an opened or folded one: that

	lane  *laneStep // the part of the gutter that it stands in, nil for none
	place int       // of that part: its node
	lead  lead

	text painted
	face face // that it was painted with
}

// outline is the plan laid out in rows. It changes only when the plan does, or
// what is folded in it.
type outline struct {
	rows  []row
	find  map[string]int // row of each key
	width int            // of the gutter
	chart *chart
	nodes []node
	of    []int // for each step its node
	flat  bool  // a list without lanes: what a filter found

	longest, tool, index int // widths of the longest title, tool name and index, in cells
	reasoned             bool
}

// layOut lays out nodes of a plan that stand in execution order.
func (d *dagPane) layOut(nodes []node, of []int, limit int) *outline {
	c := d.chart
	o := &outline{chart: c, nodes: nodes, of: of, longest: c.longest, tool: c.tool, index: c.index}
	gutter := layLanes(len(nodes), planlayout.Graph(nodeDeps(c, nodes, of)).Reduce(), limit)
	o.width = gutter.width
	ghosts := d.gatherGhosts()
	o.addGhosts(d, ghosts[""], nil, 0)
	for i := range nodes {
		n, g := &nodes[i], &gutter.steps[i]
		if n.head != nil {
			o.add(row{kind: rowRoll, key: n.head.key, roll: n.head, gutter: g.over(), node: -1, lane: g, place: i})
		}
		if g.join != nil {
			o.add(row{kind: rowLink, gutter: g.join, node: -1, lane: g, place: i, lead: leadJoin})
		}
		if i > 0 {
			for _, m := range nodes[i-1].members() {
				o.addGhosts(d, ghosts[c.steps[m].Step.Index], g, i)
			}
		}
		if n.roll != nil {
			o.addRoll(d, n.roll, g, i)
		} else {
			o.addStep(d, n.step, g, i)
		}
		if g.fork != nil {
			o.add(row{kind: rowLink, gutter: g.fork, node: -1, lane: g, place: i, lead: leadFork})
		}
	}
	if n := len(nodes); n > 0 {
		for _, m := range nodes[n-1].members() {
			o.addGhosts(d, ghosts[c.steps[m].Step.Index], nil, 0)
		}
	}
	o.finish()
	return o
}

func (o *outline) add(r row) { o.rows = append(o.rows, r) }

// addStep adds a step with a place of its own in the graph.
func (o *outline) addStep(d *dagPane, at int, g *laneStep, place int) {
	s := o.chart.steps[at]
	r := row{kind: rowStep, key: s.Step.Index, gutter: g.row, node: g.node, step: s, at: at, lane: g, place: place, lead: leadRow}
	o.addBefore(d, r)
	if len(g.unseen) > 0 {
		for _, p := range o.chart.deps[at] {
			r.after = append(r.after, o.chart.steps[p].Step.Index)
		}
	}
	o.add(r)
	o.addCalls(r, g, d.calls[s.Step.Index])
}

// addRoll adds a roll-up, with those of its steps that have a row all the same
// beside its lane.
func (o *outline) addRoll(d *dagPane, roll *rollup, g *laneStep, place int) {
	head := row{kind: rowRoll, key: roll.key, gutter: g.row, node: g.node, roll: roll, lane: g, place: place, lead: leadRow}
	if !o.reasoned {
		for _, m := range roll.members {
			if o.chart.steps[m].Change != agent.ChangeNone {
				o.addReason(d, head)
				break
			}
		}
	}
	o.add(head)
	gutter := g.below()
	lane := g.node + 1
	for lane < len(gutter) && gutter[lane] != 0 {
		lane++
	}
	for len(gutter) <= lane {
		gutter = append(gutter, 0)
	}
	o.width = max(o.width, len(gutter)) // also where none is shown now, so that nothing moves when one is
	for _, m := range roll.shown {
		s := o.chart.steps[m]
		r := row{kind: rowStep, key: s.Step.Index, gutter: gutter, node: lane, step: s, at: m, roll: roll, lane: g, place: place, lead: leadBelow}
		o.addBefore(d, r)
		o.add(r)
		o.addCalls(r, g, d.calls[s.Step.Index])
	}
}

// finish takes the widths that the columns are made from, and notes where each
// row stands.
func (o *outline) finish() {
	o.find = make(map[string]int, len(o.rows))
	for i := range o.rows {
		r := &o.rows[i]
		if r.key != "" {
			o.find[r.key] = i
		}
		if r.step == nil || r.owner != nil {
			continue
		}
		if r.kind == rowGone || len(r.after) > 0 {
			title := ansi.StringWidth(untrusted.Line(r.step.Step.Title))
			if len(r.after) > 0 {
				title += min(2+len(strings.Join(r.after, ",")), longestAfter)
			}
			o.longest = max(o.longest, title)
			o.tool = max(o.tool, ansi.StringWidth(stepTool(r.step)))
			o.index = max(o.index, ansi.StringWidth(untrusted.Line(r.step.Step.Index)))
		}
	}
}

// longestAfter bounds the room that is kept beside a title for the steps that it
// comes after, in cells.
const longestAfter = 12

// listed is an outline of single steps without lanes.
func (d *dagPane) listed(found []int) *outline {
	c := d.chart
	o := &outline{chart: c, width: 1, flat: true, longest: c.longest, tool: c.tool, index: c.index}
	for _, at := range found {
		s := c.steps[at]
		r := row{kind: rowStep, key: s.Step.Index, step: s, at: at}
		o.add(r)
		o.addCalls(r, nil, d.calls[s.Step.Index])
	}
	o.finish()
	return o
}
