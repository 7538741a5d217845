package dag

import (
	"fmt"
	"strings"
	"time"

	"replan/agent"
	"replan/agent/event"
	"replan/tui/draw"
	"replan/tui/keymap"
	"replan/tui/wording"
)

// Pane shows the plan as it runs, as a list or as a graph. The list has one row per step
// in execution order, with lanes beside the rows and the steps that revisions removed.
// Pane lays out rows when the plan changes and draws only visible rows.
type Pane struct {
	styles *draw.Styles
	keys   *keymap.Map
	state  State // of the rest of the screen
	mapped bool  // the graph fills the screen while the pane has the focus

	plan   *shownPlan
	filter planFilter
	cursor cursor
	list   *list
	graph  *graph

	built shape
	stale bool // rows need a new layout
	news  bool // something happened since the last layout
	view  []string
	drawn bool
}

// State is what the pane needs to know of the rest of the screen.
type State struct {
	Size        draw.Rect
	Focused     bool
	FillsScreen bool   // the plan takes the whole screen
	Live        bool   // the run is under way
	Resumable   bool   // the run has ended and can be resumed
	Recorded    bool   // the run is replayed
	Asked       string // step with a pending question to the user, followed first; "" for none
}

// shape is everything the layout depends on, except what is collapsed.
type shape struct {
	run      *agent.Run
	revision int
	steps    int
	limit    int
	calls    int // of agent steps and the chat
}

// New returns a pane without a plan.
func New(l *draw.Styles, keys *keymap.Map) *Pane {
	d := &Pane{styles: l, keys: keys}
	d.Show(nil)
	return d
}

// SetState tells the pane about the rest of the screen.
func (d *Pane) SetState(s State) {
	if was := d.state.Size; was.W != s.Size.W || was.H != s.Size.H {
		d.drawn, d.news = false, true
	}
	if d.graph.fill(s.FillsScreen) || s.Focused != d.state.Focused || s.Asked != d.state.Asked {
		d.drawn = false
	}
	d.state = s
}

// Mapped reports whether the graph fills the screen while the pane has the focus.
func (d *Pane) Mapped() bool { return d.mapped }

// TurnMap switches the graph between the whole screen and the pane.
func (d *Pane) TurnMap() {
	d.mapped = !d.mapped
	d.graph.hold()
}

// Run returns the run that the pane shows, nil for none.
func (d *Pane) Run() *agent.Run { return d.plan.Run }

// Continue shows another state of the same run, which is resumed.
func (d *Pane) Continue(run *agent.Run) { d.plan.resume(run) }

// Show replaces the run; nil shows none.
func (d *Pane) Show(run *agent.Run) {
	v := d.plan.another(d.styles, run)
	*d = Pane{
		styles: d.styles, keys: d.keys, state: d.state, mapped: d.mapped,
		plan: v, cursor: cursor{Follows: true}, list: newList(d.styles, d.keys, v), graph: newGraph(d.styles, v, d.graph), news: true,
	}
}

// Lose stores the names of the servers that were lost, sorted.
func (d *Pane) Lose(servers []string) {
	if d.plan.lose(servers) {
		d.drawn = false
	}
}

// Invalidate forces a redraw on the next call of View.
func (d *Pane) Invalidate() { d.drawn = false }

// ApplyEvent records an event that was applied to a run.
func (d *Pane) ApplyEvent(run *agent.Run, data event.Data) {
	if run != d.plan.Run || data.Kind().Passing() {
		return
	}
	d.news = true
	d.plan.apply(data)
}

// Empty reports whether there is nothing to list: no step, and no call of the chat.
func (d *Pane) Empty() bool { return d.plan.empty() }

// Large reports whether the plan has more rows than fit the view.
func (d *Pane) Large() bool {
	return d.plan.Chart != nil && len(d.plan.Chart.Steps) > max(d.state.Size.H, 1)
}

