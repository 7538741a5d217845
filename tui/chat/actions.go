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

// actions are the actions on the conversation.
func actions() keymap.Table[*Pane] {
	return keymap.Table[*Pane]{
		{ID: "chat.search", Keys: "ctrl+f", Does: "search the chat", Refuse: (*Pane).emptyReason, Do: focused(func(c *Pane) { c.find.start() })},
		{ID: "chat.copy", Keys: "alt+y", Does: "copy code; again: the previous block", Refuse: func(c *Pane) string { return c.copying.refusal() }, Do: func(c *Pane) keymap.Requests { return c.copying.next() }},
		{ID: "chat.cited", Keys: "alt+j", Does: "open a cited step; again: next", Refuse: keymap.Needs((*Pane).cites, "The answer cites no step."), Do: (*Pane).openCited},
		{ID: "chat.thinking", Keys: "alt+t", Does: "show the model's thinking", Refuse: (*Pane).noThinking, Do: keymap.Calls(func(c *Pane) { c.foldNewest(foldThinking) })},
		{ID: "chat.thinking_all", Keys: "alt+T", Does: "show or fold all thinking", Refuse: (*Pane).noThinking, Do: (*Pane).saveThinking},
		{ID: "chat.export", Keys: "alt+x", Does: "export the chat as Markdown", Refuse: (*Pane).noExport, Do: (*Pane).export},
		{ID: "chat.top", Keys: "ctrl+home", Does: "start of the chat", KeyOnly: true, Refuse: (*Pane).emptyReason, Do: focused(func(c *Pane) { c.Scroll(1 << 20) })},
		{ID: "chat.bottom", Keys: "ctrl+end", Does: "end of the chat", KeyOnly: true, Refuse: (*Pane).emptyReason, Do: focused((*Pane).ToEnd)},
		{ID: "chat.unfold", Keys: "alt+u", Does: "expand the newest card or thinking", Refuse: (*Pane).nothingFolded, Do: keymap.Calls(func(c *Pane) { c.foldNewest("") })},
	}
}

// Lines returns the keys and words of the actions on the conversation.
func Lines() keymap.Lines { return actions().Lines() }

// Actions returns the actions on the conversation.
func (c *Pane) Actions() keymap.Handlers {
	return actions().For(c).With(keymap.Moving(func() int { return c.size().H }, func(lines int) { c.Scroll(-lines) }))
}

// focused makes an action that gives the keys to the chat.
func focused(f func(*Pane)) func(*Pane) keymap.Requests {
	return func(c *Pane) keymap.Requests {
		f(c)
		return keymap.Requests{keymap.Focus(keymap.PlaceChat)}
	}
}

// saveThinking shows or folds all thinking, also at later starts.
func (c *Pane) saveThinking() keymap.Requests {
	shows := strconv.FormatBool(c.hasCollapsed(foldThinking))
	return keymap.SendCommands(session.SaveSetting{Key: KeyShowThinking, Value: &shows})
}

// export writes the chat to a file.
func (c *Pane) export() keymap.Requests {
	return keymap.SendCommands(session.Submit{Text: "/export"})
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

// emptyReason explains why the chat cannot be searched.
func (c *Pane) emptyReason() string {
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
	return c.emptyReason()
}
