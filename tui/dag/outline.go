package dag

import (
	"slices"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"replan/agent"
	planlayout "replan/planning/plan/layout"
	"replan/tui/wording"
)

// rowKind is what a row of the plan shows.
type rowKind int

// Kinds of rows.
const (
	RowStep     rowKind = iota
	RowGone             // a step that a revision removed, or its previous version
	RowRevision         // the reason for a revision, or an older revision, collapsed or as a heading
	RowCalls            // the items of a step or the calls of its sub-agent, collapsed or as a heading
	RowCall             // one of these items or calls, or a call of the chat
	RowGroup            // a group of several steps, or its heading
)

// Row is one line of the plan.
type Row struct {
	Kind     rowKind
	Key      string // what the selection refers to; "" is not selectable
	Step     *agent.StepState
	at       int      // position in execution order, for RowStep and the rows of its calls
	after    []string // dependencies that no lane shows
	Revision *agent.Revision
	owner    *agent.StepState // for rows of items and calls: their step
	depth    int              // for rows of items and calls: 0 below a step of the plan, 1 below an item
	Group    *group           // for RowGroup, and for a step in a group: the group

	rails  railsPart
	node   int  // node beside the row
	nested bool // part of the row above it
}

// signBeside reports whether a sign of the row stands beside the rails. It is that of a
// heading, of a removed step, or of a step in a group.
func (r Row) signBeside() bool {
	return r.rails != railsBeside && (r.Kind == RowGroup || r.Step != nil && r.owner == nil)
}

// railsPart is the part of the rails that a row shows.
type railsPart int

const (
	railsNone   railsPart = iota
	railsAbove            // lanes that lead to its node from above, or pass it
	railsBeside           // those of the node itself
	railsBelow            // lanes below it
)

// cells returns the rails left of a row.
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

// outline is the plan laid out in rows. It changes only when the plan changes
// or rows expand or collapse.
type outline struct {
	Rows  []Row
	rows  map[string]int // row of each key
	rails *planlayout.Rails
	width int // of the rails and of the signs beside them
	chart *chart
	nodes []node
	of    []int // node of each step
	flat  bool  // a list without lanes, as for filter results

	widths   textWidths // of its steps
	reasoned bool       // the reason of the newest revision has its row
}

// newOutline lays out the nodes of a plan, given in execution order.
func newOutline(v *shownPlan, nodes []node, of []int, limit int) *outline {
	c := v.Chart
	o := &outline{chart: c, nodes: nodes, of: of, widths: c.textWidths()}
	o.rails = planlayout.NewRails(planlayout.Graph(nodeDeps(c, nodes, of)).Reduce(), limit)
	removed := removedRows(v)
	o.addRemoved(v, removed[""], 0)
	for i := range nodes {
		n := &nodes[i]
		if n.head != nil {
			o.add(Row{Kind: RowGroup, Key: n.head.Key(), Group: n.head, rails: railsAbove, node: i})
		}
		if n.group != nil {
			o.addGroup(v, n.group, i)
		} else {
			o.addStep(v, n.step, i)
		}
		for _, m := range n.members() {
			o.addRemoved(v, removed[c.Steps[m].Step.Index], i+1)
		}
	}
	o.width = o.rails.Width
	if slices.ContainsFunc(o.Rows, func(r Row) bool { return r.signBeside() }) {
		o.width += 2
	}
	o.finish()
	return o
}

// find returns the row of a key, or -1.
func (o *outline) find(key string) int {
	if i, ok := o.rows[key]; ok {
		return i
	}
	return -1
}

// gutter returns the width of the columns before the rows: of rails and signs.
func (o *outline) gutter() int { return o.width }

// mark returns the cell of the rails in which the sign of a row stands, -1 if it stands beside
// them.
func (o *outline) mark(r *Row) int {
	if r.rails != railsBeside {
		return -1
	}
	return o.rails.Mark(r.node)
}

// textWidths returns the widths of the texts of its steps.
func (o *outline) textWidths() textWidths { return o.widths }

func (o *outline) add(r Row) { o.Rows = append(o.Rows, r) }

// addStep adds a step that has its own node.
func (o *outline) addStep(v *shownPlan, at, node int) {
	s := o.chart.Steps[at]
	r := Row{Kind: RowStep, Key: s.Step.Index, Step: s, at: at, rails: railsBeside, node: node}
	o.addBefore(v, r)
	if noted := o.rails.Noted[node]; len(noted) > 0 {
		for _, p := range o.chart.dependencies(at) {
			if _, found := slices.BinarySearch(noted, o.of[p]); found {
				r.after = append(r.after, o.chart.Steps[p].Step.Index)
			}
		}
	}
	o.add(r)
	o.addCalls(r, v.Folds)
}

// addGroup adds a group, and below it those of its steps that keep a row.
func (o *outline) addGroup(v *shownPlan, group *group, node int) {
	head := Row{Kind: RowGroup, Key: group.Key(), Group: group, rails: railsBeside, node: node}
	if !o.reasoned {
		for _, m := range group.Members() {
			if o.chart.Steps[m].Change != agent.ChangeNone {
				o.addReason(v, head)
				break
			}
		}
	}
	o.add(head)
	for _, m := range group.Shown() {
		s := o.chart.Steps[m]
		r := Row{Kind: RowStep, Key: s.Step.Index, Step: s, at: m, Group: group, rails: railsBelow, node: node, nested: true}
		o.addBefore(v, r)
		o.add(r)
		o.addCalls(r, v.Folds)
	}
}

// finish computes the column widths and indexes the rows by key.
func (o *outline) finish() {
	o.rows = make(map[string]int, len(o.Rows))
	for i := range o.Rows {
		r := &o.Rows[i]
		if r.Key != "" {
			o.rows[r.Key] = i
		}
		if r.Step == nil || r.owner != nil {
			continue
		}
		if r.Kind == RowGone || len(r.after) > 0 {
			title := ansi.StringWidth(r.Step.Step.Title.Line())
			if len(r.after) > 0 {
				title += min(3+len(strings.Join(r.after, ",")), longestAfter)
			}
			o.widths = o.widths.with(title, ansi.StringWidth(wording.StepTool(&r.Step.Step)), ansi.StringWidth(r.Step.Step.Name()))
		}
	}
}

// longestAfter is the maximum width of the list of dependencies beside a title,
// in cells.
const longestAfter = 60

// foundOutline returns an outline of single steps without lanes.
func foundOutline(v *shownPlan, found []int) *outline {
	c := v.Chart
	o := &outline{chart: c, width: 1, flat: true, widths: c.textWidths()}
	for _, at := range found {
		s := c.Steps[at]
		r := Row{Kind: RowStep, Key: s.Step.Index, Step: s, at: at}
		o.add(r)
		o.addCalls(r, v.Folds)
	}
	o.finish()
	return o
}
