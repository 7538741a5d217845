package tui

import "replan/tui/keymap"

// openHelp opens help on the active keys.
func (m *Model) openHelp() {
	h := m.help
	h.Now, h.Here, h.Replay = nil, m.topic(), m.options.Replay
	if over := m.over(); over != nil {
		h.Now = over.Hints()
	}
	h.Commands = m.commandGroup()
	h.Open, h.Top = true, 0
}

// topic returns the place that help is about.
func (m *Model) topic() keymap.Place {
	switch over := m.over(); {
	case over == overlay(m.review):
		return keymap.PlaceReview
	case over != nil:
		return keymap.PlaceDialog
	case m.control != nil && m.focus == paneChat:
		return keymap.PlaceReplay
	}
	return m.here()
}
