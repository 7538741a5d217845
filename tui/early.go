package tui

import (
	tea "charm.land/bubbletea/v2"

	"replan/tui/draw"
)

// typesOn passes a key to the input although a question or a review has just opened
// over it: the user was typing, and the key answers nothing yet. The first key of
// an empty input may have been an answer, so it is typed together with the second.
func typesOn(m *Model, k tea.KeyPressMsg) (cmd tea.Cmd, typed bool) {
	grace := opened(m)
	if grace == nil || m.focus != paneChat || m.quitting || !m.input.TakesText() {
		m.early = nil
		return nil, false
	}
	keys := append(m.early, k)
	switch {
	case k.Text == "" && (k.Code != tea.KeyBackspace || m.input.Empty()):
		return nil, false
	case m.input.Empty() && (len(m.early) == 0 || m.early[0].Text == k.Text):
		m.early = []tea.KeyPressMsg{k}
		return nil, false
	}
	m.early = nil
	cmds := []tea.Cmd{grace.StartTyping()}
	m.input.SetFocus(true)
	for _, k := range keys {
		cmds = append(cmds, m.carryOut(m.input.Update(k)))
	}
	return tea.Batch(cmds...), true
}

// opened returns the grace time of a dialog that has just opened by itself, nil for
// none.
func opened(m *Model) *draw.Grace {
	switch over := m.dialogs.front(); {
	case over == m.review && m.review.Grace.On && !m.review.Grace.Later:
		return &m.review.Grace
	case over == nil && m.ask.Showing() && m.ask.Grace.On && !m.ask.Grace.Later:
		return &m.ask.Grace
	default:
		return nil
	}
}
