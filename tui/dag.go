package tui

import (
	"fmt"
	"strings"
	"time"

	"replan/agent"
)

// dagPane is the plan as it runs: one row a step in execution order, lanes
// beside them, and what revisions took out. Rows are laid out when the plan
// changes and drawn when they are seen.
type dagPane struct {
	look   *look
	run    *agent.Run
	width  int
	height int

	outline *outline
	built   shape
	open    map[int]bool    // older revisions that are unfolded
	calls   map[string]bool // agent steps whose calls are

	selected string
	follow   bool   // the selection goes with what runs
	asked    string // the step that the user is asked about, which is followed first; "" for none
	focused  bool
	top      int

	view  []string
	drawn bool
}

// shape is all that the layout depends on.
type shape struct {
	run      *agent.Run
	revision int
	steps    int
	limit    int
	open     int
	calls    int // of agent steps and the chat
}

func newDAGPane(l *look) *dagPane {
	return &dagPane{look: l, open: map[int]bool{}, calls: map[string]bool{}, follow: true}
}

func (d *dagPane) setSize(width, height int) {
	if width != d.width || height != d.height {
		d.width, d.height, d.drawn = width, height, false
	}
}

func (d *dagPane) setFocus(focused bool) {
	if d.focused != focused {
		d.focused, d.drawn = focused, false
	}
}

// show takes another run, or nil.
func (d *dagPane) show(run *agent.Run) {
	d.run, d.outline, d.selected, d.follow, d.asked, d.top = run, nil, "", true, "", 0
	d.built, d.open, d.calls, d.drawn = shape{}, map[int]bool{}, map[string]bool{}, false
}

// touch says that the run has changed.
func (d *dagPane) touch() { d.drawn = false }

// laneLimit is how many lanes a pane of that width has room for.
func laneLimit(width int) int {
	switch {
	case width < 40:
		return 4
	case width < 60:
		return 6
	default:
		return 8
	}
}

// layout brings rows and selection up to date.
func (d *dagPane) layout() {
	if d.run == nil {
		return
	}
	now := shape{run: d.run, revision: d.run.Revision, steps: len(d.run.Steps), limit: laneLimit(d.width), open: len(d.open), calls: countCalls(d.run)}
	if d.outline == nil || now != d.built {
		d.outline, d.built = layOut(d.run, now.limit, d.open, d.calls), now
	}
	if d.follow {
		if s := d.run.Step(d.asked); s != nil {
			d.selected = d.keyOf(s)
		} else if s := following(d.run); s != nil {
			d.selected = d.keyOf(s)
		}
	}
	if d.position() < 0 {
		d.selected = ""
		if i := d.next(-1, 1); i >= 0 {
			d.selected = d.outline.rows[i].key
		}
	}
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
	for i := range d.outline.rows {
		if r := &d.outline.rows[i]; r.key != "" && r.key == d.selected {
			return i
		}
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

// move moves the selection by n rows and stops following what runs.
func (d *dagPane) move(n int) {
	d.layout()
	if d.outline == nil {
		return
	}
	by := 1
	if n < 0 {
		n, by = -n, -1
	}
	at := d.position()
	for range n {
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
	d.selected, d.follow, d.drawn = d.outline.rows[i].key, false, false
}

// clicked selects the row that is drawn at line y of the pane.
func (d *dagPane) clicked(y int) { d.choose(d.top + y) }

// setFollow follows what runs from now on.
func (d *dagPane) setFollow() { d.follow, d.drawn = true, false }

// toggle unfolds or folds the chosen revision and reports whether one is chosen.
func (d *dagPane) toggle() bool {
	i := d.position()
	if i < 0 || d.outline.rows[i].kind != rowRevision {
		return false
	}
	n := d.outline.rows[i].revision.Number
	if d.open[n] {
		delete(d.open, n)
	} else {
		d.open[n] = true
	}
	d.outline, d.drawn = nil, false
	return true
}

// chosen is the selected row, or nil.
func (d *dagPane) chosen() *row {
	d.layout()
	if i := d.position(); i >= 0 {
		return d.outline.rows[i].now()
	}
	return nil
}

// lines is the pane's content: height lines of at most width cells.
func (d *dagPane) lines() []string {
	if d.drawn {
		return d.view
	}
	d.layout()
	d.drawn = true
	if d.outline == nil || len(d.outline.rows) == 0 {
		d.view = d.look.block([]string{" " + d.look.Faint.Render(d.empty())}, d.width, d.height)
		return d.view
	}
	d.scroll()
	c := d.columns()
	chosen := d.chosen()
	lines := make([]string, 0, d.height)
	for i := d.top; i < len(d.outline.rows) && len(lines) < d.height; i++ {
		lines = append(lines, d.drawRow(d.outline.rows[i].now(), chosen, c))
	}
	d.view = d.look.block(lines, d.width, d.height)
	return d.view
}

// empty says why there are no steps.
func (d *dagPane) empty() string {
	switch {
	case d.run == nil:
		return "The plan appears here."
	case d.run.Result != nil && d.run.Synthesis.Direct && d.run.Result.Status == agent.StatusCompleted:
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
	n := len(d.outline.rows)
	if at := d.position(); at >= 0 {
		context := min(1, (d.height-1)/2)
		d.top = min(d.top, at-context)
		d.top = max(d.top, at+context-d.height+1)
	}
	d.top = max(min(d.top, n-d.height), 0)
}

// title is the pane's title: revision, steps done, time.
func (d *dagPane) title() string {
	l, run := d.look, d.run
	if run == nil {
		return "Plan"
	}
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
		parts = append(parts, fmt.Sprintf("%d/%d", doneOf(run.Steps), len(run.Steps)))
	}
	if run.Replanning != nil {
		parts = append(parts, "replanning")
	}
	took := run.Elapsed() + l.since(run.Now)
	if run.Result != nil {
		took = time.Duration(run.Result.DurationMS) * time.Millisecond
	}
	return strings.Join(append(parts, clockTime(took)), " "+l.glyphs.Separator+" ")
}

// summary counts the steps by state where not all of them are in view.
func (d *dagPane) summary() string {
	if d.run == nil || d.outline == nil || len(d.outline.rows) <= d.height {
		return ""
	}
	l := d.look
	counts := map[string]int{}
	for _, s := range d.run.Steps {
		switch s.Status {
		case agent.StepDone:
			counts["done"]++
		case agent.StepActive:
			counts["active"]++
		case agent.StepBroken, agent.StepUncertain:
			counts["failed"]++
		case agent.StepWaiting:
			counts["gate"]++
		default:
			counts["pending"]++
		}
	}
	var parts []string
	for _, p := range []struct{ what, shown string }{
		{"done", l.Success.Render(l.glyphs.Done)},
		{"active", l.Running.Render(l.spinner())},
		{"gate", l.Warning.Render(l.glyphs.Gate)},
		{"failed", l.Danger.Render(l.glyphs.Failed)},
		{"pending", l.Muted.Render(l.glyphs.Pending)},
	} {
		if n := counts[p.what]; n > 0 {
			parts = append(parts, p.shown+l.Muted.Render(fmt.Sprint(n)))
		}
	}
	return strings.Join(parts, " ")
}
