package tui

import (
	"context"
	"sync"

	tea "charm.land/bubbletea/v2"

	"replan/agent/session"
	"replan/tui/keymap"
)

// outbox sends commands to the session in order, outside the drawing goroutine,
// so that a slow session never blocks the screen.
type outbox struct {
	session Session
	sending sync.Mutex
	mu      sync.Mutex
	queue   []session.Command
}

// send queues a command and returns a tea.Cmd that sends it.
func (o *outbox) send(c session.Command) tea.Cmd {
	o.mu.Lock()
	o.queue = append(o.queue, c)
	o.mu.Unlock()
	return func() tea.Msg {
		o.flush()
		return nil
	}
}

// sendAll queues commands and returns a tea.Cmd for each that sends it.
func (o *outbox) sendAll(commands []session.Command) []tea.Cmd {
	var cmds []tea.Cmd
	for _, c := range commands {
		cmds = append(cmds, o.send(c))
	}
	return cmds
}

// ask returns a tea.Cmd that queries the session after the commands queued
// before, nil for no query.
func (o *outbox) ask(q keymap.Query) tea.Cmd {
	if q == nil {
		return nil
	}
	return func() tea.Msg {
		o.flush()
		return q(context.Background(), o.session)
	}
}

// flush sends the queued commands.
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
