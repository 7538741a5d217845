package tui

import (
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"replan/internal/untrusted"
	"replan/tui/draw"
	"replan/tui/keymap"
)

// typesOn passes a key to the input although a question or a review that opened by
// itself has the keys, because the user types a text. It reports whether the key
// has done what it does.
func typesOn(m *Model, k tea.KeyPressMsg) (cmd tea.Cmd, done bool) {
	grace := unasked(m)
	switch {
	case grace != nil && !grace.On:
		return waits(m, grace, k)
	case grace == nil && len(m.early) > 0 && k.Text != "" && m.dialogs.front() != nil:
		m.early = append(m.early, k) // a letter has opened help, which this one may close
		return nil, false
	case grace == nil || !takesText(m):
		m.early = nil
		return nil, false
	}
	// The dialog has just opened, and the key answers nothing yet. The first key of an
	// empty input may have been an answer, so it is typed together with the second.
	switch {
	case k.Text == "" && (k.Code != tea.KeyBackspace || m.input.Empty()):
		return nil, false
	case m.input.Empty() && (len(m.early) == 0 || m.early[0].Text == k.Text):
		m.early = []tea.KeyPressMsg{k}
		return nil, false
	}
	return typeText(m, grace, append(m.early, k)...), true
}

// waits handles a key at a dialog that takes keys. A letter that is an answer acts
// after a pause, or at enter. If another letter comes first, both are a text.
func waits(m *Model, grace *draw.Grace, k tea.KeyPressMsg) (cmd tea.Cmd, done bool) {
	before, armed := m.early, grace.Armed
	if k.Text == "" {
		m.early, grace.Armed = nil, ""
		if armed == "" || k.Code != tea.KeyEnter || k.Mod != 0 {
			return nil, false
		}
		return pressAgain(m, before), true
	}
	id, found := m.keys.Meant(k, m.mode().Actions)
	opens := m.groups.Bound(k, keymap.PlaceEverywhere)
	harmless := found && !answers(id) || !found && opens != nil && opens.Opens
	other := slices.ContainsFunc(before, func(b tea.KeyPressMsg) bool { return b.Text != k.Text })
	n := len(before)
	held := armed == "" && n > 1 && before[n-1].Text == before[n-2].Text // as j is to scroll
	m.early = append(before, k)
	switch {
	case harmless && armed == "":
		return grace.Await(""), false
	case found && !other:
		return grace.Await(id), true
	case other && !held && takesText(m):
		return typeText(m, grace, m.early...), true
	}
	m.early = []tea.KeyPressMsg{k}
	cmd = grace.Start()
	if !takesText(m) {
		cmd = grace.StartLater()
	}
	switch {
	case found:
		cmd = grace.TooEarly(keymap.NameOf(k))
	case grace == &m.ask.Grace:
		m.message.Set(m.ask.NoAnswer(k))
	}
	return cmd, true
}

// answers reports whether an action of a question or a review answers it or changes
// what it is about, and does not only show more of it.
func answers(id string) bool {
	switch id {
	case "dialog.leave", "gate.details", "gate.sides", "gate.next", "gate.previous", "review.move_up", "review.move_down":
		return false
	default:
		return !strings.HasPrefix(id, "move.")
	}
}

// typeText types letters into the input and shows its text in the footer. The dialog
// ignores keys for a while.
func typeText(m *Model, grace *draw.Grace, letters ...tea.KeyPressMsg) tea.Cmd {
	m.early = nil
	cmds := []tea.Cmd{grace.StartTyping()}
	m.input.SetFocus(true)
	for _, k := range letters {
		cmds = append(cmds, m.carryOut(m.input.Update(k)))
	}
	const words = "In the input, not an answer: " // which the dialog hides
	m.message.Set(words + m.look.CutLeft(untrusted.Line(m.input.Text()), m.layout.width-len(words)-2))
	return tea.Batch(cmds...)
}

// pressAgain presses letters that have waited at the dialog.
func pressAgain(m *Model, letters []tea.KeyPressMsg) tea.Cmd {
	var cmds []tea.Cmd
	for _, k := range letters {
		cmd, _ := m.pressMode(k)
		cmds = append(cmds, cmd)
	}
	return tea.Batch(cmds...)
}

// graceOver handles the end of a grace time, or of the wait for another letter.
func graceOver(m *Model, msg draw.GraceMsg) tea.Cmd {
	if msg.Count != msg.Of.Count {
		return nil
	}
	armed := msg.Of.Armed != ""
	msg.Of.Armed = ""
	if grace := unasked(m); grace != msg.Of {
		if grace == nil {
			m.early = nil
		}
		return msg.End()
	}
	letters := m.early
	m.early = nil
	if armed {
		return pressAgain(m, letters)
	}
	return msg.End()
}

// pastesOn passes a paste to the input while a dialog that opened by itself has the
// keys, with the letters before it: a paste is a text.
func pastesOn(m *Model, p tea.PasteMsg) (cmd tea.Cmd, done bool) {
	grace := unasked(m)
	if grace == nil || !takesText(m) {
		return nil, false
	}
	cmd = typeText(m, grace, m.early...)
	return tea.Batch(cmd, m.carryOut(m.input.Update(p))), true
}

// takesText reports whether the user may be typing for the input.
func takesText(m *Model) bool { return m.focus == paneChat && m.input.TakesText() }

// unasked returns the grace time of the dialog that has the keys if it opened by itself
// and letters may be meant for the input, nil otherwise.
func unasked(m *Model) *draw.Grace {
	var grace *draw.Grace
	switch over := m.dialogs.front(); {
	case m.quitting:
	case over == m.review && !m.review.Typing():
		grace = &m.review.Grace
	case over == m.dialogs.changes:
		grace = &m.dialogs.changes.Grace
	case over == nil && m.ask.Showing() && !m.ask.Editing():
		grace = &m.ask.Grace
	}
	if grace == nil || grace.On && grace.Later || !grace.On && (grace.Asked || grace.Wait <= 0 || m.layout.small) {
		return nil
	}
	return grace
}

// opened returns the grace time of a dialog that has just opened by itself, nil for
// none.
func opened(m *Model) *draw.Grace {
	if grace := unasked(m); grace != nil && grace.On {
		return grace
	}
	return nil
}
