package dag

import (
	tea "charm.land/bubbletea/v2"

	"replan/agent"
	"replan/agent/session"
	"replan/tui/draw"
	"replan/tui/keymap"
)

// Update handles a letter typed into the filter, a click and a turn of the
// wheel.
func (d *Pane) Update(msg tea.Msg) keymap.Request {
	switch msg := msg.(type) {
	case tea.KeyPressMsg:
		if d.filter.typing && msg.Text != "" {
			d.seek(d.filter.text + msg.Text)
		}
	case tea.MouseClickMsg:
		d.clicked(msg.X, msg.Y)
	case tea.MouseWheelMsg:
		if cells := draw.WheelCells(tea.Mouse(msg)); cells != 0 && d.ShowsGraph() {
			d.panGraph(cells, 0)
		} else {
			d.scrolled(draw.WheelLines(tea.Mouse(msg)))
		}
	}
	return keymap.Request{}
}

// Actions returns the actions on the plan and its selected step.
func (d *Pane) Actions() keymap.Handlers {
	return keymap.Handlers{
		"plan.open":           {Refuse: d.noRow, Do: d.openRow},
		"plan.fold":           {Refuse: d.noRow, Do: d.inList(d.toggleFold)},
		"plan.fold_all":       {Refuse: d.noRow, Do: d.inList(d.foldEverything)},
		"plan.gate":           {Refuse: d.noRow, Do: saying(func() string { return d.jump(toGate) })},
		"plan.failure":        {Refuse: d.noRow, Do: saying(func() string { return d.jump(toFailure) })},
		"plan.running":        {Refuse: d.noRow, Do: saying(func() string { return d.jump(toRunning) })},
		"plan.filter":         {Refuse: d.noRun, Do: keymap.Just(d.startFilter)},
		"plan.next_match":     {Refuse: d.noFilter, Do: saying(func() string { return d.nextMatch(1) })},
		"plan.previous_match": {Refuse: d.noFilter, Do: saying(func() string { return d.nextMatch(-1) })},
		"plan.cancel":         {Refuse: d.noCancel, Do: d.cancel},
		"plan.follow":         {Refuse: d.noRun, Do: keymap.Just(func() { d.setFollow(!d.Follow) })},
	}.With(d.graphActions(), keymap.Moving(func() int { return d.Height }, d.Move))
}

// graphActions returns the actions on the plan's graph.
func (d *Pane) graphActions() keymap.Handlers {
	move := func(dx, dy int) keymap.Handler {
		return keymap.Handler{Refuse: d.noGraph, Do: keymap.Just(func() { d.moveGraph(dx, dy) })}
	}
	pan := func(dx, dy int) keymap.Handler {
		return keymap.Handler{Refuse: d.noGraph, Do: keymap.Just(func() { d.panGraph(dx*max(d.Width/4, 1), dy*max(d.Height/4, 1)) })}
	}
	return keymap.Handlers{
		"plan.map":   {Refuse: d.NoMap, Do: keymap.Just(d.TurnMap)},
		"plan.graph": {Refuse: d.NoMap, Do: saying(d.turnGraph)},
		"plan.left":  move(-1, 0), "plan.right": move(1, 0),
		"plan.pan_left": pan(-1, 0), "plan.pan_right": pan(1, 0), "plan.pan_up": pan(0, -1), "plan.pan_down": pan(0, 1),
		"plan.zoom_in":  {Refuse: d.noGraph, Do: saying(func() string { return d.zoomGraph(1) })},
		"plan.zoom_out": {Refuse: d.noGraph, Do: saying(func() string { return d.zoomGraph(-1) })},
	}
}

// saying makes an action of a function that may return a message.
func saying(f func() (word string)) func() keymap.Request {
	return func() keymap.Request { return keymap.ShowFooter(f()) }
}

// inList makes an action on the rows of the list, which first replace the graph.
func (d *Pane) inList(f func() (word string)) func() keymap.Request {
	return saying(func() string {
		if d.ShowsGraph() {
			d.turnGraph()
		}
		return f()
	})
}

// openRow expands or collapses the selected row, asks how to go on from a failed
// step of an ended run, or focuses the step.
func (d *Pane) openRow() keymap.Request {
	s := d.ChosenStep()
	switch {
	case d.toggle(), d.Chosen() == nil:
		return keymap.Request{}
	case s != nil && d.state.Resumable && s.Status == agent.StepFailed:
		return keymap.Request{ReopenFailure: s}
	}
	w := keymap.Request{Focus: keymap.PlaceStep}
	if s != nil && d.state.Resumable && s.Status == agent.StepInDoubt {
		w.Footer = "This step is in doubt: " + d.Keys.ResumeNames() + " resumes the run, which asks about it."
	}
	return w
}

// cancel cancels the selected step, which is running.
func (d *Pane) cancel() keymap.Request {
	s := d.Chosen().Step
	rest := "the others continue."
	if _, item := s.Item(); item {
		rest = "no other item begins."
	}
	return keymap.Request{
		Send:             []session.Command{session.Cancel{Run: d.Run.ID, Step: s.Step.Index}},
		FooterUntilEvent: draw.StepTitle(d.Styles, s.Step.Index) + " is being canceled; " + rest,
	}
}

// noCancel returns why the selected step cannot be canceled.
func (d *Pane) noCancel() string {
	row := d.Chosen()
	if row == nil || row.Step == nil {
		return "No step selected."
	}
	s := row.Step
	step := draw.StepTitle(d.Styles, s.Step.Index)
	switch {
	case row.Kind == RowGone:
		return step + " is no longer in the plan."
	case !d.state.Live:
		return "The run has ended; there is nothing to cancel."
	case s.Status == agent.StepRunning:
		return ""
	case s.Status == agent.StepWaiting:
		return step + " is not running yet: " + d.Keys.Shown("gate") + " shows its gate, where " + d.Keys.Shown("gate.deny") + " denies it."
	case s.Status.Ended():
		return step + " has ended already."
	default:
		return step + " is not running yet."
	}
}

// noRow returns why there is nothing to inspect.
func (d *Pane) noRow() string {
	if d.Chosen() == nil {
		return "There is no step to inspect yet."
	}
	return ""
}

// noRun returns why there is nothing to filter or follow.
func (d *Pane) noRun() string {
	if d.Run == nil || len(d.Run.Steps) == 0 {
		return "There are no steps yet."
	}
	return ""
}

// noFilter returns why there is no next match.
func (d *Pane) noFilter() string {
	if !d.filter.on() {
		return "There is no filter: " + d.Keys.Shown("plan.filter") + " begins."
	}
	return ""
}

// NoMap returns why there is no graph to draw.
func (d *Pane) NoMap() string {
	if d.Run == nil || len(d.Run.Steps) == 0 {
		return "There are no steps to draw as a graph yet."
	}
	return ""
}

// noGraph returns why an action on the graph is unavailable.
func (d *Pane) noGraph() string {
	if why := d.NoMap(); why != "" {
		return why
	}
	if !d.ShowsGraph() {
		return "The plan is shown as a list: " + d.Keys.Shown("plan.graph") + " shows the graph, " + d.Keys.Shown("plan.map") + " on the whole screen."
	}
	return ""
}
