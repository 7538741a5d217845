package tui

import (
	"strings"

	"replan/tui/chat"
)

// writes adds streamed text and thinking of a model to the open turn.
func (m *Model) writes(text, thinking string) {
	t := m.openTurn()
	if thinking != "" {
		if t.Thought == nil {
			t.Thought = &chat.Thought{Began: m.run.Now, Live: true}
			m.chat.Add(m.chat.Thinking(t.Thought))
		}
		t.Thought.Parts = chat.AddThought(t.Thought.Parts, "", thinking)
	}
	if text != "" {
		if t.Thought != nil && t.Thought.Live {
			t.Thought.End(m.run.Now)
		}
		t.Written.WriteString(text)
		t.Text = t.Written.String()
		m.chat.Flow(t)
	}
	m.chat.Touch()
}

// closeTurn ends a turn with its complete text and thinking.
func (m *Model) closeTurn(text, thinking string) {
	if text == "" && thinking == "" && (m.turn == nil || m.turn.Done) {
		return
	}
	t := m.openTurn()
	if thinking != "" && t.Thought == nil && len(t.Blocks) == 0 {
		t.Thought = &chat.Thought{Parts: chat.AddThought(nil, "", thinking)}
		m.chat.Add(m.chat.Thinking(t.Thought))
	}
	if t.Thought != nil {
		t.Thought.End(m.run.Now)
	}
	if text != "" && text != t.Text {
		if !strings.HasPrefix(text, t.Text) {
			m.chat.Unsay(t)
		}
		t.Text = text
	}
	t.Done = true
	m.chat.Flow(t)
	m.chat.Touch()
}
