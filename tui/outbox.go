package tui

import (
	"context"
	"sync"

	tea "charm.land/bubbletea/v2"

	"replan/agent/runner"
	"replan/tui/keymap"
)

// outbox sends commands to the session in the order they were given, off the
// goroutine that draws, so that a session that is slow to listen stops nothing.
type outbox struct {
	session Session
	sending sync.Mutex
	mu      sync.Mutex
	queue   []runner.Command
}

// send queues a command and returns what sends it.
func (o *outbox) send(c runner.Command) tea.Cmd {
	o.mu.Lock()
	o.queue = append(o.queue, c)
	o.mu.Unlock()
	return func() tea.Msg {
		o.flush()
		return nil
	}
}

// ask returns what asks the session a question, after the commands given before.
func (o *outbox) ask(q keymap.Query) tea.Cmd {
	return func() tea.Msg {
		o.flush()
		return q(context.Background(), o.session)
	}
}

// flush sends the commands that are queued.
func (o *outbox) flush() {
	o.sending.Lock()
	defer o.sending.Unlock()
	for {
		o.mu.Lock()
		queued := o.queue
		o.queue = nil
		o.mu.Unlock()
		if len(queued) == 0 {
			return
		}
		for _, c := range queued {
			o.session.Send(c)
		}
	}
}
