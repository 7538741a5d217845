package tui

import (
	"strings"

	tea "charm.land/bubbletea/v2"

	"replan/agent/session"
	"replan/tui/ask"
	"replan/tui/chat"
	"replan/tui/dag"
	"replan/tui/input"
	"replan/tui/keymap"
	"replan/tui/panes"
	"replan/tui/step"
)

var (
	_ Pane = (*ask.Dialog)(nil)
	_ Pane = (*chat.Pane)(nil)
	_ Pane = (*dag.Pane)(nil)
	_ Pane = (*input.Pane)(nil)
	_ Pane = (*step.Pane)(nil)
)

// Pane is a part of the screen: it handles messages, draws itself and lists its
// actions. The size of a pane is in its state, that of a dialog comes with each View.
type Pane interface {
	// Update handles a message addressed to the pane: a key that no action takes,
	// pasted text, a click or a wheel in the pane's own cells, an answer of the
	// session. What it asks of the root is the returned value.
	Update(msg tea.Msg) keymap.Request
	// Actions returns the pane's actions with their handlers.
	Actions() keymap.Handlers
}

// carryOut carries out what a pane requests. Afterwards the other panes show what
// has changed.
func (m *Model) carryOut(w keymap.Request) tea.Cmd {
	m.present(w)
	cmds := []tea.Cmd{w.Cmd}
	add := func(cmd tea.Cmd) { cmds = append(cmds, cmd) }
	if w.Quit {
		add(m.exits.leave())
	}
	if w.Gate {
		m.ask.Reopen()
	}
	if m.pending.Reopened() && (w.Answer || !m.ask.Open()) {
		// No run waits for this answer, so leaving the dialog withdraws the
		// question.
		m.pending.Withdraw()
		m.live.Await(w.Answer)
		add(m.ask.Set(m.pending.List()))
	}
	if w.ReopenFailure != nil && m.reopenFailure(w.ReopenFailure) {
		add(m.ask.Set(m.pending.List()))
		m.ask.Guard().AskedFor()
	}
	if w.Copy != nil {
		add(m.clipboard.copy(w.Copy.What, w.Copy.Text))
	}
	if w.Undo != nil {
		add(m.outbox.ask(m.dialogs.openUndo(*w.Undo)))
	}
	if w.Continue != "" {
		m.options.GoOn(w.Continue)
		add(tea.Quit)
	}
	if w.Action != "" {
		add(m.do(m.offered().Find(w.Action)))
	}
	if w.Ask != nil {
		add(m.outbox.ask(w.Ask))
	}
	for _, command := range w.Send {
		add(m.send(command))
	}
	m.refresh()
	add(m.Animate())
	return tea.Batch(cmds...)
}

// present carries out the part of a request that only changes what is shown.
func (m *Model) present(w keymap.Request) {
	if w.Footer != "" {
		m.message.Set(w.Footer)
	}
	if w.FooterUntilEvent != "" {
		m.message.SetUntilEvent(w.FooterUntilEvent)
	}
	m.panes.FocusPlace(w.Focus)
	if w.ScrollToEnd {
		m.chat.ToEnd()
	}
	if w.Notice != "" {
		m.toasts.Show("info", w.Notice)
	}
	if w.Step != "" {
		m.dag.Reveal(w.Step)
		m.panes.SetFocus(panes.Step)
	}
	if w.Theme != "" {
		m.appearance.choose(w.Theme)
		m.redraw()
	}
	if w.Play != nil {
		m.playback.want(*w.Play)
	}
}

// send sends a command to the session and shows that its work begins.
func (m *Model) send(command session.Command) tea.Cmd {
	switch c := command.(type) {
	case session.Submit:
		return m.submit(c)
	case session.Resume:
		m.panes.SetFocus(panes.Chat)
		m.chat.ToEnd()
		m.live.Prepare()
	case session.Choose:
		m.dialogs.sent(c)
	case session.SaveSetting:
		m.applySetting(c)
	case session.Recheck:
		return m.session.lookAgain()
	}
	return m.outbox.send(command)
}

// submit sends what the user typed. An answer to a hidden question is not a goal: it
// shows the question instead. A question of the session holds up every goal, so it
// is shown again.
func (m *Model) submit(c session.Submit) tea.Cmd {
	if m.ask.IsAnswer(strings.TrimSpace(c.Text)) {
		m.ask.Reopen()
		m.message.Set("The " + m.ask.WaitsFor() + " waits here: press " + strings.TrimSpace(c.Text) + " again to answer it.")
		return nil
	}
	if id := keymap.Typed(strings.TrimSpace(c.Text)); id != "" {
		return m.do(m.offered().Find(id))
	}
	cmd := m.outbox.send(c)
	if m.holdsGoals() && !m.ask.Open() {
		m.ask.Reopen()
		m.message.Set("Your goal waits for this answer.")
		return tea.Batch(cmd, m.ask.Guard().StartStage())
	}
	return cmd
}

// holdsGoals reports whether no run starts before the user has answered about the
// servers of the project.
func (m *Model) holdsGoals() bool {
	return m.ask.AsksForSession() && m.session.serverWaits()
}

// gated reports whether the gate of the chosen step is on the screen.
func (m *Model) gated() bool {
	chosen, run := m.dag.ChosenStep(), m.live.Shown().State
	return chosen != nil && run != nil && m.ask.Showing() && m.ask.AtGate() && m.ask.StepOf(run.ID) == chosen.Step.Index
}

// apply puts a setting into effect that the user saves.
func (m *Model) applySetting(k session.SaveSetting) {
	on := k.Value != nil && *k.Value == "true"
	switch k.Key {
	case settingReducedMotion:
		m.clock.Calm = on
	case chat.KeyShowThinking:
		m.chat.ShowThinking(on)
	case panes.ChatWidth, panes.PlanHeight:
		m.panes.Set(k.Key, k.Value)
	}
	m.appearance.apply(k.Key, on)
	m.redraw()
}
