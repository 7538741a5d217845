package tui

import (
	"strings"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"replan/agent/session"
	"replan/internal/untrusted"
	"replan/tui/keymap"
)

// commandGroup returns the chat commands for the palette. A chosen command goes
// into the input, since most take arguments.
func (m *Model) commandGroup() keymap.Group {
	g := keymap.Group{Place: keymap.PlaceCommand, Title: "Chat command"}
	if m.options.Commands == nil {
		return g
	}
	for _, c := range m.options.Commands() {
		if c.Detail == "" {
			continue // an argument of a command
		}
		text := untrusted.Line(strings.TrimSpace(c.Text + " " + c.Usage))
		shown := key.NewBinding(key.WithHelp(text, untrusted.Line(c.Detail)))
		g.Actions = append(g.Actions, keymap.Action{ID: c.Text, Key: &shown, Handler: keymap.Handler{Refuse: m.noCommand, Do: keymap.Command(func() tea.Cmd { return m.begins(c) })}})
	}
	return g
}

// noCommand returns why no command can be put into the input.
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

// begins puts a command into the input, ready for its arguments.
func (m *Model) begins(c session.Completion) tea.Cmd {
	m.focus = paneChat
	text := c.Text
	if c.Usage != "" {
		text += " "
	}
	m.input.Set(text)
	return nil
}
