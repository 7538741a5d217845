package tui

import (
	"slices"

	tea "charm.land/bubbletea/v2"

	"replan/agent/runner"
	"replan/tui/dag"
	"replan/tui/keymap"
)

// everywhereActions returns the actions of every pane.
func (m *Model) everywhereActions() keymap.Handlers {
	return keymap.Handlers{
		"palette":       {Opens: true, Do: keymap.Just(m.openPalette)},
		"help":          {Opens: true, Do: keymap.Just(m.openHelp)},
		"pane.next":     {Do: keymap.Just(func() { m.focus = (m.focus + 1) % panes })},
		"pane.previous": {Do: keymap.Just(func() { m.focus = (m.focus + panes - 1) % panes })},
		"gate":          {Refuse: m.noGate, Do: keymap.Command(m.reopen)},
		"gate.allowed":  {Opens: true, Refuse: m.noRun, Do: keymap.Just(m.showAllowed)},
		"runs":          {Opens: true, Do: keymap.Command(m.listRuns)},
		"models":        {Opens: true, Do: func() keymap.Wanted { return keymap.Wanted{Ask: m.models.Ask(m.status)} }},
		"exchanges":     {Opens: true, Do: keymap.Just(func() { m.talk.Show() })},
		"revisions":     {Opens: true, Refuse: m.noRevisions, Do: keymap.Just(m.openRevisions)},
		"themes":        {Opens: true, Do: keymap.Just(m.openThemes)},
		"review.next":   {Do: keymap.Command(m.holdPlans)},
		"run.steer":     {Refuse: m.noSteering, Do: keymap.Command(m.steer)},
		"run.stop":      {Refuse: m.nothingToStop, Do: keymap.Command(m.stop)},
		"look":          {Do: keymap.Command(m.lookAgain)},
		"servers":       {Opens: true, Do: func() keymap.Wanted { return keymap.Wanted{Ask: m.servers.Ask(m.status)} }},
		"settings":      {Opens: true, Do: func() keymap.Wanted { return keymap.Wanted{Ask: m.settings.Ask()} }},
		"quit":          {Do: keymap.Command(m.leave)},
		"replay.quit":   {When: func() bool { return false }, Refuse: m.noReplay, Do: keymap.Just(func() {})},
	}
}

// noReplay returns why no replay can be left.
func (m *Model) noReplay() string {
	return "This is no replay: " + m.keys.Name("quit") + " quits."
}

// chatActions returns the actions of the text input.
func (m *Model) chatActions() keymap.Handlers {
	return keymap.Handlers{
		"chat.send":        {Refuse: m.nothingToSend, Do: keymap.Command(m.send)},
		"chat.new_line":    {Do: keymap.Command(m.newline)},
		"chat.before":      {When: func() bool { return m.mayTakeBack() || m.input.HasBefore() }, Refuse: keymap.Unless(func() bool { return m.mayTakeBack() || m.input.HasBefore() }, "Nothing was sent before that."), Do: keymap.Command(m.before)},
		"chat.after":       {When: m.input.HasAfter, Refuse: keymap.Unless(m.input.HasAfter, "Nothing was sent after that."), Do: keymap.Just(func() { m.input.Forward() })},
		"chat.history":     {Refuse: m.noHistory, Do: keymap.Just(m.searchHistory)},
		"chat.editor":      {Refuse: m.noEditor, Do: keymap.Command(m.editDraft)},
		"chat.open_paste":  {Refuse: keymap.Unless(m.input.HasPaste, "Nothing that was pasted is folded in the input."), Do: keymap.Just(m.input.OpenPaste)},
		"chat.drop_queued": {Refuse: m.nothingQueued, Do: keymap.Command(m.dropQueued)},
		"chat.end":         {When: m.input.Empty, Refuse: keymap.Unless(m.input.Empty, "The input is not empty."), Do: keymap.Command(m.leave)},
	}
}

// planActions returns the actions on the plan and its chosen step.
func (m *Model) planActions() keymap.Handlers {
	return keymap.Handlers{
		"plan.open":           {Refuse: m.dag.NoRow, Do: keymap.Command(m.openRow)},
		"plan.fold":           {Refuse: m.dag.NoRow, Do: m.inList(m.dag.Fold)},
		"plan.fold_all":       {Refuse: m.dag.NoRow, Do: m.inList(m.dag.FoldEverything)},
		"plan.gate":           {Refuse: m.dag.NoRow, Do: m.inPlan(func() string { return m.dag.Jump(dag.ToGate) })},
		"plan.failure":        {Refuse: m.dag.NoRow, Do: m.inPlan(func() string { return m.dag.Jump(dag.ToFailure) })},
		"plan.running":        {Refuse: m.dag.NoRow, Do: m.inPlan(func() string { return m.dag.Jump(dag.ToRunning) })},
		"plan.filter":         {Refuse: m.noSteps, Do: keymap.Just(m.dag.StartFilter)},
		"plan.next_match":     {Refuse: m.noFilter, Do: m.inPlan(func() string { return m.dag.NextMatch(1) })},
		"plan.previous_match": {Refuse: m.noFilter, Do: m.inPlan(func() string { return m.dag.NextMatch(-1) })},
		"plan.cancel":         {Refuse: m.noCancel, Do: keymap.Command(m.cancel)},
		"plan.follow":         {Do: keymap.Just(m.followRun)},
		"plan.undo":           {Refuse: m.noUndo, Do: keymap.Command(m.askUndo)},
	}
}

