package tui

import (
	tea "charm.land/bubbletea/v2"

	"replan/agent"
)

// inspectActions look into the chosen step, from plan and step alike.
func (m *Model) inspectActions() []action {
	k := &m.keys
	show := func(t tab) func() tea.Cmd {
		return just(func() { m.detail.choose(t) })
	}
	return []action{
		{id: "plan.args", key: &k.Args, refuse: m.noRow, do: show(tabArgs)},
		{id: "plan.output", key: &k.Output, refuse: m.noRow, do: show(tabOutput)},
		{id: "plan.diff", key: &k.Diff, refuse: m.noRow, do: show(tabDiff)},
		{id: "plan.story", key: &k.Story, refuse: m.noRow, do: show(tabStory)},
		{id: "plan.timing", key: &k.Timing, refuse: m.noRow, do: show(tabTiming)},
		{id: "plan.copy", key: &k.CopyShown, refuse: m.noCopy, do: m.copyShown},
		{id: "plan.timeline", key: &k.Timeline, refuse: m.noTimeline, do: m.openTimeline},
		{id: "plan.revisions", key: &k.PlanBefore, refuse: m.noRevisions, do: just(m.openRevisions)},
	}
}

// inspectors are the dialogs that show a run as a whole.
type inspectors struct {
	timeline  *timelineDialog
	revisions *revisionsDialog
}

func (m *Model) newInspectors() inspectors {
	shown := func() *agent.Run { return m.shown.run }
	return inspectors{
		timeline:  &timelineDialog{look: m.look, keys: &m.keys, shownRun: shown, into: m.lookInto},
		revisions: &revisionsDialog{look: m.look, keys: &m.keys, shownRun: shown},
	}
}

func (i inspectors) dialogs() []overlay { return []overlay{i.timeline, i.revisions} }
