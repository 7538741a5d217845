package tui

import (
	tea "charm.land/bubbletea/v2"

	"replan/agent"
	"replan/agent/event"
	"replan/tui/dialog"
)

// undone closes the undo dialog for that run, if open, and focuses the chat,
// which lists the restored files.
func (m *Model) undone(d event.ChatUndone) {
	if m.undo.Done(d.Run) {
		m.runs.Open = false
		m.focus = paneChat
		m.chat.ToEnd()
	}
}

// askUndo opens the undo dialog for the ended run in the plan pane.
func (m *Model) askUndo() tea.Cmd {
	r := m.shown.run
	return m.outbox.ask(m.undo.Ask(r.ID, dialog.RunWords(m.look, r.Summary())))
}

// noUndo returns why the run in the plan pane cannot be undone now.
func (m *Model) noUndo() string {
	switch {
	case m.shown.run == nil:
		return "There is no run yet that could be undone."
	case m.shown.goes():
		return "The run goes on: undo it when it has ended."
	case m.running():
		return "Another run goes on: undo when that has ended."
	default:
		return ""
	}
}

// changedFiles reports whether the run in the plan pane has ended and called a
// tool with reversible changes.
func (m *Model) changedFiles() bool {
	r := m.shown.run
	if r == nil || m.shown.goes() || m.running() || m.options.Replay || m.shown.dry {
		return false
	}
	changes := func(steps []*agent.StepState) bool {
		for _, s := range steps {
			if tool, err := r.Catalogue.Find(s.Step.Tool); err == nil && s.Attempt > 0 && tool.Trusted && tool.Previews {
				return true
			}
			if s.Loop != nil {
				for _, c := range s.Loop.Calls {
					if tool, err := r.Catalogue.Find(c.Step.Tool); err == nil && c.Attempt > 0 && tool.Trusted && tool.Previews {
						return true
					}
				}
			}
		}
		return false
	}
	return changes(r.Steps) || r.Chat != nil && changes(r.Chat.Calls)
}
