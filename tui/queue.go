package tui

import (
	"slices"
	"strings"

	"replan/agent"
)

// queued is a line in the chat on what waits for the run that goes on. It goes
// when that is taken, since the chat tells of it then.
type queued struct {
	name string
	line *block
}

// tellNote writes a note of the session into the chat.
func (m *Model) tellNote(d agent.Note) {
	if m.compacting() {
		m.compacted() // to nothing, as the note says
	}
	line := m.chat.note(d.Level, d.Text)
	switch what, name, _ := strings.Cut(d.Text, ": "); {
	case what == "no longer queued":
		m.unqueue(len(m.queue))
	case what == "nothing was chosen", name == "nothing was chosen":
		m.chosen = nil
	case what == "queued", strings.HasPrefix(what, "queued, "):
		line.gap = len(m.queue) == 0
		m.queue = append(m.queue, queued{name, line})
	}
	m.chat.add(line)
}

// took says that something has begun, as a note on the queue would name it. What
// was queued before it has been taken, too.
func (m *Model) took(name string) {
	if i := slices.IndexFunc(m.queue, func(q queued) bool { return q.name == name }); i >= 0 {
		m.unqueue(i + 1)
	}
}

// tookRun is took for a run that nobody typed the goal of in the chat.
func (m *Model) tookRun(d agent.RunStarted) {
	switch {
	case d.Plan != nil:
		m.took("run the plan " + d.Plan.Title)
	case d.PlanOnly:
		m.took(d.Goal)
	}
}

// compactions are what the session calls the two commands about its conversation.
var compactions = []string{"sum up the conversation", "put the conversation back as it was"}

// compacting reports whether one of them may be under way.
func (m *Model) compacting() bool {
	return m.going() == "" && (strings.HasPrefix(m.sent, "/compact") || len(m.queue) > 0 && slices.Contains(compactions, m.queue[0].name))
}

// compacted says that one of them has come to something.
func (m *Model) compacted() {
	m.answered()
	for _, name := range compactions {
		m.took(name)
	}
}

// unqueue takes the first lines away.
func (m *Model) unqueue(n int) {
	for _, q := range m.queue[:n] {
		q.line.draw = func(int) []string { return nil }
		q.line.stale = true
	}
	m.queue = slices.Delete(m.queue, 0, n)
	m.chat.drawn = false
}
