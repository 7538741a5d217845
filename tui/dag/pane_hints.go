package dag

import (
	"replan/agent"
	"replan/tui/keymap"
)

// Hints returns the pane's keys for the footer, the most useful first. cancel
// tells whether steps of a live run can be canceled; undo, whether the run
// changed files that can be restored.
func (d *Pane) Hints(cancel, undo bool) []keymap.Hint {
	var hints []keymap.Hint
	add := func(does string, ids ...string) { hints = append(hints, d.keys.Hint(does, ids...)) }
	switch f := &d.filter; {
	case f.types():
		add("keep the filter", "list.choose")
		add("clear it", "dialog.leave")
		add("move", "list.up", "list.down")
		return hints
	case f.on():
		add("next", "plan.next_match")
		add("previous", "plan.previous_match")
		add("open", "plan.open")
		add("clear the filter", "run.stop")
		return hints
	}
	switch {
	case d.Empty():
		return nil
	case d.ShowsGraph():
		add("move", "move.up", "move.down", "plan.left", "plan.right")
	default:
		add("move", "move.up", "move.down")
	}
	s := d.ChosenStep()
	open := "open"
	if s != nil && s.Status == agent.StepFailed && d.state.Resumable {
		open = "continue from here"
	}
	switch collapsed, heads := d.heading(); {
	case heads && collapsed:
		open = "expand"
	case heads:
		open = "collapse"
	}
	add(open, "plan.open")
	if d.mapped {
		add("back", "run.stop")
		add("zoom", "plan.zoom_out", "plan.zoom_in")
	}
	if of := d.caller(); of != nil && of.Items != nil {
		add("items", "plan.fold")
	} else if of != nil && of == s {
		add("calls", "plan.fold")
	}
	if s != nil && s.Status == agent.StepRunning && d.state.Live && cancel {
		add("cancel", "plan.cancel")
	}
	if undo {
		add("undo", "plan.undo")
	}
	if !d.cursor.Follows {
		add("follow", "plan.follow")
	}
	if !d.mapped && d.noSteps() == "" {
		add("map", "plan.map")
	}
	if d.Large() {
		add("filter", "plan.filter")
	}
	return hints
}
