package plantext

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"replan/agent"
	"replan/internal/untrusted"
	"replan/planning/plan"
	"replan/planning/plan/layout"
	"replan/themes"
	"replan/tui/wording"
)

// lanesShown is the maximum number of lanes drawn side by side. Each row also lists
// its dependencies.
const lanesShown = 8

// Plan draws a plan as lines of text in execution order:
//
//	○    1. Title   [tool]
//	├─○  2. Title   [tool]  ← after: 1
//	○ │  3. Title   [tool]  ← after: 1
//	○─╯  4. Title   [tool]  ← after: 2, 3
//
// The rails on the left join each step to its dependencies, as layout.Rails describes.
func Plan(p plan.Plan, ascii bool) string {
	d := newDrawing(p, ascii)
	sign := d.signs[agent.StepPending]
	for i, at := range d.order {
		d.add(textRow{cells: d.rails.Row(i), at: d.rails.Mark(i), sign: sign, step: &d.steps[at], planned: true})
	}
	return d.text()
}

// Run draws the current plan of a run, with a sign for the state of each step.
// Steps removed by the newest revision keep their position, marked −. Added or
// revised steps are marked + or ~. If words is not nil, it adds details to each
// step, and Run also draws calls and steps removed by older revisions.
func Run(run *agent.Run, ascii bool, words func(*agent.StepState) string) string {
	p := run.Plan
	p.Steps = make([]plan.Step, len(run.Steps))
	states := make(map[string]*agent.StepState, len(run.Steps))
	for i, s := range run.Steps {
		p.Steps[i] = s.Step
		states[s.Step.Index] = s
	}
	d := newDrawing(p, ascii)
	removed := make(map[string][]textRow)
	for n := range run.Revisions {
		if words == nil && n < len(run.Revisions)-1 {
			continue
		}
		for i := range run.Revisions[n].Removed {
			after := run.RemovedAfter(n, i)
			s := &run.Revisions[n].Removed[i]
			row := textRow{at: -1, mark: d.glyphs.Removed, sign: d.sign(s), step: &s.Step}
			if words != nil {
				row.words = fmt.Sprintf("removed by revision %d", run.Revisions[n].Number)
			}
			removed[after] = append(removed[after], row)
		}
	}
	d.addRemoved(removed[""], nil)
	for i, at := range d.order {
		s := states[d.steps[at].Index]
		row := textRow{cells: d.rails.Row(i), at: d.rails.Mark(i), sign: d.sign(s), step: &s.Step, planned: true}
		switch s.Change {
		case agent.ChangeAdded:
			row.mark = d.glyphs.Added
		case agent.ChangeRevised:
			row.mark = d.glyphs.Revised
		}
		if words != nil {
			row.words = words(s)
		}
		d.add(row)
		if words != nil {
			d.addInner(s, d.rails.Below(i), "  ", words)
		}
		d.addRemoved(removed[s.Step.Index], d.rails.Below(i))
	}
	return d.text()
}

// addInner adds the items of a step, or the calls of its sub-agent. Of very many items it
// adds those that did not succeed.
func (d *drawnPlan) addInner(s *agent.StepState, cells []layout.Cell, inset string, words func(*agent.StepState) string) {
	inner := wording.Inner(s)
	if len(s.Items) > plan.DefaultMax {
		inner = wording.ItemsLeftOut(s)
		inner = inner[:min(len(inner), plan.DefaultMax)]
	}
	for _, c := range inner {
		step := c.Step
		step.Title = untrusted.Text(wording.InnerTitle(c, s))
		d.add(textRow{cells: cells, at: -1, sign: inset + d.sign(c), step: &step, words: words(c)})
		d.addInner(c, cells, inset+"  ", words)
	}
}

// addRemoved adds steps removed by revisions between the lanes of the remaining
// ones.
func (d *drawnPlan) addRemoved(rows []textRow, cells []layout.Cell) {
	for _, r := range rows {
		r.cells = cells
		d.add(r)
	}
}

// drawnPlan is a plan being drawn as text.
type drawnPlan struct {
	ascii  bool
	glyphs themes.Glyphs
	signs  map[agent.StepStatus]string
	graph  *plan.Graph
	steps  []plan.Step // by position in graph
	order  []int
	rails  *layout.Rails
	rows   []textRow
}

// textRow is one line of a drawing.
type textRow struct {
	mark    string // effect of a revision on it; "" for none
	cells   []layout.Cell
	at      int // cell in which the sign stands, -1 if it stands beside the rails
	sign    string
	step    *plan.Step
	planned bool // a step of the plan, neither a call nor removed
	words   string
}

