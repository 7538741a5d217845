package tui

import (
	tea "charm.land/bubbletea/v2"

	"replan/agent"
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
	case m.over() != nil:
		return m.pressOver(k)
	case m.ask.showing() && !m.ask.grace && m.opens(k) && (!m.ask.editing() || k.String() == "f1"):
		return m.openOver(k)
	case m.ask.showing():
		return m.pressAsk(k)
	case m.options.Replay && matches(k, m.keys.LeaveReplay):
		return tea.Quit
	}
	if cmd, taken := m.pressAnywhere(k); taken {
		return cmd
	}
	switch m.focus {
	case panePlan:
		return m.pressPlan(k)
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
	case m.focus == paneChat && !m.input.empty() && !m.covered():
		m.input.clear()
		return nil
	case m.running() && !m.options.Replay:
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

// pressAsk gives a key to the dialog that asks and sends the answer.
func (m *Model) pressAsk(k tea.KeyPressMsg) tea.Cmd {
	answer, word, cmd := m.ask.press(k)
	defer m.refresh() // the plan shows the step that is asked about
	if word != "" {
		m.say(word)
	}
	if m.reopened != nil && (answer != nil || !m.ask.open) {
		// Nothing waits for this answer: who leaves it takes it back.
		m.reopened = nil
		m.preparing = answer != nil
		cmd = tea.Batch(cmd, m.ask.set(m.asks()), m.animate())
	}
	if answer == nil {
		return cmd
	}
	return tea.Batch(cmd, m.outbox.send(answer))
}

// pressAnywhere takes the keys that work in every pane.
func (m *Model) pressAnywhere(k tea.KeyPressMsg) (cmd tea.Cmd, taken bool) {
	typing := m.focus == paneChat && !m.input.empty()
	switch {
	case m.opens(k) && (!typing || !matches(k, m.keys.Help)):
		return m.openOver(k), true
	case matches(k, m.keys.Steer):
		return m.steer(), true
	case matches(k, m.keys.NextPane):
		m.focus = (m.focus + 1) % panes
	case matches(k, m.keys.PreviousPane):
		m.focus = (m.focus + panes - 1) % panes
	case matches(k, m.keys.Gate):
		if m.options.Replay {
			m.say("This is a replay: what was asked was answered then, as the chat says.")
			return nil, true
		}
		if m.ask.waiting() == 0 {
			m.say("No gate is open.")
			return nil, true
		}
		return m.ask.reopen(), true
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
		m.sayUntilHeard("It is being stopped.")
	case m.ask.waiting() > 0 && !m.sure && (m.run == nil || !m.run.Busy()):
		m.warned = true
		m.say("A " + m.waiting() + " is open: esc again stops the run, ctrl+g leads back to the " + m.waiting() + ".")
	case m.options.Replay && m.focus == paneChat:
		m.say("This is a replay: nothing runs that could be stopped; q quits.")
	case m.running() && !m.options.Replay:
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
	case m.options.Replay && matches(k, m.keys.Up):
		m.chat.scroll(1)
	case m.options.Replay && matches(k, m.keys.Down):
		m.chat.scroll(-1)
	case m.options.Replay && matches(k, m.keys.Send):
		m.say(nothingSent)
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
	case m.options.Replay:
		if k.Text != "" {
			m.say(nothingSent)
		}
	default:
		return tea.Batch(m.warm(k.Text), m.input.update(k))
	}
	return nil
}

// nothingSent says why a replay takes no text.
const nothingSent = "This is a replay: nothing can be sent; q quits."

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

func (m *Model) pressPlan(k tea.KeyPressMsg) tea.Cmd {
	page := max(m.dag.height-1, 1)
	switch {
	case matches(k, m.keys.Open):
		return m.openRow()
	case matches(k, m.keys.Calls):
		m.unfold()
	case matches(k, m.keys.Cancel):
		return m.cancel()
	case matches(k, m.keys.Undo):
		return m.askUndo()
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
		return nil
	}
	m.refresh()
	return nil
}

// openRow unfolds the chosen revision, puts a failed step of a run that has
// ended to the user, or leads to the step.
func (m *Model) openRow() tea.Cmd {
	s := m.chosenStep()
	switch {
	case m.dag.toggle():
	case m.dag.chosen() != nil && m.dag.chosen().kind == rowCalls:
		m.dag.unfold()
	case m.dag.chosen() == nil:
	case s != nil && m.takeUp(s):
		return m.ask.set(m.asks())
	default:
		m.focus = paneStep
		if s != nil && s.Status == agent.StepUncertain && m.resumable() {
			m.say("This step is in doubt: ctrl+r resumes the run, which asks what became of it.")
		}
	}
	m.refresh()
	return nil
}

// unfold shows or folds the calls of the agent step that is chosen.
func (m *Model) unfold() {
	if !m.dag.unfold() {
		m.say("There are no calls to unfold: only a step that an agent carries out makes some.")
	}
}

// cancel stops the chosen step, where it runs.
func (m *Model) cancel() tea.Cmd {
	row := m.dag.chosen()
	if row == nil || row.step == nil {
		m.say("No step is chosen.")
		return nil
	}
	s := row.step
	step := stepTitle(m.look, s.Step.Index)
	switch {
	case row.kind == rowGone:
		m.say(step + " is no longer in the plan.")
	case m.options.Replay:
		m.say("This is a replay: nothing runs that could be cancelled.")
	case !m.shown.goes():
		m.say("The run has ended; nothing is left to cancel.")
	case s.Status == agent.StepActive:
		m.sayUntilHeard(step + " is being cancelled; the others go on.")
		return m.outbox.send(runner.Cancel{Run: m.shown.run.ID, Step: s.Step.Index})
	case s.Status == agent.StepWaiting:
		m.say(step + " does not run yet: ctrl+g leads to its gate, where n denies it.")
	case s.Status.Ended():
		m.say(step + " has ended already.")
	default:
		m.say(step + " does not run yet.")
	}
	return nil
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
	switch {
	case k.Text == "":
	case m.options.Replay:
		m.say(nothingSent)
	default:
		m.say("Tab leads to the input, where you can type; ? shows the keys.")
	}
}
