package tui

import (
	tea "charm.land/bubbletea/v2"

	"replan/agent/runner"
	"replan/tui/keymap"
)

// reviewActions returns the actions that change and answer a plan under review.
func (m *Model) reviewActions() keymap.Handlers {
	return keymap.Handlers{
		"review.run":         m.reviewing("review.run"),
		"review.refuse":      m.reviewing("review.refuse"),
		"review.edit":        m.reviewing("review.edit"),
		"review.take_out":    m.reviewing("review.take_out"),
		"review.move_up":     m.reviewing("review.move_up"),
		"review.move_down":   m.reviewing("review.move_down"),
		"review.approve":     m.reviewing("review.approve"),
		"review.approve_all": m.reviewing("review.approve_all"),
		"review.undo":        m.reviewing("review.undo"),
	}
}

// reviewing returns the handler of a review action. If the review is hidden,
// the handler only shows it: nothing changes unseen.
func (m *Model) reviewing(id string) keymap.Handler {
	return keymap.Handler{
		Refuse: func() string {
			if !m.review.Waits() {
				return "No plan waits to be looked over."
			}
			return ""
		},
		Do: func() keymap.Wanted {
			if !m.review.Shown() {
				return keymap.Wanted{Cmd: m.review.Reopen()}
			}
			return m.review.Act(id)
		},
	}
}

// holdPlans toggles the review of the next plans before they run.
func (m *Model) holdPlans() tea.Cmd {
	on := !m.status.Review
	word := "The next plans run at once."
	if on {
		word = "The next plans are held until you have looked them over."
	}
	m.say(word)
	return m.outbox.send(runner.Hold{On: on})
}
