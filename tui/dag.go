package tui

import (
	"fmt"
	"strings"
	"time"

	"replan/agent"
	"replan/agent/event"
)

// dagPane is the plan as it runs: one row a step in execution order, lanes
// beside them, and what revisions took out. Rows are laid out when the plan
// changes and drawn when they are seen.
type dagPane struct {
	look   *look
	run    *agent.Run
	width  int
	height int

	chart   *chart
	tally   *tally
	outline *outline
	built   shape
	stale   bool // rows must be laid out again
	news    bool // something has happened since the rows were looked at
	replan  bool // that may have changed the plan itself

	folds  folds
	open   map[int]bool    // revisions that the user unfolded (true) or folded
	calls  map[string]bool // agent steps whose calls are unfolded
	filter planFilter

	selected string
	follow   bool   // the selection goes with what runs
	asked    string // the step that the user is asked about, which is followed first; "" for none
	heeded   string // the one that was followed last
	focused  bool
	top      int
	loose    bool // the view was scrolled by itself and need not show the selection

	graph planGraph

	kin    kinship
	spins  [2]string
	spinAt int
	view   []string
	drawn  bool
}

// shape is all that the layout depends on besides what is folded.
type shape struct {
	run      *agent.Run
	revision int
	steps    int
	limit    int
	calls    int // of agent steps and the chat
}

func newDAGPane(l *look) *dagPane {
	d := &dagPane{look: l}
	d.show(nil)
	return d
}

func (d *dagPane) setSize(width, height int) {
	if width != d.width || height != d.height {
		d.width, d.height, d.drawn, d.news = width, height, false, true
	}
}

func (d *dagPane) setFocus(focused bool) {
	if d.focused != focused {
		d.focused, d.drawn = focused, false
	}
}

// setMapped says whether the plan has the whole screen.
func (d *dagPane) setMapped(mapped bool) {
	if d.graph.mapped != mapped {
		d.graph.mapped, d.drawn = mapped, false
	}
}

// show takes another run, or nil.
func (d *dagPane) show(run *agent.Run) {
	*d = dagPane{
		look: d.look, width: d.width, height: d.height, focused: d.focused,
		run: run, follow: true, news: true, replan: true, spinAt: -1,
		folds: newFolds(), open: map[int]bool{}, calls: map[string]bool{},
		graph: planGraph{mode: d.graph.mode, zoom: d.graph.zoom, mapped: d.graph.mapped},
	}
}

// touch says that what is drawn may have changed.
func (d *dagPane) touch() { d.drawn = false }

// heard says that an event of a run was folded into it.
func (d *dagPane) heard(run *agent.Run, data event.Data) {
	if run != d.run || data.Kind().Passing() {
		return
	}
	d.news = true
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
		d.replan = true
	}
}

// layout brings rows and selection up to date.
func (d *dagPane) layout() {
	if d.run == nil {
		return
	}
	now := d.built
	if d.news || d.outline == nil || d.run != now.run || d.asked != d.heeded {
		now = shape{run: d.run, revision: d.run.Revision, steps: len(d.run.Steps), limit: laneLimit(d.width), calls: countCalls(d.run)}
		d.recount(now)
		if d.follow {
			if s := d.followed(); s != nil {
				d.selected = d.keyOf(s)
			}
		}
		d.news, d.heeded = false, d.asked
	}
	hidden := false
	if d.outline != nil && d.position() < 0 && d.chart != nil && !d.filter.on() {
		_, hidden = d.chart.at[d.selected]
	}
	if d.stale || hidden || d.outline == nil || now != d.built {
		d.rebuild(now)
	}
	if d.position() < 0 {
		d.selected = ""
		if i := d.nearest(d.top); i >= 0 {
			d.selected = d.outline.rows[i].key
		}
	}
}

// recount brings up to date how the steps stand.
func (d *dagPane) recount(now shape) {
	if d.chart == nil || d.replan || now.run != d.built.run || now.steps != d.built.steps || now.revision != d.built.revision || !d.chart.stands(d.run) {
		d.chart = newChart(d.run)
		d.tally = newTally(d.run, d.chart)
		d.stale, d.replan = true, false
	}
	if d.tally.settle() && (d.rolling() || d.filter.on()) {
		d.stale = true
	}
}

// rolling reports whether what the steps do decides about what is rolled up.
func (d *dagPane) rolling() bool {
	return d.folds.level == foldAll || d.folds.level == foldAuto && len(d.chart.steps) > rollFrom
}

