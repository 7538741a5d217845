package tui

import (
	"replan/planning/prompt"
	"replan/tui/chat"
)

// thinks takes what a model thinks aloud in a phase of planning. Text says that
// it has begun to write.
func (m *Model) thinks(phase int, thinking, text string) {
	t := m.planning
	if thinking != "" {
		if t == nil {
			t = &chat.Thought{}
			m.planning, m.thoughts = t, m.chat.Thinking(t)
			m.thoughts.Gap = false
			m.chat.Add(m.thoughts)
		}
		if !t.Live {
			t.Live, t.Began = true, m.run.Now
			m.chat.Revive(m.thoughts)
		}
		t.Parts = chat.AddThought(t.Parts, string(prompt.Phases[min(max(phase, 1), len(prompt.Phases))-1]), thinking)
	}
	if text != "" && t != nil {
		t.End(m.run.Now)
	}
}

// thought takes what a model has thought in a phase that is over, where it did
// not come piece by piece.
func (m *Model) thoughtIn(phase int, thinking string) {
	if t := m.planning; t != nil {
		t.End(m.run.Now)
	}
	label := string(prompt.Phases[min(max(phase, 1), len(prompt.Phases))-1])
	if thinking == "" || m.planning != nil && m.planning.In(label) {
		return
	}
	m.thinks(phase, thinking, "")
	m.planning.Live = false // nobody measured it
}

// FoldThinking folds or unfolds what a model thought aloud.
func (m *Model) foldThinking() { m.chat.FoldNewest(chat.FoldThinking) }
