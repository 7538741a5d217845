package tui

import (
	"sync"

	tea "charm.land/bubbletea/v2"

	"replan/agent/runner"
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
		o.sending.Lock()
		defer o.sending.Unlock()
		o.mu.Lock()
		next := o.queue[0]
		o.queue = o.queue[1:]
		o.mu.Unlock()
		o.session.Send(next)
		return nil
	}
}