// layout updates the rows and the selection.
func (d *Pane) layout() {
	run := d.plan.Run
	if run == nil {
		return
	}
	now := d.built
	if d.news || !d.list.built() || run != now.run || !d.cursor.knowsQuestion(d.state.Asked) {
		now = shape{run: run, revision: run.Revision, steps: len(run.Steps), limit: draw.LaneLimit(d.state.Size.W), calls: countCalls(run)}
		steps, states := d.plan.refresh()
		d.stale = d.stale || steps || states && (d.plan.groups() || d.filter.on())
		d.cursor.followQuestion(d.plan, d.state.Asked)
		d.news = false
	}
	selected := d.list.find(d.cursor.Key)
	hidden := d.list.built() && selected < 0 && !d.filter.on() && d.plan.chartHas(d.cursor.Key)
	if d.stale || hidden || !d.list.built() || now != d.built {
		d.list.layOut(&d.filter, d.cursor.Key, now.limit, d.state.Size.H)
		d.built, d.stale, d.drawn = now, false, false
		selected = d.list.find(d.cursor.Key)
	}
	if selected < 0 {
		d.cursor.put(d.list.key(d.list.inView()))
	}
}

// body returns the number of lines for rows.
func (d *Pane) body() int {
	if d.filter.shown() {
		return max(d.state.Size.H-1, 0)
	}
	return d.state.Size.H
}

// Move moves the selection by n rows and stops following the run.
func (d *Pane) Move(n int) {
	switch {
	case d.ShowsGraph():
		d.chooseNode(d.graph.page(d.node(), n))
	case d.list.built():
		d.choose(d.list.move(d.cursor.Key, n, d.body()))
	}
}

// scroll scrolls the list or the graph by cells, and keeps the selection.
func (d *Pane) scroll(dx, dy int) {
	moved := false
	if d.ShowsGraph() {
		moved = d.graph.pan(dx, dy)
	} else {
		moved = d.list.scroll(dy, d.cursor.Key, d.body())
	}
	if moved {
		d.cursor.follow(false)
		d.drawn = false
	}
}

// choose selects row i if it is selectable.
func (d *Pane) choose(i int) {
	if key := d.list.key(i); key != "" {
		d.selectKey(key)
	}
}

// selectKey selects the row with this key, even if it is collapsed.
func (d *Pane) selectKey(key string) {
	d.cursor.choose(key)
	d.hold()
}

// setFollow sets whether the selection follows the run.
func (d *Pane) setFollow(on bool) {
	d.cursor.follow(on)
	d.hold()
	d.news = true
}

// hold keeps the selection in view from now on.
func (d *Pane) hold() {
	d.list.hold()
	d.graph.hold()
	d.drawn = false
}

// Selected returns the key of the selected row, "" for none.
func (d *Pane) Selected() string { return d.cursor.Key }

// Chosen returns the selected row, or nil.
func (d *Pane) Chosen() *Row {
	d.layout()
	return d.list.row(d.list.find(d.cursor.Key))
}

// ChosenStep returns the selected step of the current plan, or nil.
func (d *Pane) ChosenStep() *agent.StepState {
	if r := d.Chosen(); r != nil && (r.Kind == RowStep || r.Kind == RowCall || r.Kind == RowCalls) {
		return r.Step
	}
	return nil
}

// ChosenTitle returns the title of the chosen step, "Step" if none is chosen.
func (d *Pane) ChosenTitle() string {
	if r := d.Chosen(); r != nil && r.Step != nil {
		return draw.StepTitle(d.styles, r.Step.Step.Index)
	}
	return "Step"
}

// Reveal selects a step, even if a revision has removed it.
func (d *Pane) Reveal(index string) {
	key, expanded := d.plan.keyOfStep(index)
	d.stale = d.stale || expanded
	d.reveal(key)
}

// reveal selects the row with this key. A collapsed step gets a row beside its
// group.
func (d *Pane) reveal(key string) {
	d.selectKey(key)
	d.layout()
}

