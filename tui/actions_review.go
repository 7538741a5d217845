package tui

import (
	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"replan/agent/runner"
)

// reviewActions change and answer a plan that waits to be looked over.
func (m *Model) reviewActions() []action {
	k := &m.keys
	return []action{
		m.reviewing("review.run", &k.RunPlan),
		m.reviewing("review.refuse", &k.RefusePlan),
		m.reviewing("review.edit", &k.EditStep),
		m.reviewing("review.take_out", &k.TakeOut),
		m.reviewing("review.move_up", &k.MoveUp),
		m.reviewing("review.move_down", &k.MoveDown),
		m.reviewing("review.approve", &k.PassGate),
		m.reviewing("review.approve_all", &k.PassAll),
		m.reviewing("review.undo", &k.Unmake),
	}
}

// reviewing is the action of a key of the review. One that is not on the screen is
// only shown by it: nothing is changed unseen.
func (m *Model) reviewing(id string, b *key.Binding) action {
	return action{
		id: id, key: b,
		refuse: func() string {
			if !m.review.waits() {
				return "No plan waits to be looked over."
			}
			return ""
		},
		do: func() tea.Cmd {
			if !m.review.shown() {
				return m.review.reopen()
			}
			w := m.review.press(pressOf(*b))
			return tea.Batch(w.cmd, m.outbox.send(w.send))
		},
	}
}

// holdPlans says whether the next plans are looked over before they run.
func (m *Model) holdPlans() tea.Cmd {
	on := !m.status.Review
	word := "The next plans run at once."
	if on {
		word = "The next plans are held until you have looked them over."
	}
	m.say(word)
	return m.outbox.send(runner.Hold{On: on})
}
