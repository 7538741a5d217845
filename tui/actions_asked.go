package tui

import (
	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"
)

// gateActions answer an open gate.
func (m *Model) gateActions() []action {
	k := &m.keys
	return []action{
		m.answering("gate.once", &k.Once),
		m.answering("gate.run", &k.ForRun),
		m.answering("gate.always", &k.Always),
		m.answering("gate.deny", &k.Deny),
		m.answering("gate.edit", &k.EditCall),
		m.atGate("gate.all", &k.ApproveAll, m.ask.notAlike),
		m.atGate("gate.next", &k.NextAsk, m.ask.alone),
		m.atGate("gate.previous", &k.PreviousAsk, m.ask.alone),
		m.atGate("gate.sides", &k.Sides, m.ask.noSides),
	}
}

// questionActions answer what only the user can say of a step.
func (m *Model) questionActions() []action {
	k := &m.keys
	return []action{
		m.answering("question.done", &k.TookEffect),
		m.answering("question.rerun", &k.Rerun),
		m.answering("question.retry", &k.Retry),
		m.answering("question.skip", &k.Skip),
		m.answering("question.replan", &k.Replan),
		m.answering("question.edit", &k.EditArgs),
		m.answering("question.abort", &k.Abort),
		{id: "question.send", key: &k.SendArgs},
		{id: "question.undo_edit", key: &k.UndoEdit},
	}
}

// answering is the action that gives the answer of a key. An answer to what is not
// on the screen only shows it: nothing is answered unseen.
func (m *Model) answering(id string, b *key.Binding) action {
	return action{
		id: id, key: b,
		refuse: func() string { return m.ask.refusal(*b) },
		do: func() tea.Cmd {
			if !m.ask.showing() {
				return m.ask.reopen()
			}
			return m.pressAsk(pressOf(*b))
		},
	}
}

// atGate is the action of a key that the dialog takes without answering.
func (m *Model) atGate(id string, b *key.Binding, refuse func() string) action {
	return action{
		id: id, key: b, refuse: refuse,
		do: func() tea.Cmd {
			if !m.ask.showing() {
				return m.ask.reopen()
			}
			return m.pressAsk(pressOf(*b))
		},
	}
}

// refusal is why the answer of a key cannot be given now, "" where it can.
func (g *askDialog) refusal(b key.Binding) string {
	if len(g.queue) == 0 {
		return "No gate and no question is open."
	}
	for _, c := range g.current().choices(g.keys) {
		if c.key.Help() == b.Help() {
			return c.refuse
		}
	}
	return "What is open now takes no such answer."
}

// alone is why there is no other question to step to.
func (g *askDialog) alone() string {
	if len(g.queue) < 2 {
		return "Nothing else waits for an answer."
	}
	return ""
}

// noSides is why the diff in the dialog cannot be turned.
func (g *askDialog) noSides() string {
	if g.doc == nil || !g.doc.diffs {
		return "No diff is in view that could stand side by side."
	}
	return ""
}

// reopen shows what waits for the user again: gates and questions before a plan.
func (m *Model) reopen() tea.Cmd {
	if m.ask.waiting() == 0 {
		return m.review.reopen()
	}
	return m.ask.reopen()
}

// noGate is why no gate or question can be shown.
func (m *Model) noGate() string {
	switch {
	case m.options.Replay:
		return "This is a replay: what was asked was answered then, as the chat says."
	case m.ask.waiting() == 0 && !m.review.waits():
		return "No gate is open."
	default:
		return ""
	}
}