// stepActions returns the actions of the step pane.
func (m *Model) stepActions() keymap.Handlers {
	d := m.detail
	return keymap.Handlers{
		"step.next_tab":     {Refuse: m.dag.NoRow, Do: keymap.Just(func() { d.Choose(d.Tab + 1) })},
		"step.previous_tab": {Refuse: m.dag.NoRow, Do: keymap.Just(func() { d.Choose(d.Tab - 1) })},
		"diff.sides":        {Refuse: m.detail.NoSides, Do: keymap.Just(m.turnStep)},
	}
}

// movingActions returns the actions that scroll the focused pane.
func (m *Model) movingActions() keymap.Handlers {
	const far = 1 << 20
	// In the input, letters and arrows edit the text.
	beside := func() bool { return m.focus != paneChat || !m.input.TakesText() }
	by := func(lines func(page int) int) func() keymap.Wanted {
		return keymap.Just(func() { m.move(lines) })
	}
	return keymap.Handlers{
		"move.up":        {When: beside, Do: by(func(int) int { return -1 })},
		"move.down":      {When: beside, Do: by(func(int) int { return 1 })},
		"move.first":     {When: beside, Do: by(func(int) int { return -far })},
		"move.last":      {When: beside, Do: by(func(int) int { return far })},
		"move.page_up":   {Do: by(func(page int) int { return -page })},
		"move.page_down": {Do: by(func(page int) int { return page })},
		"move.half_up":   {When: func() bool { return beside() || m.input.Empty() }, Do: by(func(page int) int { return -max(page/2, 1) })},
		"move.half_down": {When: beside, Do: by(func(page int) int { return max(page/2, 1) })},
	}
}

// move scrolls the focused pane; lines returns the distance for a page height.
func (m *Model) move(lines func(page int) int) {
	switch m.focus {
	case panePlan:
		m.dag.Move(lines(max(m.dag.Height-1, 1)))
		m.refresh()
	case paneStep:
		m.detail.Scroll(lines(max(m.detail.Height-1, 1)))
	default:
		m.chat.Scroll(-lines(max(m.chat.Height-1, 1)))
	}
}

// followRun turns following of the running step on or off.
func (m *Model) followRun() {
	m.dag.SetFollow(!m.dag.Follow)
	m.refresh()
}

// noSteering returns why the user cannot steer a run now.
func (m *Model) noSteering() string {
	switch {
	case m.focus != paneChat:
		return m.keys.LeadingName("pane.next") + " leads to the input: what you type there, " + m.keys.Name("run.steer") + " says to the run."
	case m.going() == "":
		return "No run goes on that could hear it; " + m.keys.Name("chat.send") + " sends it."
	case !m.heeds():
		return "Nothing in this run can hear it; " + m.keys.Name("chat.send") + " queues it."
	case m.input.Value() == "":
		return "Type what the run shall hear first."
	default:
		return ""
	}
}

// heeds reports whether anything in the current runs would hear the user: a
// model at work, or one that can replan.
func (m *Model) heeds() bool {
	return slices.ContainsFunc(m.stages, func(s *stage) bool { return s.goes() && s.run.Steerable() })
}

// steer sends the typed text to the current run.
func (m *Model) steer() tea.Cmd {
	text := m.input.Sent()
	m.input.Clear()
	m.chat.ToEnd()
	return m.outbox.send(runner.Steer{Text: text})
}

// nothingToStop returns why there is nothing to stop or leave.
func (m *Model) nothingToStop() string {
	switch {
	case m.stopping || m.focus != paneChat || m.ask.Waiting() > 0:
		return ""
	case !m.running():
		return "Nothing runs."
	default:
		return ""
	}
}

// nothingToSend returns why enter sends nothing.
func (m *Model) nothingToSend() string {
	switch {
	case m.input.Value() == "" && m.helpless():
		return "" // enter looks for a model again
	case m.input.Value() == "":
		return "Type what shall be done first."
	case m.closed:
		return "The session is closed; " + m.keys.Name("quit") + " quits."
	default:
		return ""
	}
}
