package dag

import (
	"fmt"
	"strings"
	"time"

	"replan/agent"
	"replan/agent/event"
	"replan/tui/draw"
	"replan/tui/keymap"
	"replan/tui/telling"
)

// Pane shows the plan as it runs: one row per step in execution order, with
// lanes beside the rows and the steps that revisions removed. Pane lays out
// rows when the plan changes and draws only visible rows.
type Pane struct {
	Look   *draw.Look
	Keys   *keymap.Map
	Run    *agent.Run
	Width  int
	Height int

	Chart   *chart
	tally   *tally
	Outline *outline
	built   shape
	Stale   bool // rows need a new layout
	News    bool // something happened since the last layout
	Replan  bool // the news may have changed the plan itself

	Folds  folds
	Open   map[int]bool    // revisions that the user expanded (true) or collapsed
	calls  map[string]bool // agent steps with expanded calls
	Filter planFilter

	Selected string
	Follow   bool   // the selection follows the running step
	Asked    string // step with a pending question to the user, followed first; "" for none
	heeded   string // Asked at the last layout
	focused  bool
	top      int
	loose    bool // the user scrolled the view, so it need not show the selection

	Graph planGraph

	kin    kinship
	spins  [2]string
	spinAt int
	view   []string
	drawn  bool
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
func New(l *draw.Look) *Pane {
	d := &Pane{Look: l, Keys: keymap.New()}
	d.Show(nil)
	return d
}

// SetSize sets the size of the pane, in cells.
func (d *Pane) SetSize(width, height int) {
	if width != d.Width || height != d.Height {
		d.Width, d.Height, d.drawn, d.News = width, height, false, true
	}
}

// SetFocus sets whether the pane receives keys.
func (d *Pane) SetFocus(focused bool) {
	if d.focused != focused {
		d.focused, d.drawn = focused, false
	}
}

// SetMapped sets whether the plan takes the whole screen.
func (d *Pane) SetMapped(mapped bool) {
	if d.Graph.mapped != mapped {
		d.Graph.mapped, d.drawn = mapped, false
	}
}

// Show replaces the run; nil shows none.
func (d *Pane) Show(run *agent.Run) {
	*d = Pane{
		Look: d.Look, Keys: d.Keys, Width: d.Width, Height: d.Height, focused: d.focused,
		Run: run, Follow: true, News: true, Replan: true, spinAt: -1,
		Folds: newFolds(), Open: map[int]bool{}, calls: map[string]bool{},
		Graph: planGraph{Mode: d.Graph.Mode, zoom: d.Graph.zoom, mapped: d.Graph.mapped},
	}
}

// Touch forces a redraw on the next call of Lines.
func (d *Pane) Touch() { d.drawn = false }

// Heard records an event that was applied to a run.
func (d *Pane) Heard(run *agent.Run, data event.Data) {
	if run != d.Run || data.Kind().Passing() {
		return
	}
	d.News = true
	index, all := eventStep(data)
	switch {
	case d.tally == nil:
	case all:
		d.tally.mark("")
	case index != "":
		d.tally.mark(index)
	}
	switch data.(type) {
	case event.PlanDrafting, event.PlanCreated, event.PlanDiff, event.PlanReviewed, event.RunResumed:
		d.Replan = true
	}
}

// Layout updates the rows and the selection.
func (d *Pane) Layout() {
	if d.Run == nil {
		return
	}
	now := d.built
	if d.News || d.Outline == nil || d.Run != now.run || d.Asked != d.heeded {
		now = shape{run: d.Run, revision: d.Run.Revision, steps: len(d.Run.Steps), limit: draw.LaneLimit(d.Width), calls: countCalls(d.Run)}
		d.recount(now)
		if d.Follow {
			if s := d.followed(); s != nil {
				d.Selected = d.keyOf(s)
			}
		}
		d.News, d.heeded = false, d.Asked
	}
	hidden := false
	if d.Outline != nil && d.Position() < 0 && d.Chart != nil && !d.Filter.On() {
		_, hidden = d.Chart.at[d.Selected]
	}
	if d.Stale || hidden || d.Outline == nil || now != d.built {
		d.rebuild(now)
	}
	if d.Position() < 0 {
		d.Selected = ""
		if i := d.nearest(d.top); i >= 0 {
			d.Selected = d.Outline.Rows[i].Key
		}
	}
}

// recount updates the chart and the step counts.
func (d *Pane) recount(now shape) {
	if d.Chart == nil || d.Replan || now.run != d.built.run || now.steps != d.built.steps || now.revision != d.built.revision || !d.Chart.stands(d.Run) {
		d.Chart = newChart(d.Run)
		d.tally = newTally(d.Run, d.Chart)
		d.Stale, d.Replan = true, false
	}
	if d.tally.settle() && (d.rolling() || d.Filter.On()) {
		d.Stale = true
	}
}

// rolling reports whether step status decides which steps are rolled up.
func (d *Pane) rolling() bool {
	return d.Folds.Level == foldAll || d.Folds.Level == FoldAuto && len(d.Chart.Steps) > rollFrom
}

// rebuild lays out the rows again and keeps the row the user looks at in place.
func (d *Pane) rebuild(now shape) {
	held, line := d.holding()
	switch {
	case len(d.Run.Steps) == 0 && d.Run.Chat != nil:
		d.Outline = chatOutline(d.Run.Chat)
	case d.Filter.On():
		d.Filter.search(d.Chart, d.tally)
		d.Outline = d.listed(d.Filter.found)
	default:
		keep := -1
		if i, ok := d.Chart.at[d.Selected]; ok {
			keep = i
		}
		nodes, of := nodesOf(&d.Folds, d.Chart, d.tally, keep)
		d.Outline = d.layOut(nodes, of, now.limit)
	}
	d.built, d.Stale, d.drawn = now, false, false
	d.kin = kinship{}
	if i, ok := d.Outline.find[held]; ok && held != "" {
		d.top = i - line
	}
}

// holding returns the key of the row the user looks at, and its line in the
// view.
func (d *Pane) holding() (key string, line int) {
	if d.Outline == nil {
		return "", 0
	}
	at := d.Position()
	if d.loose || at < d.top || at >= d.top+d.Height {
		at = d.nearest(d.top)
	}
	if at < 0 {
		return "", 0
	}
	return d.Outline.Rows[at].Key, at - d.top
}

// followed returns the step that the selection follows, or nil.
func (d *Pane) followed() *agent.StepState {
	if d.Asked != "" {
		if s := d.Run.Step(d.Asked); s != nil {
			return s
		}
	}
	return Following(d.Run)
}

// Following returns the most relevant step of a run. In order of precedence: at
// a gate, running, being replanned, in doubt, the step that halted the run, and
// the last step that ended. It returns nil if there is none.
func Following(run *agent.Run) *agent.StepState {
	var waiting, active, replanned, doubtful, stopped, ended *agent.StepState
	steps := run.Steps
	if len(steps) == 0 && run.Chat != nil {
		steps = run.Chat.Calls
	}
	for _, s := range steps {
		if c := telling.Newest(s.Loop); c != nil && c.Status == agent.StepWaiting && waiting == nil {
			waiting = c
		}
		switch {
		case s.Status == agent.StepWaiting && waiting == nil:
			waiting = s
		case telling.Halted(run, s):
			stopped = s
		case s.Status == agent.StepRunning && active == nil:
			active = s
		case run.Replanning != nil && s.Step.Index == run.Replanning.Step:
			replanned = s
		case s.Status == agent.StepInDoubt && doubtful == nil:
			doubtful = s
		case s.Status.Ended() && s.Status != agent.StepSkipped:
			ended = s
		}
	}
	for _, s := range []*agent.StepState{waiting, active, replanned, doubtful, stopped, ended} {
		if s != nil {
			return s
		}
	}
	return nil
}

// Position returns the index of the selected row, or -1.
func (d *Pane) Position() int {
	if d.Outline == nil {
		return -1
	}
	if i, ok := d.Outline.find[d.Selected]; ok {
		return i
	}
	return -1
}

// next returns the nearest selectable row from row i in steps of by, or -1.
func (d *Pane) next(i, by int) int {
	for i += by; i >= 0 && i < len(d.Outline.Rows); i += by {
		if d.Outline.Rows[i].Key != "" {
			return i
		}
	}
	return -1
}

// nearest returns the selectable row at i, else the next one after it, else the
// last one before it.
func (d *Pane) nearest(i int) int {
	i = max(min(i, len(d.Outline.Rows)), 0)
	if at := d.next(i-1, 1); at >= 0 {
		return at
	}
	return d.next(i, -1)
}

// Move moves the selection by n rows and stops following the run.
func (d *Pane) Move(n int) {
	d.Layout()
	if d.Outline == nil {
		return
	}
	if d.LayoutGraph() {
		d.pageGraph(n)
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
	for range min(n, len(d.Outline.Rows)) {
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
	if d.Outline == nil || i < 0 || i >= len(d.Outline.Rows) || d.Outline.Rows[i].Key == "" {
		return
	}
	d.selectKey(d.Outline.Rows[i].Key)
}

// selectKey selects the row with this key, even if it is collapsed.
func (d *Pane) selectKey(key string) {
	d.Selected, d.Follow, d.loose, d.drawn = key, false, false, false
	d.Graph.Loose = false
}

// Scrolled scrolls the view by lines and keeps the selection.
func (d *Pane) Scrolled(lines int) {
	d.Layout()
	if d.Outline == nil {
		return
	}
	if d.LayoutGraph() {
		d.PanGraph(0, lines)
		return
	}
	top := max(min(d.top+lines, len(d.Outline.Rows)-d.body()), 0)
	if top != d.top {
		d.top, d.loose, d.Follow, d.drawn = top, true, false, false
	}
}

// SetFollow sets whether the selection follows the run.
func (d *Pane) SetFollow(on bool) {
	d.Follow, d.loose, d.drawn, d.News = on, false, false, true
	d.Graph.Loose = false
}

// Chosen returns the selected row, or nil.
func (d *Pane) Chosen() *Row {
	d.Layout()
	if i := d.Position(); i >= 0 {
		return d.Outline.Rows[i].now()
	}
	return nil
}

// body returns the number of lines for rows.
func (d *Pane) body() int {
	if d.Filter.shown() {
		return max(d.Height-1, 0)
	}
	return d.Height
}

// Lines returns the pane's content: Height lines of exactly Width cells.
func (d *Pane) Lines() []string {
	if d.drawn {
		return d.view
	}
	d.Layout()
	d.drawn = true
	if d.LayoutGraph() {
		d.view = d.drawGraph()
		return d.view
	}
	view := make([]string, 0, d.Height)
	body := d.body()
	switch {
	case d.Outline == nil || len(d.Outline.Rows) == 0:
		if body > 0 {
			view = append(view, d.Look.Fit(" "+d.Look.Faint.Render(d.Look.Cut(d.empty(), d.Width-2)), d.Width))
		}
	default:
		d.scroll()
		d.light()
		c := d.columns()
		for i := d.top; i < len(d.Outline.Rows) && len(view) < body; i++ {
			view = append(view, d.drawRow(d.Outline.Rows[i].now(), c))
		}
		view = append(view, d.planNotes(body-len(view))...)
	}
	for blank := strings.Repeat(" ", max(d.Width, 0)); len(view) < body; {
		view = append(view, blank)
	}
	if d.Filter.shown() && d.Height > 0 {
		view = append(view, d.drawFilter())
	}
	d.view = view
	return d.view
}

// empty explains why there are no steps.
func (d *Pane) empty() string {
	switch {
	case d.Filter.On() && d.Chart != nil && len(d.Chart.Steps) > 0:
		return "No step is like that."
	case d.Run == nil:
		return "The plan appears here."
	case d.Run.Result != nil && d.Run.Synthesis.Direct && d.Run.Result.Status == event.StatusCompleted:
		return "Answered without a plan."
	case d.Run.Result != nil:
		return "This run had no plan."
	case d.Run.Synthesis.Started:
		return "No plan is needed."
	default:
		return "The steps appear here as they are planned."
	}
}

// scroll keeps the selection in view, with one line of context.
func (d *Pane) scroll() {
	n, height := len(d.Outline.Rows), d.body()
	if at := d.Position(); at >= 0 && !d.loose {
		context := min(1, (height-1)/2)
		d.top = min(d.top, at-context)
		d.top = max(d.top, at+context-height+1)
	}
	d.top = max(min(d.top, n-height), 0)
}

// Title returns the pane's title: revision, completed steps, elapsed time, and
// whether the selection follows the run.
func (d *Pane) Title() string {
	l, run := d.Look, d.Run
	if run == nil {
		return "Plan"
	}
	d.Layout()
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
		parts = append(parts, fmt.Sprintf("%d/%d", d.tally.total[telling.ClassDone], len(run.Steps)))
	}
	if run.Replanning != nil {
		parts = append(parts, "replanning")
	}
	took := run.Elapsed() + l.Since(run.Now)
	if run.Result != nil {
		took = time.Duration(run.Result.DurationMS) * time.Millisecond
	}
	parts = append(parts, telling.ClockTime(took))
	if d.Follow && run.Result == nil && len(run.Steps) > 0 {
		parts = append(parts, "follow")
	}
	return strings.Join(parts, " "+l.Glyphs.Separator+" ")
}

// Summary returns the step counts by status, or "" if the whole plan is in
// view.
func (d *Pane) Summary() string {
	switch {
	case d.Run == nil || d.Outline == nil || d.tally == nil:
		return ""
	case d.ShowsGraph():
		if l := d.Graph.layers; l.Width <= d.Width && l.Height <= d.graphHeight() {
			return ""
		}
	case len(d.Outline.Rows) <= d.Height:
		return ""
	}
	return CountWords(d.Look, &d.tally.total, AsItIs)
}
