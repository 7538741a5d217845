package tui

import (
	tea "charm.land/bubbletea/v2"

	"replan/internal/untrusted"
	"replan/tui/answerguard"
	"replan/tui/keymap"
	"replan/tui/panes"
)

// press routes a key to an open question or dialog, else to the action bound to
// it in the focused pane.
func (m *Model) press(k tea.KeyPressMsg) tea.Cmd {
	id := ""
	switch {
	case keymap.Matches(k, m.keys.Binding("run.stop")):
		id = "run.stop"
	case keymap.Matches(k, m.keys.Binding("quit")):
		id = "quit"
	case keymap.Matches(k, m.keys.Binding("chat.copy")):
		id = "chat.copy"
	}
	m.forget(id)
	m.clearGuards()
	cmd, done := m.pressLetters(k)
	if done {
		return cmd
	}
	return tea.Batch(cmd, m.pressFocused(k))
}

// pressLetters has a key and the letters before it sorted into answers and text. It
// reports whether the key has done what it does.
func (m *Model) pressLetters(k tea.KeyPressMsg) (cmd tea.Cmd, done bool) {
	v := m.letters.Press(m.focus.scene(), answerguard.Key{KeyPressMsg: k, Means: func() (action string, opens bool) {
		action, _ = m.keys.Meant(k, m.focus.mode().Actions)
		a := m.groups.Bound(k, keymap.PlaceEverywhere)
		return action, a != nil && a.Opens
	}})
	if v.Fate == answerguard.Unknown && m.dialogs.front() == nil {
		m.message.Set(m.ask.NoAnswer(k))
	}
	return m.sortLetters(v), v.Fate != answerguard.Passes
}

// sortLetters gives letters to the input as a text, or to the dialog as answers.
func (m *Model) sortLetters(v answerguard.Verdict) tea.Cmd {
	cmds := []tea.Cmd{v.Cmd}
	switch v.Fate {
	case answerguard.Text:
		m.input.SetFocus(true)
		for _, k := range v.Letters {
			cmds = append(cmds, m.carryOut(m.input.Update(k)))
		}
		const words = "In the input, not an answer: " // which the dialog hides
		m.message.Set(words + m.styles.CutLeft(untrusted.Line(m.input.Text()), m.panes.Layout().Width-len(words)-2))
	case answerguard.Acts:
		for _, k := range v.Letters {
			cmd, _ := m.pressMode(k)
			cmds = append(cmds, cmd)
		}
	}
	return tea.Batch(cmds...)
}

// pressFocused gives a key to what has the keys now.
func (m *Model) pressFocused(k tea.KeyPressMsg) tea.Cmd {
	switch {
	case m.focus.quitting():
		cmd, _ := m.pressMode(k)
		return cmd
	case keymap.Matches(k, m.keys.Binding("quit")):
		if m.message.Set(m.exits.staysOnce()); m.message.Text != "" {
			return nil
		}
		a, _ := m.groups.Find("quit")
		return m.do(a, keymap.PlaceEverywhere)
	case m.panes.Layout().Small:
		return nil
	}
	if a := m.groups.Bound(k, keymap.PlaceEverywhere); a != nil && a.Opens && m.focus.opensOver(a.ID, k) {
		return m.do(a, keymap.PlaceEverywhere)
	}
	if cmd, taken := m.pressMode(k); taken {
		return cmd
	}
	return m.pressPane(k)
}

// pressMode runs the key's action in the active mode, or types the key there.
// It reports whether the mode consumed the key.
func (m *Model) pressMode(k tea.KeyPressMsg) (cmd tea.Cmd, taken bool) {
	mode := m.focus.mode()
	if id, found := m.keys.Meant(k, mode.Actions); found {
		return m.carryOut(mode.Actions.Press(id)), true
	}
	if mode.Type == nil || mode.Letters && k.Text == "" {
		return nil, false
	}
	return m.carryOut(mode.Type(k)), true
}

