package tui

import (
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"

	"replan/agent/runner"
	"replan/agent/session"
	"replan/internal/untrusted"
	"replan/tui/draw"
)

// queued stores what the session prepares and what waits. When the session
// stops preparing, its request is finished.
func (m *Model) queued(d session.Queue) {
	if m.queue.Doing != "" && d.Doing == "" {
		m.answered()
	}
	m.queue = d
	m.chat.Touch()
}

// queueLines returns how many lines above the input list the queue: one per
// entry, at most three, or one on a low screen.
func (m *Model) queueLines() int {
	most := 3
	if m.layout.height < 24 {
		most = 1
	}
	return min(len(m.queue.Waiting), most)
}

// queueShown returns how many of those lines fit beside the input.
func (m *Model) queueShown() int { return max(min(m.queueLines(), m.layout.input.H-1), 0) }

// waits returns the given number of lines for queued entries, each with its
// number. The newest is always among them, since a key takes it back.
func (m *Model) waits(width, lines int) []string {
	l, n := m.look, len(m.queue.Waiting)
	var out []string
	for i := range lines {
		at, more := i, 0
		if i == lines-1 {
			at, more = n-1, n-lines
		}
		text := fmt.Sprintf("%d queued: %s", at+1, untrusted.FirstLine(m.queue.Waiting[at]))
		about := ""
		if more > 0 {
			about = fmt.Sprintf(" (%d more before it)", more)
		}
		out = append(out, l.Faint.Render(l.Glyphs.Pending)+" "+l.Muted.Render(l.Cut(text, max(width-2-draw.VisibleWidth(about), 1)))+l.Faint.Render(about))
	}
	return out
}

// newestQueued returns the entry queued last, nil if the queue is empty.
func (m *Model) newestQueued() *session.QueuedJob {
	if n := len(m.queue.Jobs); n > 0 && !m.options.Replay {
		return &m.queue.Jobs[n-1]
	}
	return nil
}

// mayTakeBack reports whether the newest entry can return to the input.
func (m *Model) mayTakeBack() bool {
	j := m.newestQueued()
	return j != nil && j.Text != "" && m.input.Empty()
}

// takeBack returns the newest entry to the input.
func (m *Model) takeBack() tea.Cmd {
	return m.outbox.send(runner.Unqueue{ID: m.newestQueued().ID, Back: true})
}

// nothingQueued returns why nothing can be removed from the queue.
func (m *Model) nothingQueued() string {
	if m.newestQueued() == nil {
		return "Nothing is queued."
	}
	return ""
}

// dropQueued removes the newest entry from the queue.
func (m *Model) dropQueued() tea.Cmd {
	m.sayUntilHeard("Taken out of the queue: " + untrusted.FirstLine(m.queue.Waiting[len(m.queue.Waiting)-1]))
	return m.outbox.send(runner.Unqueue{ID: m.newestQueued().ID})
}

// getsReady describes what the session prepares.
func (m *Model) getsReady() string {
	if name := m.queue.Doing; name != "" && m.slashed() {
		return untrusted.FirstLine(name)
	}
	if servers := m.queue.Servers; len(servers) > 0 {
		return "waiting for " + untrusted.Line(strings.Join(servers, ", ")) + " to start"
	}
	return "getting ready"
}
