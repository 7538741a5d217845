package input

import (
	"fmt"
	"strings"

	"replan/agent/session"
	"replan/internal/untrusted"
	"replan/tui/draw"
	"replan/tui/keymap"
)

// SetQueue stores the queue of the session. It reports whether the session has stopped to
// prepare an entry.
func (p *Pane) SetQueue(q session.Queue) (prepared bool) {
	prepared = p.queue.Doing != "" && q.Doing == ""
	p.queue = q
	return prepared
}

// queueLines returns how many lines list the queue beside a text field of at
// least one line: one per entry, if there is room.
func (p *Pane) queueLines(height int) int {
	return max(min(len(p.queue.Waiting), p.mostQueued, height-1), 0)
}

// drawQueue draws the given number of queued entries, each with its number. The
// newest is always among them, since a key takes it back.
func (p *Pane) drawQueue(width, lines int) []string {
	l, n := p.styles, len(p.queue.Waiting)
	var out []string
	for i := range lines {
		at, more := i, 0
		if i == lines-1 {
			at, more = n-1, n-lines
		}
		text := fmt.Sprintf("%d queued: %s", at+1, untrusted.FirstLine(p.queue.Waiting[at]))
		note := ""
		if more > 0 {
			note = fmt.Sprintf(" (%d more before it)", more)
		}
		out = append(out, l.Faint.Render(l.Glyphs.Pending)+" "+l.Muted.Render(l.Cut(text, max(width-2-draw.VisibleWidth(note), 1)))+l.Faint.Render(note))
	}
	return out
}

// newestQueued returns the entry queued last, nil if the queue is empty.
func (p *Pane) newestQueued() *session.QueuedJob {
	if n := len(p.queue.Jobs); n > 0 && p.TakesText() {
		return &p.queue.Jobs[n-1]
	}
	return nil
}

// mayTakeBack reports whether the newest entry can return to the input.
func (p *Pane) mayTakeBack() bool {
	j := p.newestQueued()
	return j != nil && j.Text != "" && p.Empty()
}

// nothingQueued returns why nothing can be removed from the queue.
func (p *Pane) nothingQueued() string {
	if p.newestQueued() == nil {
		return "Nothing is queued."
	}
	return ""
}

// dropQueued removes the newest entry from the queue.
func (p *Pane) dropQueued() keymap.Request {
	return keymap.Request{
		Send:             []session.Command{session.Unqueue{ID: p.newestQueued().ID}},
		FooterUntilEvent: "Removed from the queue: " + untrusted.FirstLine(p.queue.Waiting[len(p.queue.Waiting)-1]),
	}
}

// awaitsServers reports whether the session waits for servers to start.
func (p *Pane) awaitsServers() bool { return len(p.queue.Servers) > 0 }

// Preparing describes what the session prepares. A request that the user typed
// as a command has a name of its own.
func (p *Pane) Preparing(command bool) string {
	if p.Can.ByWorkers {
		return "waiting for a worker to begin"
	}
	if name := p.queue.Doing; name != "" && command {
		return untrusted.FirstLine(name)
	}
	if servers := p.queue.Servers; len(servers) > 0 {
		return "waiting for " + untrusted.Line(strings.Join(servers, ", ")) + " to start, " + p.keys.Name("servers.skip") + " starts without them"
	}
	return "getting ready"
}

// PutBack puts a text into the input that was rejected or removed from the
// queue. If the input is no longer empty, the text goes to the history.
func (p *Pane) PutBack(text string) {
	switch {
	case text == "":
	case p.Empty():
		p.set(text)
	default:
		p.Remember(text)
	}
}