// rebuild lays out the rows anew, and keeps what the user looks at where it is.
func (d *dagPane) rebuild(now shape) {
	held, line := d.holding()
	switch {
	case len(d.run.Steps) == 0 && d.run.Chat != nil:
		d.outline = chatOutline(d.run.Chat)
	case d.filter.on():
		d.filter.search(d.chart, d.tally)
		d.outline = d.listed(d.filter.found)
	default:
		keep := -1
		if i, ok := d.chart.at[d.selected]; ok {
			keep = i
		}
		nodes, of := nodesOf(&d.folds, d.chart, d.tally, keep)
		d.outline = d.layOut(nodes, of, now.limit)
	}
	d.built, d.stale, d.drawn = now, false, false
	d.kin = kinship{}
	if i, ok := d.outline.find[held]; ok && held != "" {
		d.top = i - line
	}
}

// holding is the row that the user looks at, and its line in the view.
func (d *dagPane) holding() (key string, line int) {
	if d.outline == nil {
		return "", 0
	}
	at := d.position()
	if d.loose || at < d.top || at >= d.top+d.height {
		at = d.nearest(d.top)
	}
	if at < 0 {
		return "", 0
	}
	return d.outline.rows[at].key, at - d.top
}

// followed is the step that the selection goes with, or nil.
func (d *dagPane) followed() *agent.StepState {
	if d.asked != "" {
		if s := d.run.Step(d.asked); s != nil {
			return s
		}
	}
	return following(d.run)
}

