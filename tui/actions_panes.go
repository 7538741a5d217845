package tui

import (
	"slices"

	tea "charm.land/bubbletea/v2"

	"replan/agent/runner"
)

// everywhereActions work in every pane.
func (m *Model) everywhereActions() []action {
	k := &m.keys
	live := func(word string) func() string {
		return func() string {
			if m.options.Replay {
				return word
			}
			return ""
		}
	}
	return append([]action{
		{id: "palette", key: &k.Palette, opens: true, do: just(m.openPalette)},
		{id: "help", key: &k.Help, opens: true, do: just(m.openHelp)},
		{id: "pane.next", key: &k.NextPane, do: just(func() { m.focus = (m.focus + 1) % panes })},
		{id: "pane.previous", key: &k.PreviousPane, do: just(func() { m.focus = (m.focus + panes - 1) % panes })},
		{id: "gate", key: &k.Gate, refuse: m.noGate, do: m.reopen},
		{id: "gate.allowed", key: &k.Allowed, opens: true, refuse: m.noRun, do: just(m.showAllowed)},
		{id: "runs", key: &k.Runs, opens: true, refuse: live("This is a replay: no run is taken up from here."), do: m.listRuns},
		{id: "models", key: &k.Models, opens: true, refuse: live("This is a replay: no model is asked here."), do: func() tea.Cmd {
			return m.outbox.ask(m.models.ask(m.status))
		}},
		{id: "exchanges", key: &k.Exchanges, opens: true, do: just(func() { m.talk.show() })},
		{id: "revisions", key: &k.Revisions, opens: true, refuse: m.noRevisions, do: just(m.openRevisions)},
		{id: "themes", key: &k.Themes, opens: true, do: just(m.openThemes)},
		{id: "review.next", key: &k.HoldPlans, refuse: live("This is a replay: no plan is made here."), do: m.holdPlans},
		{id: "run.steer", key: &k.Steer, refuse: m.noSteering, do: m.steer},
		{id: "run.stop", key: &k.Stop, refuse: m.nothingToStop, do: m.stop},
		{id: "quit", key: &k.Quit, do: m.leave},
		{id: "replay.quit", key: &k.LeaveReplay, when: func() bool { return m.options.Replay }, refuse: unless(func() bool { return m.options.Replay }, "This is no replay: ctrl+c quits."), do: func() tea.Cmd { return tea.Quit }},
	}, m.aroundActions(live)...)
}

// chatActions work where text is typed.
func (m *Model) chatActions() []action {
	k := &m.keys
	typed := func() bool { return !m.options.Replay }
	return []action{
		{id: "chat.send", key: &k.Send, refuse: m.nothingToSend, do: m.send},
		{id: "chat.new_line", key: &k.Newline, when: typed, refuse: unless(typed, nothingSent), do: func() tea.Cmd { return m.typed(pressOf(k.Newline)) }},
		{id: "chat.before", key: &k.HistoryBack, when: func() bool { return typed() && (m.mayTakeBack() || m.input.hasBefore()) }, refuse: unless(func() bool { return m.mayTakeBack() || m.input.hasBefore() }, "Nothing was sent before that."), do: m.before},
		{id: "chat.after", key: &k.HistoryForward, when: func() bool { return typed() && m.input.hasAfter() }, refuse: unless(m.input.hasAfter, "Nothing was sent after that."), do: just(func() { m.input.forward() })},
		{id: "chat.history", key: &k.History, refuse: m.noHistory, do: just(m.searchHistory)},
		{id: "chat.editor", key: &k.Editor, refuse: m.noEditor, do: m.editDraft},
		{id: "chat.open_paste", key: &k.OpenPaste, refuse: unless(m.input.hasPaste, "Nothing that was pasted is folded in the input."), do: just(m.input.openPaste)},
		{id: "chat.drop_queued", key: &k.DropQueued, refuse: m.nothingQueued, do: m.dropQueued},
		{id: "chat.end", key: &k.End, when: m.input.empty, refuse: unless(m.input.empty, "The input is not empty."), do: m.leave},
	}
}

// planActions work on the plan and the step that is chosen in it.
func (m *Model) planActions() []action {
	k := &m.keys
	return append([]action{
		{id: "plan.open", key: &k.Open, refuse: m.noRow, do: m.openRow},
		{id: "plan.fold", key: &k.Fold, refuse: m.noRow, do: m.inList(m.dag.fold)},
		{id: "plan.fold_all", key: &k.FoldAll, refuse: m.noRow, do: m.inList(m.dag.foldEverything)},
		{id: "plan.gate", key: &k.ToGate, refuse: m.noRow, do: m.inPlan(func() string { return m.dag.jump(toGate) })},
		{id: "plan.failure", key: &k.ToFailure, refuse: m.noRow, do: m.inPlan(func() string { return m.dag.jump(toFailure) })},
		{id: "plan.running", key: &k.ToRunning, refuse: m.noRow, do: m.inPlan(func() string { return m.dag.jump(toRunning) })},
		{id: "plan.filter", key: &k.Filter, refuse: m.noSteps, do: just(m.dag.startFilter)},
		{id: "plan.next_match", key: &k.NextMatch, refuse: m.noFilter, do: m.inPlan(func() string { return m.dag.nextMatch(1) })},
		{id: "plan.previous_match", key: &k.PreviousMatch, refuse: m.noFilter, do: m.inPlan(func() string { return m.dag.nextMatch(-1) })},
		{id: "plan.cancel", key: &k.Cancel, refuse: m.noCancel, do: m.cancel},
		{id: "plan.follow", key: &k.Follow, do: just(m.followRun)},
		{id: "plan.undo", key: &k.Undo, refuse: m.noUndo, do: m.askUndo},
	}, append(m.graphActions(), m.inspectActions()...)...)
}