func newDrawing(p plan.Plan, ascii bool) *drawnPlan {
	d := &drawnPlan{ascii: ascii, glyphs: themes.UnicodeGlyphs(), graph: plan.NewGraph(p)}
	d.signs = map[agent.StepStatus]string{
		agent.StepPending: "○", agent.StepCompleted: "✓", agent.StepFailed: "✗", agent.StepSkipped: "—",
		agent.StepInDoubt: "?", agent.StepWaiting: "◆", agent.StepRunning: "▸", agent.StepChecking: "▸",
	}
	if ascii {
		d.glyphs = themes.ASCIIGlyphs()
		d.signs = map[agent.StepStatus]string{
			agent.StepPending: "o", agent.StepCompleted: "v", agent.StepFailed: "x", agent.StepSkipped: "=",
			agent.StepInDoubt: "?", agent.StepWaiting: "*", agent.StepRunning: ">", agent.StepChecking: ">",
		}
	}
	d.steps = make([]plan.Step, d.graph.Len())
	for i := len(p.Steps) - 1; i >= 0; i-- { // if two steps share an index, the first counts
		if at, ok := d.graph.Position(p.Steps[i].Index); ok {
			d.steps[at] = p.Steps[i]
		}
	}
	d.order = layout.Order(d.graph)
	d.rails = layout.NewRails(layout.OfPlan(d.graph, d.order).Reduce(), lanesShown)
	return d
}

func (d *drawnPlan) sign(s *agent.StepState) string {
	if wording.IsDeclined(s) {
		return d.glyphs.Declined
	}
	return cmp.Or(d.signs[s.Status], d.signs[agent.StepPending])
}

func (d *drawnPlan) add(r textRow) { d.rows = append(d.rows, r) }

// text formats the rows in columns: marks if there are any, rails, signs, titles
// and tools.
func (d *drawnPlan) text() string {
	title, marked := 0, false
	for i := range d.rows {
		r := &d.rows[i]
		marked = marked || r.mark != ""
		if w := ansi.StringWidth(label(*r.step)); w <= widest {
			title = max(title, w)
		}
	}
	var b strings.Builder
	for i := range d.rows {
		r := &d.rows[i]
		var line strings.Builder
		if marked {
			line.WriteString(padded(r.mark, 1) + " ")
		}
		line.WriteString(padded(d.rail(r), d.rails.Width) + "  ")
		if r.at < 0 {
			line.WriteString(r.sign + " ")
		}
		line.WriteString(padded(label(*r.step), title))
		d.writeTail(&line, r)
		b.WriteString(strings.TrimRight(line.String(), " ") + "\n")
	}
	return b.String()
}

// writeTail writes the part of a row after its title.
func (d *drawnPlan) writeTail(line *strings.Builder, r *textRow) {
	line.WriteString("  [" + carrier(*r.step) + "]")
	if !r.planned {
		if r.words != "" {
			line.WriteString("  " + r.words)
		}
		return
	}
	after := "← after: "
	if d.ascii {
		after = "<- after: "
	}
	if needs := d.graph.Dependencies(r.step.Index); len(needs) > 0 {
		line.WriteString("  " + after + untrusted.Line(strings.Join(needs, ", ")))
	}
	if f := r.step.ForEach; f != nil {
		line.WriteString("  for each " + wording.EachWords(f))
	}
	if r.words != "" {
		line.WriteString("  " + r.words)
	}
}

// rail draws the cells of a row, and the sign in its cell.
func (d *drawnPlan) rail(r *textRow) string {
	var b strings.Builder
	for i, c := range r.cells {
		if i == r.at {
			b.WriteString(r.sign)
			continue
		}
		b.WriteString(d.glyphs.Lanes.Cell(c.Sides))
	}
	return b.String()
}

// padded pads text with spaces.
func padded(text string, width int) string {
	return text + strings.Repeat(" ", max(width-ansi.StringWidth(text), 0))
}

// widest is the maximum title width used for alignment, in cells. It keeps one long
// title from pushing every tool off the screen.
const widest = 72

// carrier names the executor of a step: its tool, its profile or the model itself.
func carrier(s plan.Step) string {
	if s.Executor == plan.ExecutorAgent && s.Profile != "" {
		return "agent " + untrusted.Line(s.Profile)
	}
	return Executor(s.Executor, s.Tool)
}

func label(s plan.Step) string { return untrusted.Line(s.Index + ". " + s.Title.Visible()) }

// Executor names the executor of a step as plan files do: its tool, otherwise the
// kind of executor.
func Executor(executor plan.Executor, tool string) string {
	if tool != "" {
		return untrusted.Line(tool)
	}
	return untrusted.Line(string(executor))
}
