package tui

import (
	"replan/agent"
)

// inspectActions look into the chosen step, from plan and step alike.
func (m *Model) inspectActions() handlers {
	show := func(t tab) func() wanted {
		return just(func() { m.detail.choose(t) })
	}
	return handlers{
		"plan.args":      {refuse: m.noRow, do: show(tabArgs)},
		"plan.output":    {refuse: m.noRow, do: show(tabOutput)},
		"plan.diff":      {refuse: m.noRow, do: show(tabDiff)},
		"plan.story":     {refuse: m.noRow, do: show(tabStory)},
		"plan.timing":    {refuse: m.noRow, do: show(tabTiming)},
		"plan.copy":      {refuse: m.noCopy, do: command(m.copyShown)},
		"plan.timeline":  {refuse: m.noTimeline, do: command(m.openTimeline)},
		"plan.revisions": {refuse: m.noRevisions, do: just(m.openRevisions)},
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
		timeline:  &timelineDialog{look: m.look, keys: m.keys, shownRun: shown},
		revisions: &revisionsDialog{look: m.look, keys: m.keys, shownRun: shown},
	}
}

func (i inspectors) dialogs() []overlay { return []overlay{i.timeline, i.revisions} }
