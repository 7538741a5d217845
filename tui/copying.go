package tui

import (
	"fmt"

	tea "charm.land/bubbletea/v2"

	"replan/internal/english"
	"replan/tui/chat"
)

// copyText sends a text to the terminal's clipboard. Terminals do not confirm
// the copy, so the notice only says that the text was sent.
func (m *Model) copyText(what, text string) tea.Cmd {
	m.toasts.clear() // a mouse drag, unlike a key, has not cleared them
	m.toasts.show("info", what+", sent to the clipboard")
	if len(text)*4/3 > chat.CopyLimit {
		m.toasts.show("warn", fmt.Sprint(len(text)>>10)+" KB: more than some terminals take")
	}
	return m.clipboard(text)
}

// copyCode copies the newest visible block of code; repeated, the one before.
// The block stays marked until the next key.
func (m *Model) copyCode() tea.Cmd {
	c := m.chat
	all := c.AllCode()
	at := -1
	if m.copied != nil {
		for i, code := range all {
			if code == m.copied {
				at = (i + len(all) - 1) % len(all)
			}
		}
	}
	if at < 0 {
		at = c.CodeInView(all)
	}
	m.copied = all[at]
	c.Mark(all[at])
	return m.copyText(fmt.Sprintf("code block %d of %d, %s", at+1, len(all), english.Count(all[at].Lines(), "line")), all[at].Text)
}
