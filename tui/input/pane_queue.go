package input

import (
	"strings"

	"replan/agent/session"
	"replan/internal/untrusted"
	"replan/tui/keymap"
)

// SetQueue stores the queue of the session. It reports whether the session has stopped to
// prepare an entry.
func (p *Pane) SetQueue(q session.Queue) (prepared bool) { return p.jobs.set(q) }

// newestQueued returns the entry queued last, nil if there is none to take back.
func (p *Pane) newestQueued() *session.QueuedJob {
	if !p.TakesText() {
		return nil
	}
	return p.jobs.newest()
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
func (p *Pane) dropQueued() keymap.Requests {
	return keymap.Requests{
		keymap.FooterUntilEvent("Removed from the queue: " + p.jobs.newestWords()),
		session.Unqueue{ID: p.newestQueued().ID},
	}
}

// awaitsServers reports whether the session waits for servers to start.
func (p *Pane) awaitsServers() bool { return len(p.jobs.servers()) > 0 }

// Preparing describes what the session prepares. A request that the user typed
// as a command has a name of its own.
func (p *Pane) Preparing(command bool) string {
	if p.Can.Awaited != "" {
		return p.Can.Awaited
	}
	if name := p.jobs.doing(); name != "" && command {
		return untrusted.FirstLine(name)
	}
	if servers := p.jobs.servers(); len(servers) > 0 {
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
