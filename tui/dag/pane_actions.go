package dag

import (
	"cmp"

	tea "charm.land/bubbletea/v2"

	"replan/agent"
	"replan/agent/session"
	"replan/tui/draw"
	"replan/tui/keymap"
)

// Update handles a letter typed into the filter, a click and a turn of the
// wheel.
func (d *Pane) Update(msg tea.Msg) keymap.Requests {
	switch msg := msg.(type) {
	case tea.KeyPressMsg:
		if d.filter.types() && msg.Text != "" {
			d.seek(d.filter.words() + msg.Text)
		}
	case tea.MouseClickMsg:
		d.clicked(msg.X, msg.Y)
	case tea.MouseWheelMsg:
		if cells := draw.WheelCells(tea.Mouse(msg)); cells != 0 && d.ShowsGraph() {
			d.scroll(cells, 0)
		} else {
			d.scroll(0, draw.WheelLines(tea.Mouse(msg)))
		}
	}
	return nil
}

// stepActions are the actions on the plan and its selected step.
func stepActions() keymap.Table[*Pane] {
	return keymap.Table[*Pane]{
		{ID: "plan.open", Keys: "enter o", Does: "open the step; retry a failed one", Refuse: (*Pane).noRow, Do: (*Pane).openRow},
		{ID: "plan.fold", Keys: "space", Does: "collapse or expand items, calls, siblings or dependents", Refuse: (*Pane).noRow, Do: inList((*Pane).toggleFold)},
		{ID: "plan.fold_all", Keys: "z", Does: "collapse or expand all", Refuse: (*Pane).noRow, Do: inList((*Pane).foldEverything)},
		{ID: "plan.gate", Keys: "a", Does: "go to the next gate", Refuse: lacks(toGate), Do: goTo(toGate)},
		{ID: "plan.failure", Keys: "e", Does: "go to the next failure", Refuse: lacks(toFailure), Do: goTo(toFailure)},
		{ID: "plan.running", Keys: "r", Does: "go to the next running step", Refuse: lacks(toRunning), Do: goTo(toRunning)},
		{ID: "plan.filter", Keys: "/", Does: "filter steps by words or status:failed", Refuse: (*Pane).noSteps, Do: keymap.Calls((*Pane).startFilter)},
		{ID: "plan.next_match", Keys: "n", Does: "next match", KeyOnly: true, Refuse: (*Pane).noFilter, Do: match(1)},
		{ID: "plan.previous_match", Keys: "N", Does: "previous match", KeyOnly: true, Refuse: (*Pane).noFilter, Do: match(-1)},
		{ID: "plan.cancel", Keys: "x", Does: "cancel the running step", Refuse: (*Pane).noCancel, Do: (*Pane).cancel},
		{ID: "plan.follow", Keys: "f", Does: "follow the running step, or stop following", Refuse: (*Pane).noSteps, Do: keymap.Calls((*Pane).turnFollow)},
	}
}

// graphActions are the actions on the graph.
func graphActions() keymap.Table[*Pane] {
	return keymap.Table[*Pane]{
		{ID: "plan.map", Keys: "m", Does: "show graph on the whole screen", Refuse: (*Pane).noSteps, Do: keymap.Calls((*Pane).TurnMap)},
		{ID: "plan.graph", Keys: "b", Does: "show plan as graph or list", Refuse: (*Pane).noSteps, Do: keymap.Says((*Pane).turnGraph)},
		{ID: "plan.left", Keys: "left h", Shown: "left/h", Does: "graph: box on the left", KeyOnly: true, Refuse: (*Pane).noGraph, Do: box(-1)},
		{ID: "plan.right", Keys: "right l", Shown: "right/l", Does: "graph: box on the right", KeyOnly: true, Refuse: (*Pane).noGraph, Do: box(1)},
		{ID: "plan.pan_left", Keys: "H shift+left", Does: "graph: move the view left", KeyOnly: true, Refuse: (*Pane).noGraph, Do: pan(-1, 0)},
		{ID: "plan.pan_right", Keys: "L shift+right", Does: "graph: move the view right", KeyOnly: true, Refuse: (*Pane).noGraph, Do: pan(1, 0)},
		{ID: "plan.pan_up", Keys: "K shift+up", Does: "graph: move the view up", KeyOnly: true, Refuse: (*Pane).noGraph, Do: pan(0, -1)},
		{ID: "plan.pan_down", Keys: "J shift+down", Does: "graph: move the view down", KeyOnly: true, Refuse: (*Pane).noGraph, Do: pan(0, 1)},
		{ID: "plan.zoom_in", Keys: "]", Does: "graph: zoom in", KeyOnly: true, Refuse: (*Pane).noGraph, Do: enlarge(1)},
		{ID: "plan.zoom_out", Keys: "[", Does: "graph: zoom out", KeyOnly: true, Refuse: (*Pane).noGraph, Do: enlarge(-1)},
	}
}