// following is the step that matters most now: at a gate, else running, else
// the one that is being replanned, else in doubt, else the one at which the run
// stopped, else the last that ended.
func following(run *agent.Run) *agent.StepState {
	var waiting, active, replanned, doubtful, stopped, ended *agent.StepState
	steps := run.Steps
	if len(steps) == 0 && run.Chat != nil {
		steps = run.Chat.Calls
	}
	for _, s := range steps {
		if c := newest(s.Loop); c != nil && c.Status == agent.StepWaiting && waiting == nil {
			waiting = c
		}
		switch {
		case s.Status == agent.StepWaiting && waiting == nil:
			waiting = s
		case halted(run, s):
			stopped = s
		case s.Status == agent.StepActive && active == nil:
			active = s
		case run.Replanning != nil && s.Step.Index == run.Replanning.Step:
			replanned = s
		case s.Status == agent.StepUncertain && doubtful == nil:
			doubtful = s
		case s.Status.Ended() && s.Status != agent.StepLeftOut:
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

// position is the row of the selection, or -1.
func (d *dagPane) position() int {
	if d.outline == nil {
		return -1
	}
	if i, ok := d.outline.find[d.selected]; ok {
		return i
	}
	return -1
}

// next is the nearest row that can be chosen, from row i in steps of by; -1
// means there is none.
func (d *dagPane) next(i, by int) int {
	for i += by; i >= 0 && i < len(d.outline.rows); i += by {
		if d.outline.rows[i].key != "" {
			return i
		}
	}
	return -1
}

// nearest is the row that can be chosen at i, else behind it, else before it.
func (d *dagPane) nearest(i int) int {
	i = max(min(i, len(d.outline.rows)), 0)
	if at := d.next(i-1, 1); at >= 0 {
		return at
	}
	return d.next(i, -1)
}

// move moves the selection by n rows and stops following what runs.
func (d *dagPane) move(n int) {
	d.layout()
	if d.outline == nil {
		return
	}
	if d.layoutGraph() {
		d.pageGraph(n)
		return
	}
	by := 1
	if n < 0 {
		n, by = -n, -1
	}
	at := d.position()
	if d.loose && (at < d.top || at >= d.top+d.body()) {
		// From what is in view, not from what was left behind.
		at = d.nearest(d.top) - by
	}
	for range min(n, len(d.outline.rows)) {
		i := d.next(at, by)
		if i < 0 {
			break
		}
		at = i
	}
	d.choose(at)
}

// choose selects row i, where there is something to choose.
func (d *dagPane) choose(i int) {
	if d.outline == nil || i < 0 || i >= len(d.outline.rows) || d.outline.rows[i].key == "" {
		return
	}
	d.selectKey(d.outline.rows[i].key)
}

// selectKey selects what the key stands for, also where it is folded away.
func (d *dagPane) selectKey(key string) {
	d.selected, d.follow, d.loose, d.drawn = key, false, false, false
	d.graph.loose = false
}

// scrolled moves the view by lines and leaves the selection where it is.
func (d *dagPane) scrolled(lines int) {
	d.layout()
	if d.outline == nil {
		return
	}
	if d.layoutGraph() {
		d.panGraph(0, lines)
		return
	}
	top := max(min(d.top+lines, len(d.outline.rows)-d.body()), 0)
	if top != d.top {
		d.top, d.loose, d.follow, d.drawn = top, true, false, false
	}
}

// setFollow follows what runs from now on, or no longer.
func (d *dagPane) setFollow(on bool) {
	d.follow, d.loose, d.drawn, d.news = on, false, false, true
	d.graph.loose = false
}

// chosen is the selected row, or nil.
func (d *dagPane) chosen() *row {
	d.layout()
	if i := d.position(); i >= 0 {
		return d.outline.rows[i].now()
	}
	return nil
}

// body is how many lines there are for rows.
func (d *dagPane) body() int {
	if d.filter.shown() {
		return max(d.height-1, 0)
	}
	return d.height
}

// lines is the pane's content: height lines of exactly width cells.
func (d *dagPane) lines() []string {
	if d.drawn {
		return d.view
	}
	d.layout()
	d.drawn = true
	if d.layoutGraph() {
		d.view = d.drawGraph()
		return d.view
	}
	view := make([]string, 0, d.height)
	body := d.body()
	switch {
	case d.outline == nil || len(d.outline.rows) == 0:
		if body > 0 {
			view = append(view, d.look.fit(" "+d.look.Faint.Render(d.look.cut(d.empty(), d.width-2)), d.width))
		}
	default:
		d.scroll()
		d.light()
		c := d.columns()
		for i := d.top; i < len(d.outline.rows) && len(view) < body; i++ {
			view = append(view, d.drawRow(d.outline.rows[i].now(), c))
		}
		view = append(view, d.planNotes(body-len(view))...)
	}
	for blank := strings.Repeat(" ", max(d.width, 0)); len(view) < body; {
		view = append(view, blank)
	}
	if d.filter.shown() && d.height > 0 {
		view = append(view, d.drawFilter())
	}
	d.view = view
	return d.view
}

// empty says why there are no steps.
func (d *dagPane) empty() string {
	switch {
	case d.filter.on() && d.chart != nil && len(d.chart.steps) > 0:
		return "No step is like that."
	case d.run == nil:
		return "The plan appears here."
	case d.run.Result != nil && d.run.Synthesis.Direct && d.run.Result.Status == event.StatusCompleted:
		return "Answered without a plan."
	case d.run.Result != nil:
		return "This run had no plan."
	case d.run.Synthesis.Started:
		return "No plan is needed."
	default:
		return "The steps appear here as they are planned."
	}
}

// scroll keeps the selection in view, with a line of context.
func (d *dagPane) scroll() {
	n, height := len(d.outline.rows), d.body()
	if at := d.position(); at >= 0 && !d.loose {
		context := min(1, (height-1)/2)
		d.top = min(d.top, at-context)
		d.top = max(d.top, at+context-height+1)
	}
	d.top = max(min(d.top, n-height), 0)
}

// title is the pane's title: revision, steps done, time, and whether what runs
// is followed.
func (d *dagPane) title() string {
	l, run := d.look, d.run
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
		parts = append(parts, fmt.Sprintf("%d/%d", d.tally.total[classDone], len(run.Steps)))
	}
	if run.Replanning != nil {
		parts = append(parts, "replanning")
	}
	took := run.Elapsed() + l.since(run.Now)
	if run.Result != nil {
		took = time.Duration(run.Result.DurationMS) * time.Millisecond
	}
	parts = append(parts, clockTime(took))
	if d.follow && run.Result == nil && len(run.Steps) > 0 {
		parts = append(parts, "follow")
	}
	return strings.Join(parts, " "+l.glyphs.Separator+" ")
}

// summary counts the steps by state where not all of them are in view.
func (d *dagPane) summary() string {
	switch {
	case d.run == nil || d.outline == nil || d.tally == nil:
		return ""
	case d.showsGraph():
		if l := d.graph.layers; l.Width <= d.width && l.Height <= d.graphHeight() {
			return ""
		}
	case len(d.outline.rows) <= d.height:
		return ""
	}
	return countWords(d.look, &d.tally.total, asItIs)
}
