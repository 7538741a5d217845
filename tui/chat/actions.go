package chat

import (
	"strconv"

	tea "charm.land/bubbletea/v2"

	"replan/agent/session"
	"replan/tui/draw"
	"replan/tui/keymap"
)

// KeyShowThinking is the setting that keeps whether thinking is expanded.
const KeyShowThinking = "screen.show_thinking"

// Update handles a letter or pasted text for the open search, and a turn of the
// wheel.
func (c *Pane) Update(msg tea.Msg) keymap.Requests {
	switch msg := msg.(type) {
	case tea.KeyPressMsg:
		if msg.Text != "" {
			c.find.add(msg.Text)
		}
	case tea.PasteMsg:
		c.find.add(msg.Content)
	case tea.MouseWheelMsg:
		c.Scroll(-draw.WheelLines(tea.Mouse(msg)))
	}
	return nil
}

// Actions returns the actions on the conversation.
func (c *Pane) Actions() keymap.Handlers {
	focused := func(f func()) func() keymap.Requests {
		return func() keymap.Requests {
			f()
			return keymap.Requests{keymap.Focus(keymap.PlaceChat)}
		}
	}
	return keymap.Handlers{
		"chat.search":   {Refuse: c.nothingSaid, Do: focused(c.find.start)},
		"chat.copy":     {Refuse: c.copying.refusal, Do: c.copying.next},
		"chat.thinking": {Refuse: c.noThinking, Do: keymap.Just(func() { c.foldNewest(foldThinking) })},
		"chat.thinking_all": {Refuse: c.noThinking, Do: func() keymap.Requests {
			shows := strconv.FormatBool(c.hasCollapsed(foldThinking))
			return keymap.SendCommands(session.SaveSetting{Key: KeyShowThinking, Value: &shows})
		}},
		"chat.export": {Refuse: c.noExport, Do: func() keymap.Requests { return keymap.SendCommands(session.Submit{Text: "/export"}) }},
		"chat.top":    {Refuse: c.nothingSaid, Do: focused(func() { c.Scroll(1 << 20) })},
		"chat.bottom": {Refuse: c.nothingSaid, Do: focused(c.ToEnd)},
		"chat.unfold": {Refuse: c.nothingFolded, Do: keymap.Just(func() { c.foldNewest("") })},
	}.With(keymap.Moving(func() int { return c.size().H }, func(lines int) { c.Scroll(-lines) }))
}

// Unmark removes the mark of a copied block of code.
func (c *Pane) Unmark() { c.copying.mark(nil) }

// Searching reports whether the search is open.
func (c *Pane) Searching() bool { return c.find.isOpen() }

// SearchCursor returns the column of the cursor in the search line.
func (c *Pane) SearchCursor() int { return c.find.cursor() }

// Mode returns the open search, which reads every key without an action as text.
func (c *Pane) Mode() keymap.Mode {
	if !c.find.isOpen() {
		return keymap.Mode{}
	}
	return keymap.Mode{Actions: c.find.actions(), Type: c.Update}
}

// nothingSaid explains why the chat cannot be searched.
func (c *Pane) nothingSaid() string {
	if len(c.Blocks) == 0 {
		return "The chat is empty."
	}
	return ""
}

// noExport returns why the chat cannot be written to a file.
func (c *Pane) noExport() string {
	if c.state.Closed {
		return "The session is closed."
	}
	return c.nothingSaid()
}