// stepActions work on the step that is shown whole.
func (m *Model) stepActions() []action {
	k, d := &m.keys, m.detail
	return append(m.inspectActions(), []action{
		{id: "step.next_tab", key: &k.NextTab, refuse: m.noRow, do: just(func() { d.choose(d.tab + 1) })},
		{id: "step.previous_tab", key: &k.PreviousTab, refuse: m.noRow, do: just(func() { d.choose(d.tab - 1) })},
		{id: "diff.sides", key: &k.Sides, refuse: m.noSides, do: just(m.turnStep)},
	}...)
}

// movingActions move what the pane with the focus shows.
func (m *Model) movingActions() []action {
	k := &m.keys
	const far = 1 << 20
	// Where text is typed, letters and arrows are for the text.
	beside := func() bool { return m.focus != paneChat || m.options.Replay }
	by := func(lines func(page int) int) func() tea.Cmd {
		return just(func() { m.move(lines) })
	}
	return []action{
		{id: "move.up", key: &k.Up, when: beside, do: by(func(int) int { return -1 })},
		{id: "move.down", key: &k.Down, when: beside, do: by(func(int) int { return 1 })},
		{id: "move.first", key: &k.First, when: beside, do: by(func(int) int { return -far })},
		{id: "move.last", key: &k.Last, when: beside, do: by(func(int) int { return far })},
		{id: "move.page_up", key: &k.PageUp, do: by(func(page int) int { return -page })},
		{id: "move.page_down", key: &k.PageDown, do: by(func(page int) int { return page })},
		{id: "move.half_up", key: &k.HalfUp, when: func() bool { return beside() || m.input.empty() }, do: by(func(page int) int { return -max(page/2, 1) })},
		{id: "move.half_down", key: &k.HalfDown, when: beside, do: by(func(page int) int { return max(page/2, 1) })},
	}
}

// move moves what the pane with the focus shows, by as many lines as there are
// for a page of it.
func (m *Model) move(lines func(page int) int) {
	switch m.focus {
	case panePlan:
		m.dag.move(lines(max(m.dag.height-1, 1)))
		m.refresh()
	case paneStep:
		m.detail.scroll(lines(max(m.detail.height-1, 1)))
	default:
		m.chat.scroll(-lines(max(m.chat.height-1, 1)))
	}
}

// followRun has the selection go with what runs, or stay.
func (m *Model) followRun() {
	m.dag.setFollow(!m.dag.follow)
	m.refresh()
}

// noRow is why nothing can be looked into.
func (m *Model) noRow() string {
	if m.dag.chosen() == nil {
		return "There is no step yet that could be looked into."
	}
	return ""
}

// noSteering is why nothing can be said to a run now.
func (m *Model) noSteering() string {
	switch {
	case m.options.Replay:
		return nothingSent
	case m.focus != paneChat:
		return "Tab leads to the input: what you type there, " + m.keys.Steer.Help().Key + " says to the run."
	case m.going() == "":
		return "No run goes on that could hear it; enter sends it."
	case !m.heeds():
		return "Nothing in this run can hear it; enter queues it."
	case m.input.value() == "":
		return "Type what the run shall hear first."
	default:
		return ""
	}
}

// heeds reports whether somebody in what goes on would hear the user's word: a
// model at work, or one that can plan anew.
func (m *Model) heeds() bool {
	return slices.ContainsFunc(m.stages, func(s *stage) bool { return s.goes() && s.run.Steerable() })
}

// steer says what was typed to the run that goes on.
func (m *Model) steer() tea.Cmd {
	text := m.input.sent()
	m.input.clear()
	m.chat.toEnd()
	return m.outbox.send(runner.Steer{Text: text})
}

// nothingToStop is why there is nothing that could be stopped or left.
func (m *Model) nothingToStop() string {
	switch {
	case m.stopping || m.focus != paneChat || m.ask.waiting() > 0:
		return ""
	case m.options.Replay:
		return "This is a replay: nothing runs that could be stopped; " + m.keys.LeaveReplay.Help().Key + " quits."
	case !m.running():
		return "Nothing runs."
	default:
		return ""
	}
}

// nothingToSend is why enter sends nothing.
func (m *Model) nothingToSend() string {
	switch {
	case m.options.Replay:
		return nothingSent
	case m.input.value() == "" && m.helpless():
		return "" // it tries again
	case m.input.value() == "":
		return "Type what shall be done first."
	case m.closed:
		return "The session is closed; ctrl+c quits."
	default:
		return ""
	}
}
