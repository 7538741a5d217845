package tui

import (
	tea "charm.land/bubbletea/v2"

	"replan/agent/runner"
	"replan/tui/chat"
	"replan/tui/keymap"
)

// conversationActions returns the actions on the chat's contents, available in
// every pane.
func (m *Model) conversationActions() keymap.Handlers {
	return keymap.Handlers{
		"chat.search":       {Refuse: m.chat.NothingSaid, Do: keymap.Just(m.searchChat)},
		"chat.copy":         {Refuse: m.chat.NoCode, Do: keymap.Command(m.copyCode)},
		"chat.thinking":     {Refuse: m.chat.NoThinking, Do: keymap.Just(m.foldThinking)},
		"chat.thinking_all": {Refuse: m.chat.NoThinking, Do: keymap.Just(func() { m.chat.FoldAll(chat.FoldThinking) })},
		"chat.export":       {Refuse: m.noExport, Do: keymap.Command(func() tea.Cmd { return m.outbox.send(runner.Submit{Text: "/export"}) })},
		"chat.top":          {Refuse: m.chat.NothingSaid, Do: keymap.Just(func() { m.focus = paneChat; m.chat.Scroll(1 << 20) })},
		"chat.bottom":       {Refuse: m.chat.NothingSaid, Do: keymap.Just(func() { m.focus = paneChat; m.chat.ToEnd() })},
		"chat.unfold":       {Refuse: m.chat.NothingFolded, Do: keymap.Just(func() { m.chat.FoldNewest("") })},
	}
}

// noExport returns why the chat cannot be written to a file.
func (m *Model) noExport() string {
	switch {
	case m.closed:
		return "The session is closed."
	default:
		return m.chat.NothingSaid()
	}
}
