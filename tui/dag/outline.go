package dag

import (
	"slices"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"replan/agent"
	"replan/internal/untrusted"
	planlayout "replan/planning/plan/layout"
	"replan/tui/draw"
	"replan/tui/telling"
)

// rowKind says what a row of the plan shows.
type rowKind int

// The kinds of rows.
const (
	RowStep     rowKind = iota
	RowGone             // a step that a revision took out, or its version before
	RowRevision         // why a revision was made, or an older one, folded or heading its rows
	RowCalls            // the calls of an agent step, folded or heading their rows
	RowCall             // one of them, or a call of the chat
	RowRoll             // several steps in one line, or the heading of them
)

// Row is one line of the plan.
type Row struct {
	Kind     rowKind
	Key      string // what the selection holds on to; "" cannot be chosen
	Step     *agent.StepState
	at       int      // position in execution order, of RowStep and the rows of its calls
	after    []string // what it depends on where no lane shows it
	Revision *agent.Revision
	owner    *agent.StepState // of the rows of calls: the agent step
	Roll     *rollup          // of RowRoll; of a step in an opened or folded one: that

	rails  railsPart
	node   int  // beside which it stands
	nested bool // it is part of what the row above it stands for

	text painted
	face face // that it was painted with
}

// railsPart is the part of the rails that a row shows.
type railsPart int

const (
	railsNone   railsPart = iota
	railsAbove            // the lanes that lead to its node from above, or past it
	railsBeside           // its node's own
	railsBelow            // the lanes under it
)

// cells are the rails left of a row.
func (o *outline) cells(r *Row) []planlayout.Cell {
	switch {
	case r.rails == railsBeside:
		return o.rails.Row(r.node)
	case r.rails == railsBelow:
		return o.rails.Below(r.node)
	case r.rails == railsAbove && r.node > 0:
		return o.rails.Below(r.node - 1)
	default:
		return nil
	}
}

// outline is the plan laid out in rows. It changes only when the plan does, or
// what is folded in it.
type outline struct {
	Rows  []Row
	find  map[string]int // row of each key
	rails *planlayout.Rails
	signs int // columns of signs beside the rails
	width int // of the rails and the signs
	chart *chart
	nodes []node
	of    []int // for each step its node
	flat  bool  // a list without lanes: what a filter found

	longest, tool, index int // widths of the longest title, tool name and index, in cells
	reasoned             bool
}

// layOut lays out nodes of a plan that stand in execution order.
func (d *Pane) layOut(nodes []node, of []int, limit int) *outline {
	c := d.Chart
	o := &outline{chart: c, nodes: nodes, of: of, longest: c.longest, tool: c.tool, index: c.index}
	o.rails = planlayout.NewRails(planlayout.Graph(nodeDeps(c, nodes, of)).Reduce(), limit)
	o.signs = 1
	ghosts := d.gatherGhosts()
	o.addGhosts(d, ghosts[""], 0)
	for i := range nodes {
		n := &nodes[i]
		if n.head != nil {
			o.add(Row{Kind: RowRoll, Key: n.head.key, Roll: n.head, rails: railsAbove, node: i})
		}
		if n.roll != nil {
			o.addRoll(d, n.roll, i)
		} else {
			o.addStep(d, n.step, i)
		}
		for _, m := range n.members() {
			o.addGhosts(d, ghosts[c.Steps[m].Step.Index], i+1)
		}
	}
	o.width = draw.RailsWidth(o.rails) + o.signs
	o.finish()
	return o
}

func (o *outline) add(r Row) { o.Rows = append(o.Rows, r) }

// addStep adds a step with a place of its own in the graph.
func (o *outline) addStep(d *Pane, at, node int) {
	s := o.chart.Steps[at]
	r := Row{Kind: RowStep, Key: s.Step.Index, Step: s, at: at, rails: railsBeside, node: node}
	o.addBefore(d, r)
	if noted := o.rails.Noted[node]; len(noted) > 0 {
		for _, p := range o.chart.deps[at] {
			if slices.Contains(noted, o.of[p]) {
				r.after = append(r.after, o.chart.Steps[p].Step.Index)
			}
		}
	}
	o.add(r)
	o.addCalls(r, d.calls[s.Step.Index])
}

// addRoll adds a roll-up, with those of its steps under it that have a row all
// the same.
func (o *outline) addRoll(d *Pane, roll *rollup, node int) {
	head := Row{Kind: RowRoll, Key: roll.key, Roll: roll, rails: railsBeside, node: node}
	if !o.reasoned {
		for _, m := range roll.members {
			if o.chart.Steps[m].Change != agent.ChangeNone {
				o.addReason(d, head)
				break
			}
		}
	}
	o.add(head)
	o.signs = 2 // also where none is shown now, so that nothing moves when one is
	for _, m := range roll.shown {
		s := o.chart.Steps[m]
		r := Row{Kind: RowStep, Key: s.Step.Index, Step: s, at: m, Roll: roll, rails: railsBelow, node: node, nested: true}
		o.addBefore(d, r)
		o.add(r)
		o.addCalls(r, d.calls[s.Step.Index])
	}
}

// finish takes the widths that the columns are made from, and notes where each
// row stands.
func (o *outline) finish() {
	o.find = make(map[string]int, len(o.Rows))
	for i := range o.Rows {
		r := &o.Rows[i]
		if r.Key != "" {
			o.find[r.Key] = i
		}
		if r.Step == nil || r.owner != nil {
			continue
		}
		if r.Kind == RowGone || len(r.after) > 0 {
			title := ansi.StringWidth(untrusted.Line(r.Step.Step.Title))
			if len(r.after) > 0 {
				title += min(3+len(strings.Join(r.after, ",")), longestAfter)
			}
			o.longest = max(o.longest, title)
			o.tool = max(o.tool, ansi.StringWidth(telling.StepTool(r.Step)))
			o.index = max(o.index, ansi.StringWidth(untrusted.Line(r.Step.Step.Index)))
		}
	}
}

// longestAfter bounds the room that is kept beside a title for the steps that it
// comes after, in cells.
const longestAfter = 60

// listed is an outline of single steps without lanes.
func (d *Pane) listed(found []int) *outline {
	c := d.Chart
	o := &outline{chart: c, signs: 1, width: 1, flat: true, longest: c.longest, tool: c.tool, index: c.index}
	for _, at := range found {
		s := c.Steps[at]
		r := Row{Kind: RowStep, Key: s.Step.Index, Step: s, at: at}
		o.add(r)
		o.addCalls(r, d.calls[s.Step.Index])
	}
	o.finish()
	return o
}
