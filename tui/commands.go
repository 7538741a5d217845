package tui

import (
	"strings"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"replan/agent/session"
	"replan/internal/untrusted"
	"replan/tui/keymap"
)

// commandGroup is the commands of the chat as the palette lists them. Choosing one
// puts it into the input, since most take more words.
func (m *Model) commandGroup() keymap.Group {
	g := keymap.Group{Place: keymap.PlaceCommand, Title: "Chat command"}
	if m.options.Commands == nil {
		return g
	}
	for _, c := range m.options.Commands() {
		if c.Detail == "" {
			continue // a word behind a command
		}
		text := untrusted.Line(strings.TrimSpace(c.Text + " " + c.Usage))
		shown := key.NewBinding(key.WithHelp(text, untrusted.Line(c.Detail)))
		g.Actions = append(g.Actions, keymap.Action{ID: c.Text, Key: &shown, Handler: keymap.Handler{Refuse: m.noCommand, Do: keymap.Command(func() tea.Cmd { return m.begins(c) })}})
	}
	return g
}

// noCommand is why no command can be put into the input.
func (m *Model) noCommand() string {
	switch {
	case !m.input.TakesText():
		return m.nothingSent()
	case !m.input.Empty():
		return "Something stands in the input: send it or clear it first."
	default:
		return ""
	}
}

// begins puts a command into the input, ready for what it takes.
func (m *Model) begins(c session.Completion) tea.Cmd {
	m.focus = paneChat
	text := c.Text
	if c.Usage != "" {
		text += " "
	}
	m.input.Set(text)
	return nil
}
