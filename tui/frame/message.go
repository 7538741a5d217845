package frame

import "replan/agent/event"

// Message is a message about the last key. The footer shows it until the next
// key.
type Message struct {
	Text    string
	passing bool // the next event clears the message too
}

// Set shows a message until the next key.
func (m *Message) Set(text string) { *m = Message{Text: text} }

// SetUntilEvent is like Set for work that a key has started: the next event
// clears the message too.
func (m *Message) SetUntilEvent(text string) { *m = Message{Text: text, passing: true} }

// Clear removes the message.
func (m *Message) Clear() { *m = Message{} }

// ApplyEvent clears a message that lasts until the next event. Streamed events do
// not count.
func (m *Message) ApplyEvent(e event.Event) {
	if m.passing && !e.Data.Kind().Passing() {
		m.Clear()
	}
}
