package tui

import (
	"replan/agent"
	"replan/tui/dialog"
	"replan/tui/keymap"
	"replan/tui/step"
	"replan/tui/timeline"
)

// inspectActions returns the actions that inspect the chosen step, from the
// plan and the step pane.
func (m *Model) inspectActions() keymap.Handlers {
	show := func(t step.Tab) func() keymap.Wanted {
		return keymap.Just(func() { m.detail.Choose(t) })
	}
	return keymap.Handlers{
		"plan.args":      {Refuse: m.dag.NoRow, Do: show(step.TabArgs)},
		"plan.output":    {Refuse: m.dag.NoRow, Do: show(step.TabOutput)},
		"plan.diff":      {Refuse: m.dag.NoRow, Do: show(step.TabDiff)},
		"plan.story":     {Refuse: m.dag.NoRow, Do: show(step.TabStory)},
		"plan.timing":    {Refuse: m.dag.NoRow, Do: show(step.TabTiming)},
		"plan.copy":      {Refuse: m.noCopy, Do: keymap.Command(m.copyShown)},
		"plan.timeline":  {Refuse: m.noTimeline, Do: keymap.Command(m.openTimeline)},
		"plan.revisions": {Refuse: m.noRevisions, Do: keymap.Just(m.openRevisions)},
	}
}

// inspectors are the dialogs that show a whole run.
type inspectors struct {
	timeline  *timeline.Dialog
	revisions *dialog.Revisions
}

func (m *Model) newInspectors() inspectors {
	shown := func() *agent.Run { return m.shown.run }
	return inspectors{
		timeline:  &timeline.Dialog{Look: m.look, Keys: m.keys, ShownRun: shown},
		revisions: &dialog.Revisions{Look: m.look, Keys: m.keys, ShownRun: shown},
	}
}
