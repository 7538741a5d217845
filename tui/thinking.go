package tui

import (
	"replan/planning/prompt"
	"replan/tui/chat"
)

// thinks handles streamed thinking in a planning phase. A non-empty text means
// that the model has begun to write.
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

// thoughtIn handles a model's thinking in a finished phase if it was not
// streamed.
func (m *Model) thoughtIn(phase int, thinking string) {
	if t := m.planning; t != nil {
		t.End(m.run.Now)
	}
	label := string(prompt.Phases[min(max(phase, 1), len(prompt.Phases))-1])
	if thinking == "" || m.planning != nil && m.planning.In(label) {
		return
	}
	m.thinks(phase, thinking, "")
	m.planning.Live = false // its duration is unknown
}

// foldThinking collapses or expands the newest thinking of a model.
func (m *Model) foldThinking() { m.chat.FoldNewest(chat.FoldThinking) }
