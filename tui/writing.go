package tui

import (
	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"
)

// recalls reports whether the search of what was sent before is on the screen.
func (m *Model) recalls() bool { return m.recall.open && m.focus == paneChat }

// writingActions are the keys of the list over the input, which it takes itself.
func (m *Model) writingActions() []action {
	return []action{{id: "list.take", key: &m.keys.Take}}
}

// pressWriting gives a key to the list over the input, and reports whether it takes
// it.
func (m *Model) pressWriting(k tea.KeyPressMsg) (cmd tea.Cmd, taken bool) {
	switch {
	case m.recalls():
		if text, chosen := m.recall.press(k); chosen {
			m.recallText(text)
		}
		return nil, true
	case m.completes():
		return m.pressComplete(k)
	default:
		return nil, false
	}
}

// recallText puts what was sent before into the input.
func (m *Model) recallText(text string) {
	m.input.clear()
	m.input.set(text)
}

// writingHints are the keys of the list over the input.
func (m *Model) writingHints() []string {
	k := &m.keys
	var hints []string
	for _, h := range []struct {
		key  key.Binding
		does string
	}{{k.Take, "take"}, {shownAs("up/down"), "choose"}, {k.Away, "close"}} {
		hints = append(hints, m.hint(h.key, h.does))
	}
	return hints
}

// composed is what stands where the user writes: what is queued, and the input.
func (m *Model) composed() []string {
	return append(m.waits(m.layout.input.w, m.queueShown()), m.input.lines()...)
}

// send sends what was typed, unless a backslash asks for a new line.
func (m *Model) send() tea.Cmd {
	if m.input.breakLine() {
		return m.suggest()
	}
	return m.submit()
}

// before takes back what was queued last, or shows what was sent before.
func (m *Model) before() tea.Cmd {
	if m.mayTakeBack() {
		return m.takeBack()
	}
	m.input.back()
	return nil
}
