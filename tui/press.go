package tui

import (
	tea "charm.land/bubbletea/v2"

	"replan/agent/runner"
)

// press routes a key: to an open question or dialog, else to what works
// everywhere, else to the pane that has the focus.
func (m *Model) press(k tea.KeyPressMsg) tea.Cmd {
	m.word = ""
	m.sure, m.warned = m.warned && matches(k, m.keys.Stop), false
	switch {
	case m.quitting:
		return m.pressQuit(k)
	case matches(k, m.keys.Quit):
		return m.leave()
	case m.layout.small:
		return nil
	case m.help.open:
		m.help.press(k)
		return nil
	case m.gate.showing() && !m.gate.grace && (k.String() == "f1" || matches(k, m.keys.Help)):
		m.help.open = true
		return nil
	case m.gate.showing():
		return m.pressGate(k)
	}
	if cmd, taken := m.pressAnywhere(k); taken {
		return cmd
	}
	switch m.focus {
	case panePlan:
		m.pressPlan(k)
	case paneStep:
		m.pressStep(k)
	default:
		return m.pressChat(k)
	}
	return nil
}

// leave clears the input, else quits; it asks first where something runs.
func (m *Model) leave() tea.Cmd {
	switch {
	case m.focus == paneChat && !m.input.empty() && !m.gate.open && !m.help.open:
		m.input.clear()
		return nil
	case m.runs():
		m.quitting = true
		return nil
	default:
		return tea.Quit
	}
}

func (m *Model) pressQuit(k tea.KeyPressMsg) tea.Cmd {
	switch {
	case matches(k, m.keys.Yes):
		return tea.Quit
	case matches(k, m.keys.No):
		m.quitting = false
	}
	return nil
}

// pressGate gives a key to the gate dialog and sends the answer.
func (m *Model) pressGate(k tea.KeyPressMsg) tea.Cmd {
	if matches(k, m.keys.ForRun) && !m.gate.grace && m.gate.queue[0].session {
		m.say("This is no step of a run: y or n.")
		return nil
	}
	answer, cmd := m.gate.press(k)
	if answer == nil {
		return cmd
	}
	return tea.Batch(cmd, m.outbox.send(*answer))
}

// pressAnywhere takes the keys that work in every pane.
func (m *Model) pressAnywhere(k tea.KeyPressMsg) (cmd tea.Cmd, taken bool) {
	typing := m.focus == paneChat && !m.input.empty()
	switch {
	case k.String() == "f1", matches(k, m.keys.Help) && !typing:
		m.help.open = true
	case matches(k, m.keys.NextPane):
		m.focus = (m.focus + 1) % panes
	case matches(k, m.keys.PreviousPane):
		m.focus = (m.focus + panes - 1) % panes
	case matches(k, m.keys.Gate):
		if m.gate.waiting() == 0 {
			m.say("No gate is open.")
			return nil, true
		}
		return m.gate.reopen(), true
	case matches(k, m.keys.Stop):
		return m.stop(), true
	default:
		return nil, false
	}
	return nil, true
}

// stop stops what runs; without anything to stop it leads back to the chat.
// Where a run only waits at a gate, a second press must confirm it: the first
// may have been meant for the gate.
func (m *Model) stop() tea.Cmd {
	switch {
	case m.stopping:
		m.say("It is being stopped.")
	case m.gate.waiting() > 0 && !m.sure && (m.run == nil || !m.run.Busy()):
		m.warned = true
		m.say("A gate is open: esc again stops the run, ctrl+g leads back to the gate.")
	case m.runs():
		m.stopping = true
		m.chat.touch()
		return m.outbox.send(runner.Stop{})
	case m.focus != paneChat:
		m.focus = paneChat
	default:
		m.say("Nothing runs.")
	}
	return nil
}

func (m *Model) pressChat(k tea.KeyPressMsg) tea.Cmd {
	page := max(m.chat.height-1, 1)
	switch {
	case matches(k, m.keys.Send):
		return m.submit()
	case matches(k, m.keys.PageUp):
		m.chat.scroll(page)
	case matches(k, m.keys.PageDown):
		m.chat.scroll(-page)
	case matches(k, m.keys.HalfUp) && m.input.empty():
		m.chat.scroll(max(page/2, 1))
	case matches(k, m.keys.End) && m.input.empty():
		return m.leave()
	case matches(k, m.keys.HistoryBack) && m.input.back():
	case matches(k, m.keys.HistoryForward) && m.input.forward():
	default:
		return m.input.update(k)
	}
	return nil
}

// submit sends what was typed.
func (m *Model) submit() tea.Cmd {
	text := m.input.value()
	switch {
	case text == "":
		m.say("Type what shall be done first.")
		return nil
	case m.closed:
		m.say("The session is closed; ctrl+c quits.")
		return nil
	}
	m.input.clear()
	m.chat.toEnd()
	return m.outbox.send(runner.Submit{Text: text})
}

func (m *Model) pressPlan(k tea.KeyPressMsg) {
	page := max(m.dag.height-1, 1)
	switch {
	case matches(k, m.keys.Open):
		if !m.dag.toggle() && m.dag.chosen() != nil {
			m.focus = paneStep
		}
	case matches(k, m.keys.Up):
		m.dag.move(-1)
	case matches(k, m.keys.Down):
		m.dag.move(1)
	case matches(k, m.keys.First):
		m.dag.move(-1 << 20)
	case matches(k, m.keys.Last):
		m.dag.move(1 << 20)
	case matches(k, m.keys.PageUp):
		m.dag.move(-page)
	case matches(k, m.keys.PageDown):
		m.dag.move(page)
	case matches(k, m.keys.HalfUp):
		m.dag.move(-max(page/2, 1))
	case matches(k, m.keys.HalfDown):
		m.dag.move(max(page/2, 1))
	case matches(k, m.keys.Follow):
		m.dag.setFollow()
	case matches(k, m.keys.Args):
		m.detail.choose(tabArgs)
	case matches(k, m.keys.Output):
		m.detail.choose(tabOutput)
	case matches(k, m.keys.Diff):
		m.detail.choose(tabDiff)
	default:
		m.elsewhere(k)
		return
	}
	m.refresh()
}

func (m *Model) pressStep(k tea.KeyPressMsg) {
	d := m.detail
	page := max(d.height-1, 1)
	switch {
	case matches(k, m.keys.Args):
		d.choose(tabArgs)
	case matches(k, m.keys.Output):
		d.choose(tabOutput)
	case matches(k, m.keys.Diff):
		d.choose(tabDiff)
	case matches(k, m.keys.NextTab):
		d.choose(d.tab + 1)
	case matches(k, m.keys.PreviousTab):
		d.choose(d.tab - 1)
	case matches(k, m.keys.Up):
		d.scroll(-1)
	case matches(k, m.keys.Down):
		d.scroll(1)
	case matches(k, m.keys.PageUp):
		d.scroll(-page)
	case matches(k, m.keys.PageDown):
		d.scroll(page)
	case matches(k, m.keys.HalfUp):
		d.scroll(-max(page/2, 1))
	case matches(k, m.keys.HalfDown):
		d.scroll(max(page/2, 1))
	case matches(k, m.keys.First):
		d.toTop()
	case matches(k, m.keys.Last):
		d.toEnd()
	default:
		m.elsewhere(k)
	}
}

// elsewhere says why a key did nothing in a pane that takes no text.
func (m *Model) elsewhere(k tea.KeyPressMsg) {
	if k.Text != "" {
		m.say("Tab leads to the input, where you can type; ? shows the keys.")
	}
}
