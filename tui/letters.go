package tui

import (
	tea "charm.land/bubbletea/v2"

	"replan/internal/untrusted"
	"replan/tui/answerguard"
	"replan/tui/keymap"
	"replan/tui/panes"
)

// scene returns what has the keys now.
func (m *Model) scene() answerguard.Scene {
	over := m.dialogs.front()
	s := answerguard.Scene{Covered: over != nil, Small: m.panes.Layout().Small, TakesText: m.panes.Focus() == panes.Chat && m.input.TakesText(), InputEmpty: m.input.Empty()}
	switch {
	case m.exits.asks():
	case over != nil:
		s.Guard = m.dialogs.guard()
	case m.ask.Showing() && !m.ask.Editing():
		s.Guard = m.ask.Guard()
	}
	return s
}

// pressLetters has a key and the letters before it sorted into answers and text. It
// reports whether the key has done what it does.
func (m *Model) pressLetters(k tea.KeyPressMsg) (cmd tea.Cmd, done bool) {
	v := m.letters.Press(m.scene(), answerguard.Key{KeyPressMsg: k, Means: func() (action string, opens bool) {
		action, _ = m.keys.Meant(k, m.mode().Actions)
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
		m.message.Set(words + m.look.CutLeft(untrusted.Line(m.input.Text()), m.panes.Layout().Width-len(words)-2))
	case answerguard.Acts:
		for _, k := range v.Letters {
			cmd, _ := m.pressMode(k)
			cmds = append(cmds, cmd)
		}
	}
	return tea.Batch(cmds...)
}
