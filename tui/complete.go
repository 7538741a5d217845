package tui

import (
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"replan/agent/session"
	"replan/planning/prompt"
	"replan/tui/draw"
	"replan/tui/input"
	"replan/tui/keymap"
)

// completes reports whether the completion list is on the screen.
func (m *Model) completes() bool {
	c := m.complete
	return m.focus == paneChat && !c.Wants.None() && len(c.Rows) > 0 && !c.Wants.Same(c.Left) && m.input.Area.Value() == c.Text
}

// suggest updates the completions after a key changed the input, and asks the
// session for unknown ones.
func (m *Model) suggest() tea.Cmd {
	c := m.complete
	before, after := m.input.Split()
	c.Text, c.Stale = before+after, false
	t := c.TokenAt(before, after)
	chosen := ""
	if c.Moved && c.At < len(c.Found) && t.Same(c.Wants) && t.Query == c.Wants.Query {
		chosen = c.Found[c.At].Text
	}
	if !t.Same(c.Left) {
		c.Left = input.Token{}
	}
	if !t.Same(c.Wants) {
		clear(c.Asked)
		c.Moved = false
	}
	if t.Query != c.Wants.Query {
		c.At, c.Moved = 0, false
	}
	c.Wants = t
	var cmds []tea.Cmd
	for _, of := range t.Of {
		if !c.Asked[of] {
			c.Asked[of] = true
			cmds = append(cmds, m.outbox.ask(keymap.QueryCompletions(of)))
		}
	}
	c.Find()
	if at := slices.IndexFunc(c.Found, func(i session.Completion) bool { return i.Text == chosen }); at >= 0 {
		c.At = at
	}
	return tea.Batch(cmds...)
}

// typeInto passes a message to the input and updates the completions.
func (m *Model) typeInto(msg tea.Msg) tea.Cmd {
	return tea.Batch(m.input.Update(msg), m.suggest())
}

// newline adds a line break to the input.
func (m *Model) newline() tea.Cmd {
	m.input.Newline()
	return m.suggest()
}

// suggestAnew updates the completions after the session's answer.
func (m *Model) suggestAnew() tea.Cmd {
	if !m.complete.Stale || m.input.Area.Value() != m.complete.Text {
		return nil
	}
	return m.suggest()
}

// completeHandlers returns the actions of the completion list.
func (m *Model) completeHandlers() keymap.Handlers {
	c := m.complete
	by := func(n int) keymap.Handler { return keymap.Handler{Do: keymap.Just(func() { c.Step(n) })} }
	return keymap.Handlers{
		"list.take":    {Do: keymap.Command(m.takeChosen)},
		"chat.send":    {When: c.TakesEnter, Do: keymap.Command(m.takeChosen)},
		"dialog.leave": {Do: keymap.Just(func() { c.Left = c.Wants })},
		"list.up":      by(-1), "list.down": by(1),
		"move.page_up": by(1 - draw.PopupRows), "move.page_down": by(draw.PopupRows - 1),
	}
}

// takeChosen replaces the typed part with the chosen row. After a folder or a
// command with arguments, completion continues.
func (m *Model) takeChosen() tea.Cmd {
	c := m.complete
	if c.At >= len(c.Found) {
		return nil
	}
	item, t := c.Found[c.At], c.Wants
	before, after := m.input.Split()
	text, ends := item.Text, !item.Folder // a folder continues without a blank
	switch {
	case t.Of[0] == session.CompleteMentions:
		if text = prompt.NameOf(item.Text); item.Folder {
			text = strings.TrimSuffix(text, `"`)
		}
	case t.Of[0] == session.CompleteCommands:
		ends = item.Usage != "" || c.HasBelow(item.Text) // a command without arguments is complete
	case strings.Contains(text, " "):
		if text = `"` + text; !item.Folder {
			text += `"`
		}
	}
	if ends && !strings.HasPrefix(after, " ") {
		text += " "
	}
	m.input.SetSplit(before[:t.Start]+text, after)
	return m.suggest()
}
