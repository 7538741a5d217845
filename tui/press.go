package tui

import (
	tea "charm.land/bubbletea/v2"

	"replan/agent"
	"replan/agent/runner"
	"replan/tui/dag"
	"replan/tui/draw"
	"replan/tui/keymap"
)

// press routes a key to an open question or dialog, else to the action bound to
// it in the focused pane.
func (m *Model) press(k tea.KeyPressMsg) tea.Cmd {
	id := ""
	switch {
	case keymap.Matches(k, m.keys.Stop):
		id = "run.stop"
	case keymap.Matches(k, m.keys.CopyCode):
		id = "chat.copy"
	}
	m.forget(id)
	switch {
	case m.quitting:
		cmd, _ := m.pressMode(k)
		return cmd
	case keymap.Matches(k, m.keys.Quit):
		a, _ := m.actionOf("quit")
		return m.do(a)
	case m.layout.small:
		return nil
	case m.over() != nil:
		return m.pressOver(k)
	case m.ask.Showing():
		if a := m.find(k, keymap.PlaceEverywhere); a != nil && a.Opens && !m.ask.Grace && (!m.ask.Editing() || a.ID == "help" && k.Text == "") {
			return m.do(a)
		}
		return m.actInAsk(func() keymap.Wanted { return m.ask.Press(k) })
	case m.searching():
		if a := m.find(k, keymap.PlaceEverywhere); a != nil && a.Opens && k.Text == "" {
			return m.do(a)
		}
	}
	if cmd, taken := m.pressMode(k); taken {
		return cmd
	}
	return m.pressPane(k)
}

// pressMode runs the key's action in the active mode, or types the key there.
// It reports whether the mode consumed the key.
func (m *Model) pressMode(k tea.KeyPressMsg) (cmd tea.Cmd, taken bool) {
	hs := m.mode()
	if id, found := m.keys.Meant(k, hs); found {
		w, why := hs.Act(id)
		if why != "" {
			m.say(why)
		}
		return m.carryOut(w), true
	}
	switch {
	case m.quitting:
		return nil, true
	case m.searching():
		m.chat.Typed(k.Text)
		return nil, true
	case m.filters() && m.dag.Filter.Typing && k.Text != "":
		m.dag.Seek(m.dag.Filter.Text + k.Text)
		m.refresh()
		return nil, true
	case m.recalls():
		if k.Text != "" {
			m.recall.Typed(k.Text)
		}
		return nil, true
	default:
		return nil, false
	}
}

// forget clears state that lasts until the next action; id names that action.
func (m *Model) forget(id string) {
	m.word = ""
	m.selected.unselect()
	if m.copied != nil && id != "chat.copy" {
		m.copied = nil
		m.chat.Mark(nil)
	}
	m.sure, m.warned = m.warned && id == "run.stop", false
}

// pressPane runs the key's action in the focused pane. Unbound keys are typed
// if the pane takes text.
func (m *Model) pressPane(k tea.KeyPressMsg) tea.Cmd {
	typing := k.Text != "" && m.focus == paneChat && !m.input.Empty()
	for _, at := range []keymap.Place{keymap.PlaceReplay, keymap.PlaceEverywhere, m.here(), keymap.PlaceMoving} {
		if typing && at == keymap.PlaceEverywhere {
			continue
		}
		if a := m.find(k, at); a != nil {
			return m.do(a)
		}
	}
	if m.focus == paneChat && !m.input.TakesText() {
		// Without typing, a plan key is unambiguous here. But copying applies
		// to the focused pane.
		if a := m.find(k, keymap.PlacePlan); a != nil && a.ID != "plan.copy" {
			return m.doFor(a, keymap.PlacePlan)
		}
	}
	if m.focus == paneChat && m.input.TakesText() {
		return tea.Batch(m.warm(k.Text), m.typeInto(k))
	}
	m.elsewhere(k)
	return nil
}

// leave clears the input, else quits. It asks first during a run.
func (m *Model) leave() tea.Cmd {
	switch {
	case m.focus == paneChat && !m.input.Empty() && !m.covered():
		m.input.Clear()
		return nil
	case m.running():
		m.quitting = true
		return nil
	default:
		return tea.Quit
	}
}