// View draws the pane: Height lines of exactly Width cells.
func (d *Pane) View() []string {
	if d.drawn {
		return d.view
	}
	graph := d.ShowsGraph()
	d.drawn = true
	if graph {
		d.view = d.graph.draw(d.node(), d.state.Focused)
		return d.view
	}
	size, body := d.state.Size, d.body()
	var view []string
	if d.list.count() == 0 {
		words := draw.Wrap(d.empty(), max(size.W-2, 1))
		for _, line := range words[:min(len(words), max(body, 0))] {
			view = append(view, d.styles.Fit(" "+d.styles.Faint.Render(line), size.W))
		}
	} else {
		view = d.list.draw(d.cursor.Key, size.W, body, d.state.Focused)
		if !d.filter.on() {
			view = append(view, d.plan.notes(size.W, body-len(view))...)
		}
	}
	for blank := strings.Repeat(" ", max(size.W, 0)); len(view) < body; {
		view = append(view, blank)
	}
	if d.filter.shown() && size.H > 0 {
		view = append(view, d.filter.draw(d.styles, d.keys, d.plan.Chart, size.W))
	}
	d.view = view
	return d.view
}

// empty explains why there are no steps.
func (d *Pane) empty() string {
	switch {
	case d.filter.on() && d.plan.Chart != nil && len(d.plan.Chart.Steps) > 0:
		return "No matching steps."
	case d.plan.Run == nil:
		return "The plan appears here."
	case d.plan.Run.Result != nil && d.plan.Run.Synthesis.Direct && d.plan.Run.Result.Status == event.StatusCompleted:
		if d.state.Recorded {
			return "Answered without a plan."
		}
		return "Answered without a plan. " + d.keys.LeadingName("runs") + " opens the plans of earlier runs."
	case d.plan.Run.Result != nil:
		return "This run had no plan."
	case d.plan.Run.Synthesis.Started:
		return "No plan is needed."
	default:
		return "The steps appear here as they are planned."
	}
}

// Title returns the pane's title: revision, completed steps, elapsed time, and
// whether the selection follows the run.
func (d *Pane) Title() string {
	l, run := d.styles, d.plan.Run
	if run == nil {
		return "Plan"
	}
	d.layout()
	parts := []string{"Plan"}
	switch {
	case len(run.Steps) == 0 && run.Chat != nil && len(run.Chat.Calls) > 0:
		parts = []string{"Calls", fmt.Sprintf("%d/%d", doneOf(run.Chat.Calls), len(run.Chat.Calls))}
	case run.Revision == 0 && run.Result == nil:
		if len(run.Steps) > 0 {
			parts = append(parts, "drafting")
		}
	case run.Revision > 0:
		if run.Revision > 1 {
			parts = append(parts, fmt.Sprintf("rev %d", run.Revision))
		}
		parts = append(parts, fmt.Sprintf("%d/%d", d.plan.Counts.sum()[wording.ClassDone], len(run.Steps)))
	}
	if run.Replanning != nil {
		parts = append(parts, "replanning")
	}
	elapsed := run.Elapsed() + l.Since(run.Now)
	if run.Result != nil {
		elapsed = time.Duration(run.Result.DurationMS) * time.Millisecond
	}
	parts = append(parts, wording.ClockTime(elapsed))
	if d.cursor.Follows && run.Result == nil && len(run.Steps) > 0 {
		parts = append(parts, "follow")
	}
	return strings.Join(parts, " "+l.Glyphs.Separator+" ")
}

// Summary returns the step counts by status, or "" if the whole plan is in
// view.
func (d *Pane) Summary() string {
	size := d.state.Size
	switch {
	case d.plan.Run == nil || !d.list.built() || d.plan.Counts == nil:
		return ""
	case d.ShowsGraph():
		if d.graph.fits(size.W) {
			return ""
		}
	case d.list.count() <= size.H:
		return ""
	}
	return countWords(d.styles, d.plan.Counts.sum(), asItIs)
}
