package tui

import (
	tea "charm.land/bubbletea/v2"

	"replan/agent/runner"
)

// conversationActions work on what stands in the chat, from every pane.
func (m *Model) conversationActions() handlers {
	return handlers{
		"chat.search":       {refuse: m.nothingSaid, do: just(m.searchChat)},
		"chat.copy":         {refuse: m.noCode, do: command(m.copyCode)},
		"chat.thinking":     {refuse: m.noThinking, do: just(m.foldThinking)},
		"chat.thinking_all": {refuse: m.noThinking, do: just(func() { m.chat.foldAll(foldThinking) })},
		"chat.export":       {refuse: m.noExport, do: command(func() tea.Cmd { return m.outbox.send(runner.Submit{Text: "/export"}) })},
		"chat.top":          {refuse: m.nothingSaid, do: just(func() { m.focus = paneChat; m.chat.scroll(1 << 20) })},
		"chat.bottom":       {refuse: m.nothingSaid, do: just(func() { m.focus = paneChat; m.chat.toEnd() })},
		"chat.unfold":       {refuse: m.nothingFolded, do: just(func() { m.chat.foldNewest("") })},
	}
}

// nothingSaid is why the chat cannot be searched.
func (m *Model) nothingSaid() string {
	if len(m.chat.blocks) == 0 {
		return "Nothing has been said here yet."
	}
	return ""
}

// noExport is why the chat cannot be written to a file.
func (m *Model) noExport() string {
	switch {
	case m.options.Replay:
		return "This is a replay: nothing is written; /export in a chat does that."
	case m.closed:
		return "The session is closed."
	default:
		return m.nothingSaid()
	}
}

// noCode is why there is nothing to copy.
func (m *Model) noCode() string {
	if len(m.chat.allCode()) == 0 {
		return "There is no block of code in the chat."
	}
	return ""
}

// noThinking is why there is no thinking to look into.
func (m *Model) noThinking() string {
	if !m.chat.hasFold(foldThinking) {
		return "No model has thought aloud here."
	}
	return ""
}

// nothingFolded is why nothing can be unfolded.
func (m *Model) nothingFolded() string {
	if !m.chat.hasFold("") {
		return "Nothing in the chat can be unfolded."
	}
	return ""
}