// forget clears state that lasts until the next action; id names that action.
func (m *Model) forget(id string) {
	m.message.Clear()
	m.pointer.unselect()
	if id != "chat.copy" {
		m.chat.Unmark()
	}
	m.exits.begin(id)
}

// pressPane runs the key's action in the focused pane. Other keys are typed into the
// input; from another pane, those with text.
func (m *Model) pressPane(k tea.KeyPressMsg) tea.Cmd {
	typing := k.Text != "" && m.panes.Focus() == panes.Chat && !m.input.Empty()
	for _, at := range []keymap.Place{keymap.PlaceReplay, keymap.PlaceEverywhere, m.focus.here(), keymap.PlaceMoving} {
		if typing && at == keymap.PlaceEverywhere {
			continue
		}
		if a := m.groups.Bound(k, at); a != nil {
			return m.do(a, keymap.PlaceEverywhere)
		}
	}
	if m.panes.Focus() == panes.Chat && !m.input.TakesText() {
		// Without typing, a plan key is unambiguous here. But copying applies
		// to the focused pane.
		if a := m.groups.Bound(k, keymap.PlacePlan); a != nil && a.ID != "plan.copy" {
			return m.do(a, keymap.PlacePlan)
		}
	}
	if !m.focus.inInput() {
		if k.Text == "" {
			return nil
		}
		if !m.input.TakesText() {
			m.message.Set(m.input.NoText())
			return nil
		}
		// A letter that means nothing in its pane begins, or goes on with, a text.
		m.panes.SetFocus(panes.Chat)
		m.input.SetFocus(true)
	}
	return m.carryOut(m.input.Update(k))
}

// paste passes pasted text to the input with the text cursor.
func (m *Model) paste(p tea.PasteMsg) tea.Cmd {
	if m.ask.Editing() && m.dialogs.front() == nil && !m.focus.quitting() {
		return m.carryOut(m.ask.Update(p))
	}
	if over := m.dialogs.front(); over != nil && over.Typing() && !m.focus.quitting() {
		return m.carryOut(over.Update(p))
	}
	if m.focus.searching() {
		return m.carryOut(m.chat.Update(p))
	}
	if v := m.letters.Paste(m.focus.scene()); v.Fate == answerguard.Text {
		return tea.Batch(m.sortLetters(v), m.carryOut(m.input.Update(p)))
	}
	if m.focus.covered() || m.focus.quitting() {
		m.message.Set("You cannot paste into a dialog.")
		return nil
	}
	return m.carryOut(m.input.Update(p))
}

// clearGuards takes back what is said about an early key.
func (m *Model) clearGuards() {
	m.waiting.clearMessage()
	m.dialogs.clearMessages()
}

// point carries out what comes of a message of the mouse.
func (m *Model) point(msg tea.MouseMsg) tea.Cmd {
	if presses(msg) {
		m.message.Clear()
		m.clearGuards()
		m.waiting.disarm()
		m.dialogs.disarm()
		m.letters.Forget()
	}
	done := m.pointer.handle(msg)
	switch {
	case done.key != "":
		return m.doHere(done.key)
	case !done.taken:
		return nil
	case done.ran:
		m.forget("")
	}
	return m.carryOut(done.requests)
}

// doHere runs an action as its key would in the current state.
func (m *Model) doHere(id string) tea.Cmd {
	m.forget(id)
	m.pointer.unselect()
	if hs := m.focus.mode().Actions; hs[id].Do != nil {
		return m.carryOut(hs.Press(id))
	}
	if m.focus.quitting() || m.dialogs.front() != nil {
		return nil
	}
	for _, at := range []keymap.Place{keymap.PlaceReplay, keymap.PlaceEverywhere, m.focus.here(), keymap.PlaceMoving, keymap.PlacePlan} {
		if a := m.groups.At(id, at); a != nil {
			return m.do(a, keymap.PlaceEverywhere)
		}
	}
	return nil
}
