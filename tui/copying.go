package tui

import (
	"fmt"

	tea "charm.land/bubbletea/v2"

	"replan/internal/english"
	"replan/tui/chat"
)

// copyText hands a text to the terminal's clipboard. Whether it has arrived there
// nobody tells: what is said of it is that it was sent.
func (m *Model) copyText(what, text string) tea.Cmd {
	m.toasts.clear() // a drag with the mouse is no key, which would have done it
	m.toasts.show("info", what+", sent to the clipboard")
	if len(text)*4/3 > chat.CopyLimit {
		m.toasts.show("warn", fmt.Sprint(len(text)>>10)+" KB: more than some terminals take")
	}
	return m.clipboard(text)
}

// copyCode copies the newest block of code that is in view, and pressed again
// the one before. It is marked until another key is pressed.
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
