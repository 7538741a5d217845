package tui

import (
	"strings"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"replan/agent/session"
	"replan/tui/untrusted"
)

// commandGroup is the commands of the chat as the palette lists them. Choosing one
// puts it into the input, since most take more words.
func (m *Model) commandGroup() group {
	g := group{place: placeCommand, title: "Chat command"}
	if m.options.Commands == nil {
		return g
	}
	for _, c := range m.options.Commands() {
		if c.Detail == "" {
			continue // a word behind a command
		}
		text := untrusted.Line(strings.TrimSpace(c.Text + " " + c.Usage))
		shown := key.NewBinding(key.WithHelp(text, untrusted.Line(c.Detail)))
		g.actions = append(g.actions, action{id: c.Text, key: &shown, handler: handler{refuse: m.noCommand, do: command(func() tea.Cmd { return m.begins(c) })}})
	}
	return g
}

// noCommand is why no command can be put into the input.
func (m *Model) noCommand() string {
	switch {
	case m.options.Replay:
		return nothingSent
	case !m.input.empty():
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
	m.input.set(text)
	return nil
}

// commandLines are the commands of the chat for help.
func (h *helpDialog) commandLines(width int) []string {
	l := h.look
	doc := &document{look: l, width: width}
	if len(h.commands.actions) == 0 {
		return nil
	}
	doc.heading("Commands of the chat")
	column := 0
	for _, a := range h.commands.actions {
		column = max(column, visibleWidth(a.key.Help().Key))
	}
	column = min(column, width/2)
	for _, a := range h.commands.actions {
		name := l.cut(a.key.Help().Key, column)
		for _, line := range wrap(a.key.Help().Desc, max(width-column-4, 1)) {
			doc.lines = append(doc.lines, "  "+l.Key.Render(l.fit(name, column))+"  "+line)
			name = ""
		}
	}
	return doc.lines
}
