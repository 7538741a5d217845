package tui

import (
	"errors"

	tea "charm.land/bubbletea/v2"

	"replan/agent/event"
	"replan/agent/session"
	"replan/internal/untrusted"
	"replan/tui/keymap"
)

// handleEvents applies a batch of events and updates the panes.
func (m *Model) handleEvents(b eventsMsg) tea.Cmd {
	before := m.live.Active()
	for _, e := range b.events {
		m.animation.record(e.Time, b.arrived)
		m.message.ApplyEvent(e)
		m.session.apply(e)
		if _, ok := e.Data.(session.Status); ok { // the greeting depends on it
			m.chat.SetState(m.chatState())
			m.session.introduce()
		}
	}
	m.animation.update()
	if b.closed {
		m.session.end()
	}
	settings, models := m.jobs.takeLists()
	open := m.focus.scene().New()
	cmd := tea.Batch(m.outbox.ask(settings), m.outbox.ask(models), m.waiting.update(), m.dialogs.offered())
	if m.session.takeSideEnd() {
		m.exits.spare()
		cmd = tea.Batch(cmd, m.waiting.lookBack(m.input.Empty()))
	}
	if guard := m.focus.scene().New(); guard != nil && guard != open && !m.input.Empty() {
		cmd = tea.Batch(cmd, guard.StartTyping()) // it opened over a text that is being typed
	}
	cmd = tea.Batch(cmd, m.outbox.ask(m.session.takeStale()))
	if address := m.jobs.takeLogin(); address != "" {
		cmd = tea.Batch(cmd, m.clipboard.write(address))
	}
	if again := m.jobs.takeAgain(m.session.now()); again != nil {
		cmd = tea.Batch(cmd, m.carryOut(again))
	}
	m.refresh()
	return tea.Batch(cmd, m.alerts.tell(before), m.animation.start())
}

// handleAnswer passes the answer to a query to the part of the screen that asked. It
// reports whether msg is an answer.
func (m *Model) handleAnswer(msg tea.Msg) (cmd tea.Cmd, taken bool) {
	switch a := msg.(type) {
	case keymap.AnswerMsg[session.Completions]:
		m.dialogs.completed(a)
		cmd = m.carryOut(m.input.Update(a))
	case keymap.FileMsg:
		cmd = m.carryOut(m.input.Update(a))
	case keymap.JournalMsg:
		cmd = m.playRecalled(a)
	case drawnMsg:
		cmd = m.outbox.ask(pastRuns)
	case pastRunsMsg:
		m.session.remember(a)
	case keymap.Answer:
		err := a.Failure()
		if errors.Is(err, session.ErrClosed) {
			break
		}
		if err != nil {
			m.session.note(event.Note{Level: "warn", Text: untrusted.Text(err.Error())})
		}
		if next := m.dialogs.answered(msg); next != nil { // even a partial answer
			cmd = m.outbox.ask(next)
		}
	default:
		return nil, false
	}
	m.refresh()
	return cmd, true
}

// refresh updates the panes after events.
func (m *Model) refresh() {
	m.chat.Invalidate()
	shown := m.live.Shown().State
	m.dag.SetState(m.planState())
	m.dag.Invalidate()
	m.detail.Show(shown, subjectOf(m.dag.Chosen()))
	m.detail.Invalidate()
	m.dialogs.refresh(m.settingValues)
}

// redraw shows a changed appearance, if it has changed.
func (m *Model) redraw() {
	if !m.appearance.changed() {
		return
	}
	for _, part := range []interface{ Retheme() }{m.chat, m.input, m.ask, m.dialogs} {
		part.Retheme()
	}
	m.refresh()
}