// StepLines returns the keys and words of the actions on the plan and its selected step.
func StepLines() keymap.Lines { return stepActions().Lines() }

// GraphLines returns those of the actions on the graph.
func GraphLines() keymap.Lines { return graphActions().Lines() }

// Actions returns the actions on the plan, its selected step and its graph.
func (d *Pane) Actions() keymap.Handlers {
	return stepActions().For(d).With(graphActions().For(d), keymap.Moving(func() int { return d.state.Size.H }, d.Move))
}

// goTo makes an action that goes to the next row of its kind.
func goTo(to target) func(*Pane) keymap.Requests {
	return keymap.Says(func(d *Pane) string { return d.jump(to) })
}

// lacks returns what says why no jump finds such a step, "" if one does.
func lacks(to target) func(*Pane) string {
	return func(d *Pane) string { return cmp.Or(d.noRow(), d.missing(to)) }
}

// match makes an action that selects another step that the filter found.
func match(by int) func(*Pane) keymap.Requests {
	return keymap.Says(func(d *Pane) string { return d.nextMatch(by) })
}

// box makes an action that selects the box beside that of the graph.
func box(dx int) func(*Pane) keymap.Requests {
	return keymap.Calls(func(d *Pane) { d.chooseNode(d.graph.neighbor(d.node(), dx, 0)) })
}

// pan makes an action that moves the view of the graph by quarters of it.
func pan(dx, dy int) func(*Pane) keymap.Requests {
	return keymap.Calls(func(d *Pane) { d.scroll(dx*max(d.state.Size.W/4, 1), dy*max(d.state.Size.H/4, 1)) })
}

// enlarge makes an action that shows more or less of each box.
func enlarge(by int) func(*Pane) keymap.Requests {
	return keymap.Says(func(d *Pane) string {
		d.drawn = false
		return d.graph.resize(by)
	})
}

// inList makes an action on the rows of the list, which first replace the graph.
func inList(f func(*Pane) (word string)) func(*Pane) keymap.Requests {
	return keymap.Says(func(d *Pane) string {
		if d.ShowsGraph() {
			d.turnGraph()
		}
		return f(d)
	})
}

// turnFollow follows the running step, or stops following.
func (d *Pane) turnFollow() { d.setFollow(!d.cursor.Follows) }

// openRow expands or collapses the selected row, asks how to go on from a failed
// step of an ended run, or focuses the step.
func (d *Pane) openRow() keymap.Requests {
	s := d.ChosenStep()
	switch {
	case d.toggle(), d.Chosen() == nil:
		return nil
	case s != nil && d.state.Resumable && s.Status == agent.StepFailed:
		return keymap.Requests{keymap.ReopenFailure{Step: s}}
	}
	w := keymap.Requests{keymap.Focus(keymap.PlaceStep)}
	if s != nil && d.state.Resumable && s.Status == agent.StepInDoubt {
		w = append(w, keymap.Footer("This step is in doubt: "+d.keys.ResumeNames()+" resumes the run, which asks about it."))
	}
	return w
}

// cancel cancels the selected step, which is running.
func (d *Pane) cancel() keymap.Requests {
	s := d.Chosen().Step
	rest := "the others continue."
	if _, item := s.Item(); item {
		rest = "no other item begins."
	}
	return keymap.Requests{
		keymap.FooterUntilEvent(draw.StepTitle(d.styles, s.Step.Index) + " is being canceled; " + rest),
		session.Cancel{Run: d.plan.Run.ID, Step: s.Step.Index},
	}
}

// noCancel returns why the selected step cannot be canceled.
func (d *Pane) noCancel() string {
	row := d.Chosen()
	if row == nil || row.Step == nil {
		return "No step selected."
	}
	s := row.Step
	step := draw.StepTitle(d.styles, s.Step.Index)
	switch {
	case row.Kind == RowGone:
		return step + " is no longer in the plan."
	case !d.state.Live:
		return "The run has ended; there is nothing to cancel."
	case s.Status == agent.StepRunning:
		return ""
	case s.Status == agent.StepWaiting:
		return step + " is not running yet: " + d.keys.Shown("gate") + " shows its gate, where " + d.keys.Shown("gate.deny") + " denies it."
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

// noSteps returns why there is nothing to filter, follow or draw.
func (d *Pane) noSteps() string {
	if d.plan.Run == nil || len(d.plan.Run.Steps) == 0 {
		return "There are no steps yet."
	}
	return ""
}

// noFilter returns why there is no next match.
func (d *Pane) noFilter() string {
	if !d.filter.on() {
		return "There is no filter: " + d.keys.Shown("plan.filter") + " begins."
	}
	return ""
}

// noGraph returns why an action on the graph is unavailable.
func (d *Pane) noGraph() string {
	if why := d.noSteps(); why != "" {
		return why
	}
	if !d.ShowsGraph() {
		return "The plan is shown as a list: " + d.keys.Shown("plan.graph") + " shows the graph, " + d.keys.Shown("plan.map") + " on the whole screen."
	}
	return ""
}
