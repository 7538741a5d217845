package tui

import (
	tea "charm.land/bubbletea/v2"

	"replan/agent/runner"
	"replan/tui/chat"
	"replan/tui/keymap"
)

// conversationActions work on what stands in the chat, from every pane.
func (m *Model) conversationActions() keymap.Handlers {
	return keymap.Handlers{
		"chat.search":       {Refuse: m.nothingSaid, Do: keymap.Just(m.searchChat)},
		"chat.copy":         {Refuse: m.noCode, Do: keymap.Command(m.copyCode)},
		"chat.thinking":     {Refuse: m.noThinking, Do: keymap.Just(m.foldThinking)},
		"chat.thinking_all": {Refuse: m.noThinking, Do: keymap.Just(func() { m.chat.FoldAll(chat.FoldThinking) })},
		"chat.export":       {Refuse: m.noExport, Do: keymap.Command(func() tea.Cmd { return m.outbox.send(runner.Submit{Text: "/export"}) })},
		"chat.top":          {Refuse: m.nothingSaid, Do: keymap.Just(func() { m.focus = paneChat; m.chat.Scroll(1 << 20) })},
		"chat.bottom":       {Refuse: m.nothingSaid, Do: keymap.Just(func() { m.focus = paneChat; m.chat.ToEnd() })},
		"chat.unfold":       {Refuse: m.nothingFolded, Do: keymap.Just(func() { m.chat.FoldNewest("") })},
	}
}

// nothingSaid is why the chat cannot be searched.
func (m *Model) nothingSaid() string {
	if len(m.chat.Blocks) == 0 {
		return "Nothing has been said here yet."
	}
	return ""
}

// noExport is why the chat cannot be written to a file.
func (m *Model) noExport() string {
	switch {
	case m.closed:
		return "The session is closed."
	default:
		return m.nothingSaid()
	}
}

// noCode is why there is nothing to copy.
func (m *Model) noCode() string {
	if len(m.chat.AllCode()) == 0 {
		return "There is no block of code in the chat."
	}
	return ""
}

// noThinking is why there is no thinking to look into.
func (m *Model) noThinking() string {
	if !m.chat.HasFold(chat.FoldThinking) {
		return "No model has thought aloud here."
	}
	return ""
}

// nothingFolded is why nothing can be unfolded.
func (m *Model) nothingFolded() string {
	if !m.chat.HasFold("") {
		return "Nothing in the chat can be unfolded."
	}
	return ""
}
