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

// Pane shows the plan as it runs: one row per step in execution order, with
// lanes beside the rows and the steps that revisions removed. Pane lays out
// rows when the plan changes and draws only visible rows.
type Pane struct {
	planView
	Width  int
	Height int

	outline *outline
	built   shape
	stale   bool // rows need a new layout
	news    bool // something happened since the last layout
	replan  bool // the news may have changed the plan itself

	folds  folds
	filter planFilter

	state  State
	Mapped bool // the graph fills the screen while the pane has the focus

	Selected string
	Follow   bool   // the selection follows the running step
	heeded   string // state.Asked at the last layout
	focused  bool
	top      int
	loose    bool // the user scrolled the view, so it need not show the selection
	tall     bool // the selected row takes two lines

	Graph Graph
	rows  rowPainter
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

// planView is what every drawing of a run's plan reads: the steps, their states,
// and the rows that the user expanded.
type planView struct {
	Styles     *draw.Styles
	Keys       *keymap.Map
	Run        *agent.Run
	chart      *chart
	stepCounts *stepCounts
	opened     map[int]bool    // revisions that the user expanded (true) or collapsed
	calls      map[string]bool // agent steps with expanded calls
	lost       lostTools
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
	d := &Pane{planView: planView{Styles: l, Keys: keys}}
	d.Show(nil)
	return d
}

// setSize sets the size of the pane, in cells.
func (d *Pane) setSize(width, height int) {
	if width != d.Width || height != d.Height {
		d.Width, d.Height, d.drawn, d.news = width, height, false, true
	}
}

// setFocus sets whether the pane receives keys.
func (d *Pane) setFocus(focused bool) {
	if d.focused != focused {
		d.focused, d.drawn = focused, false
	}
}

// TurnMap switches the graph between the whole screen and the pane.
func (d *Pane) TurnMap() {
	d.Mapped = !d.Mapped
	d.Graph.loose = false
}

// SetState tells the pane about the rest of the screen.
func (d *Pane) SetState(s State) {
	d.setSize(s.Size.W, s.Size.H)
	d.setFocus(s.Focused)
	if d.Graph.mapped != s.FillsScreen {
		d.Graph.mapped, d.drawn = s.FillsScreen, false
	}
	if d.state.Asked != s.Asked {
		d.drawn = false
	}
	d.state = s
}

// Continue shows another state of the same run, which is resumed.
func (d *Pane) Continue(run *agent.Run) { d.Run = run }

// Show replaces the run; nil shows none.
func (d *Pane) Show(run *agent.Run) {
	*d = Pane{
		planView: planView{Styles: d.Styles, Keys: d.Keys, Run: run, opened: map[int]bool{}, calls: map[string]bool{}, lost: lostTools{servers: d.lost.servers}},
		Width:    d.Width, Height: d.Height, focused: d.focused,
		state: d.state, Mapped: d.Mapped,
		Follow: true, news: true, replan: true, folds: newFolds(),
		Graph: Graph{planView: &d.planView, Mode: d.Graph.Mode, zoom: d.Graph.zoom, mapped: d.Graph.mapped},
		rows:  rowPainter{planView: &d.planView, spinAt: -1},
	}
}

// Invalidate forces a redraw on the next call of View.
func (d *Pane) Invalidate() { d.drawn = false }

// ApplyEvent records an event that was applied to a run.
func (d *Pane) ApplyEvent(run *agent.Run, data event.Data) {
	if run != d.Run || data.Kind().Passing() {
		return
	}
	d.news = true
	if d.stepCounts != nil {
		index, _ := event.StepOf(data)
		d.stepCounts.mark(index)
	}
	switch data.(type) {
	case event.PlanDrafting, event.PlanCreated, event.PlanChosen, event.PlanDiff, event.PlanReviewed, event.RunResumed:
		d.replan = true
	}
}

// Empty reports whether there is nothing to list: no step, and no call of the chat.
func (d *Pane) Empty() bool {
	return d.Run == nil || len(d.Run.Steps) == 0 && (d.Run.Chat == nil || len(d.Run.Chat.Calls) == 0)
}

// layout updates the rows and the selection.
func (d *Pane) layout() {
	if d.Run == nil {
		return
	}
	now := d.built
	if d.news || d.outline == nil || d.Run != now.run || d.state.Asked != d.heeded {
		now = shape{run: d.Run, revision: d.Run.Revision, steps: len(d.Run.Steps), limit: draw.LaneLimit(d.Width), calls: countCalls(d.Run)}
		d.recount(now)
		if d.Follow {
			if s := d.followed(); s != nil {
				d.Selected = d.keyOf(s)
			}
		}
		d.news, d.heeded = false, d.state.Asked
	}
	hidden := false
	if d.outline != nil && d.Position() < 0 && d.chart != nil && !d.filter.on() {
		_, hidden = d.chart.at[d.Selected]
	}
	if d.stale || hidden || d.outline == nil || now != d.built {
		d.rebuild(now)
	}
	if d.Position() < 0 {
		d.Selected = ""
		if i := d.nearest(d.top); i >= 0 {
			d.Selected = d.outline.Rows[i].Key
		}
	}
}

// recount updates the chart and the step counts.
func (d *Pane) recount(now shape) {
	if d.chart == nil || d.replan || now.run != d.built.run || now.steps != d.built.steps || now.revision != d.built.revision || !d.chart.stands(d.Run) {
		d.chart = newChart(d.Run)
		d.stepCounts = newStepCounts(d.Run, d.chart)
		d.stale, d.replan = true, false
	}
	if d.stepCounts.refresh() && (d.grouping() || d.filter.on()) {
		d.stale = true
	}
}

// grouping reports whether step status decides which steps are grouped.
func (d *Pane) grouping() bool {
	return d.folds.Level == foldAll || d.folds.Level == foldAuto && len(d.chart.Steps) > groupFrom
}

// rebuild lays out the rows again and keeps the row the user looks at in place.
func (d *Pane) rebuild(now shape) {
	held, line := d.holding()
	switch {
	case len(d.Run.Steps) == 0 && d.Run.Chat != nil:
		d.outline = chatOutline(d.Run.Chat)
	case d.filter.on():
		d.filter.search(d.chart, d.stepCounts)
		d.outline = d.listed(d.filter.found)
	default:
		keep := -1
		if i, ok := d.chart.at[d.Selected]; ok {
			keep = i
		}
		nodes, of := nodesOf(&d.folds, d.chart, d.stepCounts, keep)
		d.outline = d.layOut(nodes, of, now.limit)
	}
	d.built, d.stale, d.drawn = now, false, false
	d.rows.relatives = relatives{}
	if i, ok := d.outline.find[held]; ok && held != "" {
		d.top = i - line
	}
}

// holding returns the key of the row the user looks at, and its line in the
// view.
func (d *Pane) holding() (key string, line int) {
	if d.outline == nil {
		return "", 0
	}
	at := d.Position()
	if d.loose || at < d.top || at >= d.top+d.Height {
		at = d.nearest(d.top)
	}
	if at < 0 {
		return "", 0
	}
	return d.outline.Rows[at].Key, at - d.top
}

// followed returns the step that the selection follows, or nil.
func (d *Pane) followed() *agent.StepState {
	if d.state.Asked != "" {
		if s := d.Run.Step(d.state.Asked); s != nil {
			return s
		}
	}
	return wording.CurrentStep(d.Run)
}

// Position returns the index of the selected row, or -1.
func (d *Pane) Position() int {
	if d.outline == nil {
		return -1
	}
	if i, ok := d.outline.find[d.Selected]; ok {
		return i
	}
	return -1
}

// next returns the nearest selectable row from row i in steps of by, or -1.
func (d *Pane) next(i, by int) int {
	for i += by; i >= 0 && i < len(d.outline.Rows); i += by {
		if d.outline.Rows[i].Key != "" {
			return i
		}
	}
	return -1
}

// nearest returns the selectable row at i, else the next one after it, else the
// last one before it.
func (d *Pane) nearest(i int) int {
	i = max(min(i, len(d.outline.Rows)), 0)
	if at := d.next(i-1, 1); at >= 0 {
		return at
	}
	return d.next(i, -1)
}

// Move moves the selection by n rows and stops following the run.
func (d *Pane) Move(n int) {
	switch {
	case d.ShowsGraph():
		d.chooseNode(d.Graph.page(d.graphAt(), n))
		return
	case d.outline == nil:
		return
	}
	by := 1
	if n < 0 {
		n, by = -n, -1
	}
	at := d.Position()
	if d.loose && (at < d.top || at >= d.top+d.body()) {
		// Start from the rows in view, not from the selection out of view.
		at = d.nearest(d.top) - by
	}
	for range min(n, len(d.outline.Rows)) {
		i := d.next(at, by)
		if i < 0 {
			break
		}
		at = i
	}
	d.choose(at)
}

// choose selects row i if it is selectable.
func (d *Pane) choose(i int) {
	if d.outline == nil || i < 0 || i >= len(d.outline.Rows) || d.outline.Rows[i].Key == "" {
		return
	}
	d.selectKey(d.outline.Rows[i].Key)
}

// selectKey selects the row with this key, even if it is collapsed.
func (d *Pane) selectKey(key string) {
	d.Selected, d.Follow, d.loose, d.drawn = key, false, false, false
	d.Graph.loose = false
}

// setFollow sets whether the selection follows the run.
func (d *Pane) setFollow(on bool) {
	d.Follow, d.loose, d.drawn, d.news = on, false, false, true
	d.Graph.loose = false
}

// Chosen returns the selected row, or nil.
func (d *Pane) Chosen() *Row {
	d.layout()
	if i := d.Position(); i >= 0 {
		return d.outline.Rows[i].now()
	}
	return nil
}

// View draws the pane: Height lines of exactly Width cells.
func (d *Pane) View() []string {
	if d.drawn {
		return d.view
	}
	graph := d.ShowsGraph()
	d.drawn = true
	if graph {
		d.view = d.Graph.draw(d.graphAt(), d.focused)
		return d.view
	}
	view := make([]string, 0, d.Height)
	body := d.body()
	switch {
	case d.outline == nil || len(d.outline.Rows) == 0:
		words := draw.Wrap(d.empty(), max(d.Width-2, 1))
		for _, line := range words[:min(len(words), max(body, 0))] {
			view = append(view, d.Styles.Fit(" "+d.Styles.Faint.Render(line), d.Width))
		}
	default:
		at := d.Position()
		d.rows.set(d.outline, d.Width, at, d.focused)
		second := ""
		if at >= 0 {
			r := d.outline.Rows[at].now()
			d.rows.draw(r)
			second = r.text.second
		}
		d.tall = second != ""
		d.scroll()
		for i := d.top; i < len(d.outline.Rows) && len(view) < body; i++ {
			view = append(view, d.rows.draw(d.outline.Rows[i].now()))
			if i == at && d.tall && len(view) < body {
				view = append(view, second)
			}
		}
		view = append(view, d.planNotes(body-len(view))...)
	}
	for blank := strings.Repeat(" ", max(d.Width, 0)); len(view) < body; {
		view = append(view, blank)
	}
	if d.filter.shown() && d.Height > 0 {
		view = append(view, d.filter.draw(&d.planView, d.Width))
	}
	d.view = view
	return d.view
}

// empty explains why there are no steps.
func (d *Pane) empty() string {
	switch {
	case d.filter.on() && d.chart != nil && len(d.chart.Steps) > 0:
		return "No matching steps."
	case d.Run == nil:
		return "The plan appears here."
	case d.Run.Result != nil && d.Run.Synthesis.Direct && d.Run.Result.Status == event.StatusCompleted:
		if d.state.Recorded {
			return "Answered without a plan."
		}
		return "Answered without a plan. " + d.Keys.LeadingName("runs") + " opens the plans of earlier runs."
	case d.Run.Result != nil:
		return "This run had no plan."
	case d.Run.Synthesis.Started:
		return "No plan is needed."
	default:
		return "The steps appear here as they are planned."
	}
}

// ChosenTitle returns the title of the chosen step, "Step" if none is chosen.
func (d *Pane) ChosenTitle() string {
	if r := d.Chosen(); r != nil && r.Step != nil {
		return draw.StepTitle(d.Styles, r.Step.Step.Index)
	}
	return "Step"
}

// Title returns the pane's title: revision, completed steps, elapsed time, and
// whether the selection follows the run.
func (d *Pane) Title() string {
	l, run := d.Styles, d.Run
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
		parts = append(parts, fmt.Sprintf("%d/%d", d.stepCounts.total[wording.ClassDone], len(run.Steps)))
	}
	if run.Replanning != nil {
		parts = append(parts, "replanning")
	}
	elapsed := run.Elapsed() + l.Since(run.Now)
	if run.Result != nil {
		elapsed = time.Duration(run.Result.DurationMS) * time.Millisecond
	}
	parts = append(parts, wording.ClockTime(elapsed))
	if d.Follow && run.Result == nil && len(run.Steps) > 0 {
		parts = append(parts, "follow")
	}
	return strings.Join(parts, " "+l.Glyphs.Separator+" ")
}

// Summary returns the step counts by status, or "" if the whole plan is in
// view.
func (d *Pane) Summary() string {
	switch {
	case d.Run == nil || d.outline == nil || d.stepCounts == nil:
		return ""
	case d.ShowsGraph():
		if l := d.Graph.layers; l.Width <= d.Width && l.Height <= d.Graph.body() {
			return ""
		}
	case len(d.outline.Rows) <= d.Height:
		return ""
	}
	return countWords(d.Styles, &d.stepCounts.total, asItIs)
}
