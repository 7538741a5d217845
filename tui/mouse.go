package tui

import (
	tea "charm.land/bubbletea/v2"
)

// paste gives pasted text to the input, where the user is typing.
func (m *Model) paste(p tea.PasteMsg) tea.Cmd {
	if m.ask.editing() && m.over() == nil && !m.quitting {
		return m.ask.editor.update(p)
	}
	if m.searching() {
		m.chat.seek(m.chat.find.query + p.Content)
		return nil
	}
	if m.covered() || m.quitting {
		m.say("Nothing is pasted into a dialog.")
		return nil
	}
	if m.options.Replay {
		m.say(nothingSent)
		return nil
	}
	m.focus = paneChat
	m.input.setFocus(true)
	return tea.Batch(m.warm(p.Content), m.input.update(p))
}

// click focuses the pane under the pointer and chooses what is there.
func (m *Model) click(at tea.Mouse) {
	if over := m.over(); over != nil && !m.quitting && !m.layout.small && at.Button == tea.MouseLeft {
		over.clicked(at.Y - 1) // under the header
		return
	}
	if m.covered() || m.layout.small || at.Button != tea.MouseLeft {
		return
	}
	if m.layout.tabs.contains(at.X, at.Y) {
		for p, r := range m.tabAt {
			if r.contains(at.X, at.Y) {
				m.focus = pane(p)
			}
		}
		return
	}
	if m.clickTab(at) {
		return
	}
	p, ok := m.layout.at(at.X, at.Y)
	if !ok {
		return
	}
	m.focus = p
	if p == panePlan {
		m.dag.clicked(at.Y - m.layout.plan.y)
		m.refresh()
	}
}

// wheelStep is how many lines a turn of the wheel is.
const wheelStep = 3

// wheel scrolls what is under the pointer.
func (m *Model) wheel(at tea.Mouse) {
	lines := wheelStep
	if at.Button == tea.MouseWheelUp {
		lines = -wheelStep
	} else if at.Button != tea.MouseWheelDown {
		return
	}
	if over := m.over(); over != nil {
		over.wheeled(lines)
		return
	}
	if m.ask.open {
		m.ask.scroll(lines)
		return
	}
	switch p, _ := m.layout.at(at.X, at.Y); p {
	case panePlan:
		m.dag.scrolled(lines)
	case paneStep:
		m.detail.scroll(lines)
	default:
		m.chat.scroll(-lines)
	}
}
