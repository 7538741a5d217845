package mcpclient

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"replan/internal/untrusted"
	"replan/mcpclient/config"
	"replan/planning/plan"

	"github.com/mark3labs/mcp-go/client/transport"
)

// launch starts the supervision of an entry. The caller holds the mutex.
func (p *Pool) launch(e *entry) {
	e.begun, e.watched = time.Now(), true
	e.life, e.end = context.WithCancel(p.life)
	e.ended = make(chan struct{})
	p.work.Go(func() {
		defer close(e.ended)
		defer e.end()
		e.awaitPredecessor(e.life)
		p.supervise(e)
	})
}

// supervise connects to a server and keeps it running until it is lost for
// good or the pool ends. It restarts the server on request.
func (p *Pool) supervise(e *entry) {
	for {
		again := p.serve(e)
		p.mu.Lock()
		if !again {
			select {
			case <-e.again: // requested just as the server ended
				again = e.life.Err() == nil
			default:
			}
		}
		if e.watched = again; !again {
			p.mu.Unlock()
			return
		}
		e.restarts()
		p.broadcast()
		p.mu.Unlock()
		p.notify()
	}
}

// restarts marks an entry as restarting. The caller holds the mutex.
func (e *entry) restarts() {
	e.state, e.problem, e.tools, e.conn, e.startup, e.begun = plan.ServerStarting, "", nil, nil, 0, time.Now()
}

// serve runs a server once. It reports whether a restart was requested.
func (p *Pool) serve(e *entry) (again bool) {
	conn, err := p.dial(e)
	if err != nil {
		p.fail(e, nil, err)
		return false
	}
	for {
		err := p.list(e, conn)
		if errors.Is(err, transport.ErrSessionTerminated) {
			// The server was restarted and does not know this session.
			conn.close()
			if conn, err = p.dial(e); err != nil {
				p.fail(e, nil, err)
				return false
			}
			err = p.list(e, conn)
		}
		switch {
		case err == nil || e.life.Err() != nil:
		case conn.process != nil:
			conn.close()
			p.fail(e, nil, err)
			return false
		default:
			p.fail(e, conn, err)
		}
		select {
		case <-e.life.Done():
			conn.close()
			p.set(func() { e.state, e.problem, e.conn = plan.ServerStopped, "", nil })
			return false
		case <-conn.lost():
			reason := conn.process.reason()
			conn.close()
			p.fail(e, nil, errors.New(reason))
			return false
		case <-e.again:
			conn.close()
			return true
		case <-conn.relist:
		}
	}
}

// Restart stops a server if it is running and starts it again, without
// waiting. Its calls in progress fail. Restart returns an error for a server
// that waits for permission, is disabled or is already starting, and leaves it
// unchanged.
func (p *Pool) Restart(name string) error {
	p.mu.Lock()
	defer p.notify()
	defer p.mu.Unlock()
	at := slices.IndexFunc(p.entries, func(e *entry) bool { return e.server.Name == name })
	switch {
	case p.closed:
		return errors.New("the tools are closed already")
	case at < 0:
		return fmt.Errorf("there is no MCP server %q", name)
	}
	e := p.entries[at]
	switch {
	case e.state == plan.ServerWaiting:
		return fmt.Errorf("%s waits for your approval: answer the question about this project's servers", name)
	case e.state == plan.ServerStarting:
		return fmt.Errorf("%s is starting already", name)
	case e.server.Disabled:
		return fmt.Errorf("%s is disabled in its configuration", name)
	case e.leftOut || e.declined:
		return fmt.Errorf("%s was left out: approve it when replan starts and asks about it", name)
	case e.server.Problem != "", e.server.SSE, e.server.Command == "" && e.server.URL == "" && e.builtin == nil, config.CheckName(e.server.Name) != nil && e.builtin == nil:
		return fmt.Errorf("%s cannot be started with its configuration: %s", name, e.problem)
	}
	e.restarts()
	p.broadcast()
	if e.watched {
		select {
		case e.again <- struct{}{}:
		default: // already requested
		}
		return nil
	}
	p.launch(e)
	return nil
}

// status returns the status of one server. The caller holds the mutex.
func (e *entry) status() plan.ServerStatus {
	s := plan.ServerStatus{
		Name: e.server.Name, State: e.state, Tools: len(e.tools), Error: untrusted.Text(e.report()),
		Source: e.server.Source.String(), StartMS: e.startup.Milliseconds(), LastError: untrusted.Text(e.failed),
	}
	if e.startup > 0 {
		s.StartMS = max(s.StartMS, 1)
	}
	if e.conn != nil && e.builtin == nil {
		s.Instructions = untrusted.Text(e.conn.instructions)
	}
	how := e.server.AsWritten()
	switch {
	case e.builtin != nil:
		s.Source, s.Transport = "built-in", "built-in"
	case e.server.SSE:
		s.Transport, s.URL = "sse", how.URL
	case how.URL != "":
		s.Transport, s.URL = "http", how.URL
	case len(how.Command) == 0: // its address is unknown
	default:
		s.Transport, s.Command = "stdio", how.Command
	}
	return s
}