// actInAsk runs an action of the question dialog and sends the answers.
func (m *Model) actInAsk(act func() keymap.Wanted) tea.Cmd {
	faced := m.review.Shown()
	w := act()
	cmd := tea.Batch(w.Cmd, m.faced(faced))
	defer m.refresh() // the plan shows the step in question
	if w.Say != "" {
		m.say(w.Say)
	}
	if m.reopened != nil && (w.Send != nil || !m.ask.Open) {
		// No run waits for this answer, so leaving the dialog withdraws the
		// question.
		m.reopened = nil
		m.preparing = w.Send != nil
		cmd = tea.Batch(cmd, m.ask.Set(m.asks()), m.Animate())
	}
	cmds := []tea.Cmd{cmd}
	for _, answer := range w.Send {
		cmds = append(cmds, m.outbox.send(answer))
	}
	return tea.Batch(cmds...)
}

// stop stops the run; without one, it leads back from the step to the plan and
// to the chat. If the run only waits at a gate, stop asks for a second press:
// the first may have been meant for the gate.
func (m *Model) stop() tea.Cmd {
	switch {
	case m.mapping():
		m.turnMap()
	case m.stopping:
		m.sayUntilHeard("It is being stopped.")
	case m.ask.Waiting() > 0 && !m.sure && (m.run == nil || !m.run.Busy()):
		m.warned = true
		m.say("A " + m.waiting() + " is open: " + m.keys.Name("run.stop") + " again stops the run, " + m.keys.Name("gate") + " leads back to the " + m.waiting() + ".")
	case m.review.Waits() && !m.sure:
		m.warned = true
		m.say("A plan waits to be looked over: " + m.keys.Name("run.stop") + " again stops the run, " + m.keys.Name("gate") + " leads back to it.")
	case m.running():
		m.stopping = true
		m.chat.Touch()
		return m.outbox.send(runner.Stop{})
	default:
		m.leadBack()
	}
	return nil
}

// leadBack returns from the map to the pane, from the step to the plan, and to
// the chat.
func (m *Model) leadBack() {
	switch {
	case m.mapping():
		m.turnMap()
	case m.focus == paneStep:
		m.focus = panePlan // the step was opened from it
	default:
		m.focus = paneChat
	}
}

// submit sends the typed text.
func (m *Model) submit() tea.Cmd {
	text := m.input.Sent()
	if text == "" {
		return m.lookAgain()
	}
	m.input.Clear()
	m.chat.ToEnd()
	return m.outbox.send(runner.Submit{Text: text})
}

// openRow expands the chosen revision, reopens a failed step of an ended run as
// a question, or focuses the step.
func (m *Model) openRow() tea.Cmd {
	s := m.dag.ChosenStep()
	switch {
	case m.dag.Toggle():
	case m.dag.Chosen() == nil:
	case s != nil && m.takeUp(s):
		return m.ask.Set(m.asks())
	default:
		m.focus = paneStep
		if s != nil && s.Status == agent.StepInDoubt && m.resumable() {
			m.say("This step is in doubt: " + m.keys.Name("runs") + " resumes the run, which asks what became of it.")
		}
	}
	m.refresh()
	return nil
}

// cancel cancels the chosen running step.
func (m *Model) cancel() tea.Cmd {
	s := m.dag.Chosen().Step
	m.sayUntilHeard(draw.StepTitle(m.look, s.Step.Index) + " is being cancelled; the others go on.")
	return m.outbox.send(runner.Cancel{Run: m.shown.run.ID, Step: s.Step.Index})
}

// noCancel returns why the chosen step cannot be canceled, "" if it runs.
func (m *Model) noCancel() string {
	row := m.dag.Chosen()
	if row == nil || row.Step == nil {
		return "No step is chosen."
	}
	s := row.Step
	step := draw.StepTitle(m.look, s.Step.Index)
	switch {
	case row.Kind == dag.RowGone:
		return step + " is no longer in the plan."
	case !m.shown.goes():
		return "The run has ended; nothing is left to cancel."
	case s.Status == agent.StepRunning:
		return ""
	case s.Status == agent.StepWaiting:
		return step + " does not run yet: " + m.keys.Gate.Help().Key + " leads to its gate, where " + m.keys.Deny.Help().Key + " denies it."
	case s.Status.Ended():
		return step + " has ended already."
	default:
		return step + " does not run yet."
	}
}

// elsewhere explains why a key did nothing in a pane that takes no text.
func (m *Model) elsewhere(k tea.KeyPressMsg) {
	switch {
	case k.Text == "":
	case !m.input.TakesText():
		m.say(m.nothingSent())
	default:
		m.say(m.keys.LeadingName("pane.next") + " leads to the input, where you can type; " + m.keys.Name("help") + " shows the keys.")
	}
}
