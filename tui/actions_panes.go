package tui

import (
	"slices"

	tea "charm.land/bubbletea/v2"

	"replan/agent/runner"
)

// everywhereActions work in every pane.
func (m *Model) everywhereActions() handlers {
	live := m.onlyLive
	return handlers{
		"palette":       {opens: true, do: just(m.openPalette)},
		"help":          {opens: true, do: just(m.openHelp)},
		"pane.next":     {do: just(func() { m.focus = (m.focus + 1) % panes })},
		"pane.previous": {do: just(func() { m.focus = (m.focus + panes - 1) % panes })},
		"gate":          {refuse: m.noGate, do: command(m.reopen)},
		"gate.allowed":  {opens: true, refuse: m.noRun, do: just(m.showAllowed)},
		"runs":          {opens: true, refuse: live("This is a replay: no run is taken up from here."), do: command(m.listRuns)},
		"models":        {opens: true, refuse: live("This is a replay: no model is asked here."), do: func() wanted { return wanted{ask: m.models.ask(m.status)} }},
		"exchanges":     {opens: true, do: just(func() { m.talk.show() })},
		"revisions":     {opens: true, refuse: m.noRevisions, do: just(m.openRevisions)},
		"themes":        {opens: true, do: just(m.openThemes)},
		"review.next":   {refuse: live("This is a replay: no plan is made here."), do: command(m.holdPlans)},
		"run.steer":     {refuse: m.noSteering, do: command(m.steer)},
		"run.stop":      {refuse: m.nothingToStop, do: command(m.stop)},
		"quit":          {do: command(m.leave)},
		"replay.quit":   {when: func() bool { return m.options.Replay }, refuse: unless(func() bool { return m.options.Replay }, "This is no replay: ctrl+c quits."), do: command(func() tea.Cmd { return tea.Quit })},
	}
}

// onlyLive refuses in a replay.
func (m *Model) onlyLive(word string) func() string {
	return unless(func() bool { return !m.options.Replay }, word)
}

// chatActions work where text is typed.
func (m *Model) chatActions() handlers {
	typed := func() bool { return !m.options.Replay }
	return handlers{
		"chat.send":        {refuse: m.nothingToSend, do: command(m.send)},
		"chat.new_line":    {when: typed, refuse: unless(typed, nothingSent), do: command(m.newline)},
		"chat.before":      {when: func() bool { return typed() && (m.mayTakeBack() || m.input.hasBefore()) }, refuse: unless(func() bool { return m.mayTakeBack() || m.input.hasBefore() }, "Nothing was sent before that."), do: command(m.before)},
		"chat.after":       {when: func() bool { return typed() && m.input.hasAfter() }, refuse: unless(m.input.hasAfter, "Nothing was sent after that."), do: just(func() { m.input.forward() })},
		"chat.history":     {refuse: m.noHistory, do: just(m.searchHistory)},
		"chat.editor":      {refuse: m.noEditor, do: command(m.editDraft)},
		"chat.open_paste":  {refuse: unless(m.input.hasPaste, "Nothing that was pasted is folded in the input."), do: just(m.input.openPaste)},
		"chat.drop_queued": {refuse: m.nothingQueued, do: command(m.dropQueued)},
		"chat.end":         {when: m.input.empty, refuse: unless(m.input.empty, "The input is not empty."), do: command(m.leave)},
	}
}

// planActions work on the plan and the step that is chosen in it.
func (m *Model) planActions() handlers {
	return handlers{
		"plan.open":           {refuse: m.noRow, do: command(m.openRow)},
		"plan.fold":           {refuse: m.noRow, do: m.inList(m.dag.fold)},
		"plan.fold_all":       {refuse: m.noRow, do: m.inList(m.dag.foldEverything)},
		"plan.gate":           {refuse: m.noRow, do: m.inPlan(func() string { return m.dag.jump(toGate) })},
		"plan.failure":        {refuse: m.noRow, do: m.inPlan(func() string { return m.dag.jump(toFailure) })},
		"plan.running":        {refuse: m.noRow, do: m.inPlan(func() string { return m.dag.jump(toRunning) })},
		"plan.filter":         {refuse: m.noSteps, do: just(m.dag.startFilter)},
		"plan.next_match":     {refuse: m.noFilter, do: m.inPlan(func() string { return m.dag.nextMatch(1) })},
		"plan.previous_match": {refuse: m.noFilter, do: m.inPlan(func() string { return m.dag.nextMatch(-1) })},
		"plan.cancel":         {refuse: m.noCancel, do: command(m.cancel)},
		"plan.follow":         {do: just(m.followRun)},
		"plan.undo":           {refuse: m.noUndo, do: command(m.askUndo)},
	}
}

// stepActions work on the step that is shown whole.
func (m *Model) stepActions() handlers {
	d := m.detail
	return handlers{
		"step.next_tab":     {refuse: m.noRow, do: just(func() { d.choose(d.tab + 1) })},
		"step.previous_tab": {refuse: m.noRow, do: just(func() { d.choose(d.tab - 1) })},
		"diff.sides":        {refuse: m.noSides, do: just(m.turnStep)},
	}
}

// movingActions move what the pane with the focus shows.
func (m *Model) movingActions() handlers {
	const far = 1 << 20
	// Where text is typed, letters and arrows are for the text.
	beside := func() bool { return m.focus != paneChat || m.options.Replay }
	by := func(lines func(page int) int) func() wanted {
		return just(func() { m.move(lines) })
	}
	return handlers{
		"move.up":        {when: beside, do: by(func(int) int { return -1 })},
		"move.down":      {when: beside, do: by(func(int) int { return 1 })},
		"move.first":     {when: beside, do: by(func(int) int { return -far })},
		"move.last":      {when: beside, do: by(func(int) int { return far })},
		"move.page_up":   {do: by(func(page int) int { return -page })},
		"move.page_down": {do: by(func(page int) int { return page })},
		"move.half_up":   {when: func() bool { return beside() || m.input.empty() }, do: by(func(page int) int { return -max(page/2, 1) })},
		"move.half_down": {when: beside, do: by(func(page int) int { return max(page/2, 1) })},
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
